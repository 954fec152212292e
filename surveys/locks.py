"""Makes sure that a wave closes only after reports in progress have been written."""

from __future__ import annotations

from django.db import connection

# The first of PostgreSQL's two advisory lock numbers. The second one is the wave's id.
WAVE_LOCK = 7


def wait_for_writers(*, wave_id: int) -> None:
    """Wait until no writer is active in a wave, and block new ones until we commit.

    Writers share the same lock. Row locks are not enough. PostgreSQL lets a new transaction share a
    row while another one waits for an exclusive lock, so closing might wait forever under a
    constant stream of reports. Requests for advisory locks wait in a queue. SQLite allows only one
    writer at a time.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [WAVE_LOCK, wave_id])
