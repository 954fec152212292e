"""Naive Celery: the report is in the message, and a task inserts it.

Workers have the product's settings: they acknowledge messages late and take one message at a time.
As with serial numbers, a row's key does not come from the respondent.
"""

from __future__ import annotations

import secrets

from celery import shared_task

from aggregator.models import RawReport
from surveys.models import Wave


@shared_task  # type: ignore[untyped-decorator]  # Celery ships no types
def keep_report(manifest_hash: str, symbols: str) -> None:
    RawReport.objects.create(
        id=secrets.token_bytes(32),
        wave=Wave.objects.get(manifest_hash=bytes.fromhex(manifest_hash)),
        symbols=bytes.fromhex(symbols),
    )
