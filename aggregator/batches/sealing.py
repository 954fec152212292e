"""Seal raw reports, which become a batch and no longer exist individually.

Everything here may run twice, late, or in two processes at the same time. The lock on the wave's
row and one transaction make each step happen once or not at all.
"""

from __future__ import annotations

import hashlib
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Subquery, Sum

from aggregator.batches.agreements import count_agreeing, list_pairs
from aggregator.batches.columns import Columns
from aggregator.batches.grouped_cells import count_batch, list_grouped
from aggregator.batches.joint_tables import count_tables, list_tables
from aggregator.batches.packing import count_codes, pack_reports
from aggregator.models import Batch, Discard, RawReport
from surveys.manifest.manifest import Manifest
from surveys.models import Wave

MAX_BATCH = 65_536
PARTS_OF_HALVES = 40  # a batch holds at most 1/40 of the people expected, or the minimum
# This is enough memory to choose from a million waiting reports, so that PostgreSQL writes no ids
# into temporary files. PostgreSQL allocates only what it needs.
_CHOOSE_IN_MEMORY = "SET LOCAL work_mem = '256MB'"
# The database draws the nonce, so that no statement, log or list of running queries shows it.
_NONCE = {"postgresql": "uuid_send(gen_random_uuid())", "sqlite": "hex(randomblob(16))"}
_KEY = {
    "postgresql": "sha256(id || (SELECT nonce FROM drawn))",
    # Django provides this function for SQLite; it takes text.
    "sqlite": "sha256(hex(id) || (SELECT nonce FROM drawn))",
}


class SealingError(Exception):
    """The number of waiting reports is not the number that was counted.

    The transaction is rolled back, so that nothing is lost.
    """


