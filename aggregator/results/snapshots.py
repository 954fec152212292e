"""Snapshots: counts and estimates that are a pure function of a wave's batches."""

from __future__ import annotations

import logging

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from aggregator.models import Batch, Chart, RawReport, Snapshot
from aggregator.results.estimating import compute_estimates
from surveys.models import Wave

logger = logging.getLogger(__name__)
# Increased whenever the same batches would give different estimates, or a different format.
METHOD_VERSION = 6
KEPT_PER_WAVE = 200
_FIXED_ENDS = (Wave.Ending.DATE, Wave.Ending.CAP)


def ended_as_frozen(wave: Wave) -> bool:
    """Whether the wave ended by the date or cap that its manifest fixed.

    Only then may the ordinary interval be shown: a wave that was closed after someone looked keeps
    the interval that holds at every look.
    """
    return not wave.is_open and wave.ending in _FIXED_ENDS


def update_snapshot(*, wave_id: int) -> Snapshot | None:
    """Bring the newest snapshot up to the newest batch; return None if there is no batch.

    It is computed outside any transaction. If a batch is sealed in the meantime, the result is
    slightly out of date, and the next sweep notices.
    """
    wave = Wave.objects.get(pk=wave_id)
    # Checked before the batches are read: if no raw reports are left now, all batches exist.
    final = not wave.is_open and not RawReport.objects.filter(wave=wave).exists()
    counts, through_batch = add_up_batches(wave=wave)
    if through_batch == 0:
        return None
    same = wave.snapshots.filter(through_batch=through_batch)
    if same.exclude(method_version=METHOD_VERSION).exists():
        # The chart shows estimates that the current method may not reproduce.
        Chart.objects.filter(wave=wave).delete()
    snapshot, _ = Snapshot.objects.update_or_create(
        wave=wave,
        through_batch=through_batch,
        defaults={
            "method_version": METHOD_VERSION,
            "final": final,
            "total": sum(counts[0]),
            "counts": counts,
            "estimates": [
                result.to_json()
                for result in compute_estimates(
                    manifest=wave.description,
                    counts=counts,
                    fixed_end=final and ended_as_frozen(wave),
                )
            ],
        },
    )
    _drop_old_snapshots(wave=wave)
    return snapshot


def add_up_batches(*, wave: Wave) -> tuple[list[list[int]], int]:
    """Return the counts over all batches and the number of the newest one."""
    newest = wave.snapshots.order_by("-through_batch").first()  # counts do not depend on the method
    counts, through_batch = (newest.counts, newest.through_batch) if newest else ([], 0)
    return add_counts(
        counts, through_batch, wave.batches.filter(number__gt=through_batch).order_by("number")
    )


def add_counts(
    counts: list[list[int]], through_batch: int, batches: QuerySet[Batch]
) -> tuple[list[list[int]], int]:
    for number, more in batches.values_list("number", "counts").iterator():
        through_batch = number
        counts = (
            [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(counts, more, strict=True)]
            if counts
            else more
        )
    return counts, through_batch


def _drop_old_snapshots(*, wave: Wave) -> None:
    kept = wave.snapshots.order_by("-through_batch").values("pk")[:KEPT_PER_WAVE]
    wave.snapshots.exclude(pk__in=list(kept.values_list("pk", flat=True))).delete()


def find_waves_to_estimate() -> QuerySet[Wave]:
    """Find waves whose newest snapshot lacks batches, uses an older method or is not final."""
    newest = Snapshot.objects.filter(wave=OuterRef("pk")).order_by("-through_batch")
    batches = Batch.objects.filter(wave=OuterRef("pk")).order_by("-number")
    waves = Wave.objects.annotate(
        newest_batch=Subquery(batches.values("number")[:1]),
        seen_batch=Coalesce(Subquery(newest.values("through_batch")[:1]), 0),
        seen_final=Subquery(newest.values("final")[:1]),
        seen_version=Subquery(newest.values("method_version")[:1]),
    ).filter(newest_batch__isnull=False)
    # One query for each wave, so that the raw reports of other waves are not read.
    complete = [
        pk
        for pk in waves.filter(state=Wave.State.CLOSED, seen_final=False).values_list(
            "pk", flat=True
        )
        if not RawReport.objects.filter(wave=pk).exists()
    ]
    return waves.filter(
        Q(newest_batch__gt=F("seen_batch"))
        | Q(seen_version__lt=METHOD_VERSION)
        | Q(pk__in=complete)
    ).order_by("pk")


class UnreadableSnapshotError(Exception):
    """The stored snapshot names estimands unknown to this code, as after half an upgrade."""


def recompute_later(snapshot: Snapshot) -> None:
    """Treat a snapshot as one of an older method, so that the next sweep finds it due."""
    Snapshot.objects.filter(pk=snapshot.pk).update(method_version=0)
    logger.error(
        "The snapshot through batch %s of wave %s could not be read and will be computed again. "
        "If this happens again, run manage.py migrate and restart the workers with this release.",
        snapshot.through_batch,
        snapshot.wave_id,
    )


def newest_snapshot(wave: Wave) -> Snapshot | None:
    """Return the newest snapshot; None if an older method made it and it must be recomputed."""
    newest = wave.snapshots.order_by("-through_batch").first()
    return newest if newest and newest.method_version == METHOD_VERSION else None
