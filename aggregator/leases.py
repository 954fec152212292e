"""When work that a worker claims for some time is due: a rule of all rows that are queues.

Sweeps find due rows by partial indexes, which hold no settled rows. SQLite uses such an index only
for the state as it is written in it, so these queries contain the state instead of a parameter.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, Value

UNFINISHED = ("waiting", "running")


class Literal(Value):
    """A word of our own that is part of the statement."""

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[str | int, ...]]:
        assert isinstance(self.value, str)
        assert self.value.isalpha()
        return f"'{self.value}'", ()


def is_due(*, now: datetime, lease: timedelta) -> Q:
    """Match rows that are waiting, and those whose worker let its lease expire."""
    is_free = (
        Q(leased_until__isnull=True)
        | Q(leased_until__lt=now)
        # No lease is this long: the clock was set back since it began.
        | Q(leased_until__gt=now + 2 * lease)
    )
    return is_free & Q(state__in=[Literal(state) for state in UNFINISHED])
