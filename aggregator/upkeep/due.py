"""Due work: what the rows say is to be done, and since when.

Reports and batches bear no time, so a sweep remembers when it first saw each piece of work.
Nothing is claimed here: whoever does the work makes sure that it happens once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max, Min
from django.db.models.functions import Coalesce

from aggregator.batches.sealing import find_waves_to_seal
from aggregator.comparisons.jobs import find_comparisons_to_run
from aggregator.models import DueWork, Upkeep
from aggregator.results.chart_updates import find_waves_to_render
from aggregator.results.snapshots import find_waves_to_estimate


class Kind(StrEnum):
    SEAL = "seal"
    ESTIMATE = "estimate"
    DRAW = "draw"
    COMPARE = "compare"


@dataclass(frozen=True, kw_only=True)
class Due:
    kind: Kind
    subject: int  # a wave's or a comparison's primary key
    # How far it has come. A wave under constant load is due at every look; as long as this
    # number moves it is not late.
    progress: int


def find_due_work() -> list[Due]:
    """Ask the rows of reports, batches, snapshots, charts and comparisons."""
    found = {
        Kind.SEAL: find_waves_to_seal()
        .annotate(progress=Coalesce(Max("batches__number"), 0))
        .values_list("pk", "progress"),
        Kind.ESTIMATE: find_waves_to_estimate()
        .annotate(progress=F("seen_batch"))
        .values_list("pk", "progress"),
        Kind.DRAW: find_waves_to_render()
        .annotate(progress=Coalesce("chart__through_batch", 0))
        .values_list("pk", "progress"),
        Kind.COMPARE: find_comparisons_to_run().values_list("pk", "attempts"),
    }
    return [
        Due(kind=kind, subject=subject, progress=progress)
        for kind, rows in found.items()
        for subject, progress in rows
    ]


def remember_due_work(due: Sequence[Due], *, now: datetime) -> None:
    """Note what is newly due, what has moved on and what is done, and that a sweep looked.

    Two sweeps at once may see different things. Whichever writes last is right or a little
    old, and the next one sets that right.
    """
    known = {(row.kind, row.subject): row for row in DueWork.objects.all()}
    new = [item for item in due if (item.kind, item.subject) not in known]
    moved = [
        item
        for item in due
        if (row := known.get((item.kind, item.subject))) and row.progress != item.progress
    ]
    still_due = {(item.kind, item.subject) for item in due}
    done = [row for key, row in known.items() if key not in still_due]
    with transaction.atomic():
        # First, because its row lock lets sweeps write one after the other: they cannot wait
        # for each other in a circle.
        _note_sweep(now)
        DueWork.objects.bulk_create(
            (
                DueWork(kind=item.kind, subject=item.subject, progress=item.progress, since=now)
                for item in new
            ),
            ignore_conflicts=True,
        )
        for item in moved:
            DueWork.objects.filter(kind=item.kind, subject=item.subject).exclude(
                progress=item.progress
            ).update(progress=item.progress, since=now)
        for row in done:
            # Not if another sweep has seen it move since.
            DueWork.objects.filter(pk=row.pk, progress=row.progress).delete()


def _note_sweep(now: datetime) -> None:
    Upkeep.objects.bulk_create(
        [Upkeep(job=Upkeep.Job.SWEEP, ended_at=now)],
        update_conflicts=True,
        unique_fields=["job"],
        update_fields=["ended_at"],
    )


def was_just_swept(*, now: datetime) -> bool:
    """Whether a sweep ended so lately that another one would find the same.

    Sweeps that pile up, or come from two beats, must not keep other work waiting.
    """
    ended = Upkeep.objects.filter(job=Upkeep.Job.SWEEP).values_list("ended_at", flat=True).first()
    pause = timedelta(seconds=settings.SWEEP_SECONDS / 2)
    # Less than nothing: the clock was set back.
    return ended is not None and timedelta(0) <= now - ended < pause


def find_oldest_due() -> datetime | None:
    """Since when the oldest work that is still due has been waiting."""
    oldest: datetime | None = DueWork.objects.aggregate(oldest=Min("since"))["oldest"]
    return oldest
