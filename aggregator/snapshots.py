"""Snapshots: counts and estimates that are a pure function of a wave's batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from aggregator.models import Batch, RawReport, Snapshot
from privacy.estimation import estimate_shares
from privacy.intervals import Interval, confidence_sequence, likelihood_ratio_interval
from privacy.mechanisms import RandomizedResponse
from surveys.manifest import Manifest, parse_manifest
from surveys.models import Wave

# Raised whenever the same batches would give other figures than before.
METHOD_VERSION = 1
LEVEL = 0.95
KEPT_PER_WAVE = 200
_FIXED_ENDS = (Wave.Ending.DATE, Wave.Ending.CAP)


def ended_as_frozen(wave: Wave) -> bool:
    """Whether the wave ended by the date or cap that its manifest fixed.

    Only then may the ordinary interval be shown: a wave that somebody closed after looking
    keeps the interval that holds at every look.
    """
    return not wave.is_open and wave.ending in _FIXED_ENDS


def update_snapshot(*, wave_id: int) -> Snapshot | None:
    """Bring the newest snapshot up to the newest batch; None if there is no batch.

    Computed outside of any transaction. If a batch is sealed meanwhile, the result is
    merely a little old, and the sweep sees that.
    """
    wave = Wave.objects.get(pk=wave_id)
    # Asked before the batches are read: nothing raw now means that all batches are there.
    final = not wave.is_open and not RawReport.objects.filter(wave=wave).exists()
    counts, through_batch = add_up_batches(wave=wave)
    if through_batch == 0:
        return None
    snapshot, _ = Snapshot.objects.update_or_create(
        wave=wave,
        through_batch=through_batch,
        defaults={
            "method_version": METHOD_VERSION,
            "final": final,
            "total": sum(counts[0]),
            "counts": counts,
            "estimates": compute_estimates(
                manifest=parse_manifest(bytes(wave.manifest)),
                counts=counts,
                fixed_end=final and ended_as_frozen(wave),
            ),
        },
    )
    _drop_old_snapshots(wave=wave)
    return snapshot


def add_up_batches(*, wave: Wave) -> tuple[list[list[int]], int]:
    """Return the counts over all batches and the number of the newest one."""
    newest = wave.snapshots.order_by("-through_batch").first()
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


def compute_estimates(
    *, manifest: Manifest, counts: Sequence[Sequence[int]], fixed_end: bool
) -> list[dict[str, Any]]:
    """Estimate every share of every question, unclipped, with the interval that is allowed."""
    return [
        {"name": question.name, **_estimate_question(question.mechanism, cells, fixed_end)}
        for question, cells in zip(manifest.questions, counts, strict=True)
    ]


def _estimate_question(
    mechanism: RandomizedResponse, counts: Sequence[int], fixed_end: bool
) -> dict[str, Any]:
    estimates = estimate_shares(counts=counts, mechanism=mechanism)
    find_interval = likelihood_ratio_interval if fixed_end else confidence_sequence
    total = sum(counts)
    intervals: list[Interval] = [
        find_interval(successes=count, total=total, mechanism=mechanism, level=LEVEL)
        for count in counts
    ]
    return {
        "total": total,
        "codes": [
            {
                "code": code,
                "count": count,
                "raw_share": count / total,
                "estimate": float(estimates.shares[code]),
                "standard_error": float(estimates.standard_errors[code]),
                "effective_total": float(estimates.effective_totals[code]),
                "low": interval.low,
                "high": interval.high,
            }
            for code, (count, interval) in enumerate(zip(counts, intervals, strict=True))
        ],
        "interval": {"method": intervals[0].method, "level": LEVEL},
        "contradiction": any(interval.contradiction for interval in intervals),
    }


def _drop_old_snapshots(*, wave: Wave) -> None:
    kept = wave.snapshots.order_by("-through_batch").values("pk")[:KEPT_PER_WAVE]
    wave.snapshots.exclude(pk__in=list(kept.values_list("pk", flat=True))).delete()


def find_waves_to_estimate() -> QuerySet[Wave]:
    """Waves with a batch past their newest snapshot, or whose last snapshot is not yet final."""
    newest = Snapshot.objects.filter(wave=OuterRef("pk")).order_by("-through_batch")
    raw = RawReport.objects.filter(wave=OuterRef("pk"))
    return (
        Wave.objects.annotate(
            newest_batch=Max("batches__number"),
            seen_batch=Coalesce(Subquery(newest.values("through_batch")[:1]), 0),
            seen_final=Subquery(newest.values("final")[:1]),
        )
        .filter(newest_batch__isnull=False)
        .filter(
            Q(newest_batch__gt=F("seen_batch"))
            | (Q(state=Wave.State.CLOSED, seen_final=False) & ~Exists(raw))
        )
        .order_by("pk")
    )


def newest_snapshot(wave: Wave) -> Snapshot | None:
    return wave.snapshots.order_by("-through_batch").first()
