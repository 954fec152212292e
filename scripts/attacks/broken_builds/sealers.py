"""A sealer that commits its two halves separately.

If killed between the halves, it loses a batch or seals its reports twice, depending on which half
comes first. Everything else is Murmur's own code.
"""

from __future__ import annotations

import hashlib

from django.db import connection
from django.db.models import Max

from aggregator.batches.packing import count_codes, pack_reports
from aggregator.batches.sealing import choose_batch_size
from aggregator.models import Batch, RawReport
from surveys.models import Wave


def seal_delete_first(*, wave_id: int) -> Batch | None:
    rows = _choose(wave_id)
    if not rows:
        return None
    _delete(rows)
    return _insert(wave_id, rows)


def seal_insert_first(*, wave_id: int) -> Batch | None:
    rows = _choose(wave_id)
    if not rows:
        return None
    batch = _insert(wave_id, rows)
    _delete(rows)
    return batch


def _choose(wave_id: int) -> list[RawReport]:
    wave = Wave.objects.get(pk=wave_id)
    waiting = list(RawReport.objects.filter(wave=wave).order_by("pk"))
    size = choose_batch_size(
        waiting=len(waiting), minimum=wave.minimum_batch, closed=not wave.is_open
    )
    return waiting[:size]


def _delete(rows: list[RawReport]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM aggregator_raw_report WHERE id IN ({', '.join(['%s'] * len(rows))})",
            [bytes(row.pk) for row in rows],
        )


def _insert(wave_id: int, rows: list[RawReport]) -> Batch:
    wave = Wave.objects.get(pk=wave_id)
    ks = [question.k for question in wave.description.questions]
    packed = pack_reports([bytes(row.symbols) for row in rows], ks=ks)
    newest = wave.batches.aggregate(newest=Max("number"))["newest"] or 0
    return Batch.objects.create(
        wave=wave,
        number=newest + 1,
        size=len(rows),
        packed=packed,
        content_hash=hashlib.sha256(packed).digest(),
        counts=count_codes(packed, size=len(rows), ks=ks),
    )
