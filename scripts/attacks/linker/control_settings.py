"""The product's settings with three faults that the linker must find.

This build logs addresses, seals rows in their order of arrival (a serial number in the raw table)
and purges nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np
from django.apps import AppConfig

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "scripts.attacks.linker.control_settings.Leaky"]
# The table of raw reports as a careless migration would have made it.
SERIAL_POSTGRESQL = ("ALTER TABLE aggregator_raw_report ADD COLUMN serial bigserial",)
SERIAL_SQLITE = (
    "DROP TABLE aggregator_raw_report",
    """
    CREATE TABLE aggregator_raw_report (serial INTEGER PRIMARY KEY AUTOINCREMENT,
        id BLOB NOT NULL UNIQUE, wave_id BIGINT NOT NULL, symbols BLOB NOT NULL)
    """,
)


class Leaky(AppConfig):
    name = "scripts.attacks.linker"
    label = "control_leaky"

    def ready(self) -> None:
        from aggregator.intake.asgi import IntakeApplication

        # Each patch fails if Murmur's own function is renamed.
        mock.patch("aggregator.tasks.purge_is_due", return_value=False).start()
        mock.patch("aggregator.batches.sealing._take_raw_reports", _take_as_they_came).start()
        mock.patch("aggregator.batches.sealing.pack_reports", _pack_unsorted).start()
        mock.patch.object(IntakeApplication, "__call__", _log_address(IntakeApplication)).start()


def _take_as_they_came(*, wave_id: int, size: int) -> list[bytes]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT serial, symbols FROM aggregator_raw_report WHERE wave_id = %s "
            "ORDER BY serial LIMIT %s",
            [wave_id, size],
        )
        rows = cursor.fetchall()
        cursor.execute(
            "DELETE FROM aggregator_raw_report WHERE wave_id = %s AND serial <= %s",
            [wave_id, rows[-1][0]],
        )
    return [bytes(symbols) for _, symbols in rows]


def _pack_unsorted(rows: Sequence[bytes], *, ks: Sequence[int]) -> bytes:
    from aggregator.batches.packing import _pack_column

    matrix = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), len(ks))
    return b"".join(_pack_column(column, k=k) for column, k in zip(matrix.T, ks, strict=True))


def _log_address(application: type) -> Any:
    take: Any = application.__call__

    async def log_and_take(self: Any, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        forwarded = headers.get(b"x-forwarded-for", b"").decode("latin-1")
        logging.getLogger("murmur.control").info("a report from %s", forwarded)
        await take(self, scope, receive, send)

    return log_and_take