def find_largest_batch(wave: Wave) -> int:
    """Return the largest number of reports that a batch of this wave may hold.

    Batches of a wave that will be divided are small, so that two halves can have the same size.
    """
    if not wave.sealed_half:
        return max(MAX_BATCH, wave.minimum_batch)
    expected = wave.description.people_for_looks
    return max(min(expected // PARTS_OF_HALVES, MAX_BATCH), wave.minimum_batch)


def choose_batch_size(*, waiting: int, minimum: int, closed: bool, largest: int = MAX_BATCH) -> int:
    """Return how many waiting reports to seal now, which may be 0.

    While the wave is open, at least `minimum` reports keep waiting, so that closing always has a
    full batch left to seal.
    """
    largest = max(largest, minimum)
    # Reports that are too few for two minimum batches are sealed as one batch, even if they are
    # more than `largest`.
    if closed and minimum <= waiting <= max(largest, 2 * minimum - 1):
        return waiting
    if waiting >= 2 * minimum:
        return min(waiting - minimum, largest)
    return 0


def seal_next_batch(*, wave_id: int) -> Batch | None:
    """Seal a wave's due reports as its next batch; return None if nothing is due."""
    with transaction.atomic(durable=True):
        # The lock is no-key-update: uploads hold key-share locks and need not wait for it. A sealer
        # skips a locked row, because another sealer is at work or the wave is being closed.
        wave = (
            Wave.objects.select_for_update(no_key=True, skip_locked=True).filter(pk=wave_id).first()
        )
        if wave is None:
            return None
        # In a long backlog, count only as many reports as one batch needs, but choose among all.
        largest = find_largest_batch(wave)
        enough = max(MAX_BATCH, wave.minimum_batch) + wave.minimum_batch
        waiting = RawReport.objects.filter(wave=wave).order_by()[:enough].count()
        size = choose_batch_size(
            waiting=waiting,
            minimum=wave.minimum_batch,
            closed=not wave.is_open,
            largest=largest,
        )
        if size:
            return _seal(wave=wave, size=size)
        if _ended_below_minimum(wave, waiting=waiting):
            _discard(wave=wave, waiting=waiting)
    return None


def _ended_below_minimum(wave: Wave, *, waiting: int) -> bool:
    """Return whether a closed wave has too few reports to seal, or none and no record of this."""
    if wave.is_open or waiting >= wave.minimum_batch:
        return False
    return waiting > 0 or (wave.keeps_counts and not _is_counted(wave))


def _is_counted(wave: Wave) -> bool:
    return wave.batches.exists() or Discard.objects.filter(wave=wave).exists()


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
    """Delete exactly `size` raw reports, chosen at random, and return their symbols.

    Browsers draw the ids, so programs can choose them. Each batch has a new nonce, so no id makes a
    report likelier to be taken or left.
    """
    vendor = connection.vendor
    lock = "FOR UPDATE SKIP LOCKED" if vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        if vendor == "postgresql":
            cursor.execute(_CHOOSE_IN_MEMORY)
        # Both subqueries are materialized, because PostgreSQL may run a plain one again for each
        # row. Later runs would skip rows that have since been locked or deleted, and choose other
        # rows.
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
    """Delete and count a closed wave's reports if they do not make a full batch.

    If releases are planned, also record the counts from which they are drawn: the counts of each
    code, of each code in each group (for tables by groups), and of equal codes (for key drivers).
    If reports were lost in a restore, the wave may have batches. Releases are then drawn from them.
    """
    rows = _take_raw_reports(wave_id=wave.pk, size=waiting)
    if RawReport.objects.filter(wave=wave).exists():
        raise SealingError(f"more than {waiting} raw reports were to be discarded")
    kept: dict[str, Any] = {}
    if wave.keeps_counts and not wave.batches.exists():
        kept = _count(wave.description, rows)
    Discard.objects.create(wave=wave, size=waiting, **kept)


def _count(manifest: Manifest, rows: list[bytes]) -> dict[str, Any]:
    """Count codes for planned releases; the key of a table by groups is its request's digest."""
    columns, size = Columns.of(manifest), len(rows)
    packed = pack_reports(columns.write_columns(rows), ks=columns.ks) if rows else b""
    pairs = list_pairs(manifest.planned_releases or ())
    agreeing = count_agreeing(packed, size=size, manifest=manifest, pairs=pairs)
    return {
        "counts": count_codes(packed, size=size, ks=columns.ks),
        "grouped": {
            one.digest: count_batch(packed, size=size, manifest=manifest, request=one)
            for one in list_grouped(manifest)
        },
        "agreeing": agreeing if pairs else None,
    }


def is_over(wave: Wave) -> bool:
    """Return whether the wave is closed and none of its reports wait, so that counts are final."""
    return not wave.is_open and not RawReport.objects.filter(wave=wave).exists()


def find_waves_to_seal() -> QuerySet[Wave]:
    """Find open waves with 2K raw reports, and closed waves with any raw report or without a count.

    The query reads at most 2K rows per wave, so that a sweep takes no longer when more reports
    wait. It looks up which wave the report at a given position in the index belongs to. If it
    looked for any report of a wave, PostgreSQL would expect an early match, and would read all
    reports if the wave has none.
    """
    waiting = RawReport.objects.filter(wave__gte=OuterRef("pk")).order_by("wave").values("wave")
    due = Q(state=Wave.State.CLOSED, pk=Subquery(waiting[:1]))
    own = {"wave": OuterRef("pk")}
    due |= Q(
        ~Exists(Batch.objects.filter(**own)),
        ~Exists(Discard.objects.filter(**own)),
        state=Wave.State.CLOSED,
        planned_releases__isnull=False,
    )
    for minimum in (
        Wave.objects.open().order_by().values_list("minimum_batch", flat=True).distinct()
    ):
        last = Subquery(waiting[2 * minimum - 1 : 2 * minimum])
        due |= Q(state=Wave.State.OPEN, minimum_batch=minimum, pk=last)
    return Wave.objects.filter(due).order_by()


def count_reports(wave: Wave) -> tuple[int, int]:
    """Count the spent ids, and the raw, sealed and discarded reports; both counts must agree.

    One statement makes both counts, so that a report that arrives or is sealed at the same time is
    in both or in neither.
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
