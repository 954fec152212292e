"""Sealing: raw reports become a batch and no longer exist individually.

Everything here may run twice, late or at the same time in another process: the wave's row lock and
one transaction make each step happen once or not at all.
"""

from __future__ import annotations

import hashlib

from django.db import connection, transaction
from django.db.models import Max, OuterRef, Q, QuerySet, Subquery, Sum

from aggregator.batches.columns import Columns
from aggregator.batches.joint_tables import count_tables, list_tables
from aggregator.batches.packing import count_codes, pack_reports
from aggregator.models import Batch, Discard, RawReport
from surveys.models import Wave

MAX_BATCH = 65_536
# Enough to choose from a million waiting reports in memory, so that PostgreSQL writes no ids into
# temporary files. It is allocated only as far as it is needed.
_CHOOSE_IN_MEMORY = "SET LOCAL work_mem = '256MB'"
# The database draws the nonce, so that no statement, log or list of running queries shows it.
_NONCE = {"postgresql": "uuid_send(gen_random_uuid())", "sqlite": "hex(randomblob(16))"}
_KEY = {
    "postgresql": "sha256(id || (SELECT nonce FROM drawn))",
    # Django's own function, which takes text.
    "sqlite": "sha256(hex(id) || (SELECT nonce FROM drawn))",
}


class SealingError(Exception):
    """Fewer rows were taken than counted; the transaction is rolled back, so nothing is lost."""


def choose_batch_size(*, waiting: int, minimum: int, closed: bool) -> int:
    """Return how many waiting reports to seal now; 0 for none.

    While the wave is open, at least `minimum` reports stay behind, so that closing always has a
    full batch left to seal.
    """
    largest = max(MAX_BATCH, minimum)
    # Reports that do not make two full batches are sealed as one batch, however large.
    if closed and minimum <= waiting <= max(largest, 2 * minimum - 1):
        return waiting
    if waiting >= 2 * minimum:
        return min(waiting - minimum, largest)
    return 0


def seal_next_batch(*, wave_id: int) -> Batch | None:
    """Seal a wave's due reports as its next batch; return None if nothing is due."""
    with transaction.atomic(durable=True):
        # No-key-update: uploads hold key-share and need not wait. A sealer that finds the row
        # locked skips it: another sealer is at work, or the wave is being closed.
        wave = (
            Wave.objects.select_for_update(no_key=True, skip_locked=True).filter(pk=wave_id).first()
        )
        if wave is None:
            return None
        # In a long backlog, count no more reports than one batch takes; all can be chosen.
        enough = max(MAX_BATCH, wave.minimum_batch) + wave.minimum_batch
        waiting = RawReport.objects.filter(wave=wave).order_by()[:enough].count()
        size = choose_batch_size(
            waiting=waiting, minimum=wave.minimum_batch, closed=not wave.is_open
        )
        if size:
            return _seal(wave=wave, size=size)
        if not wave.is_open and 0 < waiting < wave.minimum_batch:
            _discard(wave=wave, waiting=waiting)
    return None


def _seal(*, wave: Wave, size: int) -> Batch:
    rows = _take_raw_reports(wave_id=wave.pk, size=size)
    manifest = wave.description
    columns = Columns.of(manifest)
    packed = pack_reports(columns.write_columns(rows), ks=columns.ks)
    newest = wave.batches.aggregate(newest=Max("number"))["newest"] or 0
    return Batch.objects.create(
        wave=wave,
        number=newest + 1,
        size=size,
        packed=packed,
        content_hash=hashlib.sha256(packed).digest(),
        counts=count_codes(packed, size=size, ks=columns.ks),
        tables=count_tables(packed, size=size, ks=columns.ks, tables=list_tables(manifest)),
    )


def _take_raw_reports(*, wave_id: int, size: int) -> list[bytes]:
    """Delete exactly `size` raw reports, chosen by chance, and return their symbols.

    Browsers draw the ids, so programs can choose them. Because each batch has a new nonce, no id
    makes it likelier that a report is taken, or that it keeps waiting.
    """
    vendor = connection.vendor
    lock = "FOR UPDATE SKIP LOCKED" if vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        if vendor == "postgresql":
            cursor.execute(_CHOOSE_IN_MEMORY)
        # Materialized: a plan may run a plain subquery again for each row. It would then skip rows
        # that have been locked or deleted since, and choose others.
        cursor.execute(
            f"""
            WITH drawn (nonce) AS MATERIALIZED (SELECT {_NONCE[vendor]}),
            chosen AS MATERIALIZED (
                SELECT id FROM aggregator_raw_report WHERE wave_id = %s
                ORDER BY {_KEY[vendor]} LIMIT %s {lock})
            DELETE FROM aggregator_raw_report WHERE id IN (SELECT id FROM chosen)
            RETURNING symbols
            """,  # noqa: S608
            [wave_id, size],
        )
        rows = [bytes(symbols) for (symbols,) in cursor.fetchall()]
    if len(rows) != size:
        raise SealingError(f"expected {size} raw reports, took {len(rows)}")
    return rows


def _discard(*, wave: Wave, waiting: int) -> None:
    """Delete a closed wave's reports that do not make a full batch, and record how many."""
    deleted, _ = RawReport.objects.filter(wave=wave).delete()
    if deleted != waiting:
        raise SealingError(f"expected to discard {waiting} raw reports, deleted {deleted}")
    Discard.objects.create(wave=wave, size=waiting)


def find_waves_to_seal() -> QuerySet[Wave]:
    """Find waves with 2K raw reports waiting, and closed waves with any.

    It reads at most 2K rows per wave, so that a sweep takes no longer when more reports wait. It
    asks which wave's report is at a given place in the index order. If it asked for any report of a
    wave, PostgreSQL would expect to find one soon, and read all of them for a wave without.
    """
    waiting = RawReport.objects.filter(wave__gte=OuterRef("pk")).order_by("wave").values("wave")
    due = Q(state=Wave.State.CLOSED, pk=Subquery(waiting[:1]))
    for minimum in (
        Wave.objects.open().order_by().values_list("minimum_batch", flat=True).distinct()
    ):
        last = Subquery(waiting[2 * minimum - 1 : 2 * minimum])
        due |= Q(state=Wave.State.OPEN, minimum_batch=minimum, pk=last)
    return Wave.objects.filter(due).order_by()


def count_reports(wave: Wave) -> tuple[int, int]:
    """Count the spent ids, and the reports that are raw, sealed or discarded; both must agree.

    It takes one statement, so that a report that arrives or is sealed at this moment is seen on
    both sides or on neither.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT (SELECT count(*) FROM aggregator_spent_id WHERE wave_id = %s),
                   (SELECT count(*) FROM aggregator_raw_report WHERE wave_id = %s)
                 + (SELECT coalesce(sum(size), 0) FROM aggregator_batch WHERE wave_id = %s)
                 + (SELECT coalesce(sum(size), 0) FROM aggregator_discard WHERE wave_id = %s)
            """,
            [wave.pk] * 4,
        )
        spent, found = cursor.fetchone()
        return int(spent), int(found)


def count_acknowledged(wave: Wave) -> int:
    """Count the acknowledged reports that still exist or were discarded on purpose."""
    return count_reports(wave)[1]


def count_sealed(wave: Wave) -> int:
    return wave.batches.aggregate(total=Sum("size"))["total"] or 0
