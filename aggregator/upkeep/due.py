"""Find which work is due according to the rows of the database, and since when.

Reports and batches have no timestamps, so a sweep stores when it first saw each piece of work.
Nothing is claimed here, because the task that does the work ensures that it happens once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce

from aggregator.background.rows_files import find_waves_without_rows_file
from aggregator.batches.sealing import find_waves_to_seal
from aggregator.comparisons.jobs import find_comparisons_to_run
from aggregator.comparisons.opening import find_halves_to_open
from aggregator.comparisons.planned import find_waves_to_compare
from aggregator.models import Batch, DueWork, Upkeep
from aggregator.releases.alerts import find_alerts_to_look_at
from aggregator.releases.drawing import find_releases_to_draw
from aggregator.releases.ledger import find_waves_to_release
from aggregator.renderings.jobs import find_renderings_to_run
from aggregator.results.snapshots import find_waves_to_estimate
from aggregator.upkeep.deletion_dates import find_waves_to_delete
from surveys.exchange.jobs import find_imports_to_read


class WorkKind(StrEnum):
    SEAL = "seal"
    ESTIMATE = "estimate"
    ROWS = "rows"
    RENDER = "render"
    PLAN = "plan"
    OPEN = "open"
    COMPARE = "compare"
    RESERVE = "reserve"
    RELEASE = "release"
    LOOK = "look"
    DELETE = "delete"
    IMPORT = "import"


@dataclass(frozen=True, kw_only=True)
class Due:
    kind: WorkKind
    subject: int  # the primary key of a wave, comparison, rendering, release or import
    # The progress of the work. A wave under constant load is always due; it is not late as long as
    # this number changes.
    progress: int


def find_due_work() -> list[Due]:
    """Find due work in the rows of reports, batches, snapshots, files, comparisons and others."""
    newest_batch = Batch.objects.filter(wave=OuterRef("pk")).order_by("-number")
    rows_by_kind = {
        WorkKind.SEAL: find_waves_to_seal()
        # A subquery runs for each wave, because PostgreSQL would otherwise join all batches.
        .annotate(progress=Coalesce(Subquery(newest_batch.values("number")[:1]), 0))
        .values_list("pk", "progress"),
        WorkKind.ESTIMATE: find_waves_to_estimate()
        .annotate(progress=F("decided_batch"))
        .values_list("pk", "progress"),
        WorkKind.ROWS: find_waves_without_rows_file().values_list("pk", Value(0)),
        WorkKind.RENDER: find_renderings_to_run().values_list("pk", "attempts"),
        WorkKind.PLAN: find_waves_to_compare().values_list("pk", "planned_comparisons"),
        WorkKind.OPEN: find_halves_to_open().values_list("wave", Value(0)),
        WorkKind.COMPARE: find_comparisons_to_run().values_list("pk", "attempts"),
        WorkKind.RESERVE: find_waves_to_release().values_list("pk", Value(0)),
        # A release is drawn at once or not at all, so it has no progress.
        WorkKind.RELEASE: find_releases_to_draw().values_list("pk", Value(0)),
        WorkKind.LOOK: find_alerts_to_look_at().values_list("pk", Value(0)),
        WorkKind.DELETE: find_waves_to_delete().values_list("pk", Value(0)),
        WorkKind.IMPORT: find_imports_to_read().values_list("pk", "attempts"),
    }
    return [
        Due(kind=kind, subject=subject, progress=progress)
        for kind, rows in rows_by_kind.items()
        for subject, progress in rows
    ]


def remember_due_work(due: Sequence[Due], *, now: datetime) -> None:
    """Store which work is newly due, has progressed or is done, and that a sweep ran.

    Simultaneous sweeps may see different states. The sweep that writes last may be a little out of
    date; the next sweep corrects that.
    """
    known = {(row.kind, row.subject): row for row in DueWork.objects.all()}
    new = [item for item in due if (item.kind, item.subject) not in known]
    moved = [
        item
        for item in due
        if (row := known.get((item.kind, item.subject)))
        # A time in the future comes from a clock that was set back since.
        and (row.progress != item.progress or row.since > now)
    ]
    still_due = {(item.kind, item.subject) for item in due}
    done = [row for key, row in known.items() if key not in still_due]
    with transaction.atomic():
        # This comes first: its row lock makes sweeps write one after another, so that they never
        # deadlock.
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
                progress=item.progress, since__lte=now
            ).update(progress=item.progress, since=now)
        for row in done:
            # Keep the row if another sweep has seen progress since.
            DueWork.objects.filter(pk=row.pk, progress=row.progress).delete()


def _note_sweep(now: datetime) -> None:
    Upkeep.objects.bulk_create(
        [Upkeep(job=Upkeep.Job.SWEEP, ended_at=now)],
        update_conflicts=True,
        unique_fields=["job"],
        update_fields=["ended_at"],
    )


def was_just_swept(*, now: datetime) -> bool:
    """Return whether a sweep ended so recently that another would find the same work.

    Sweeps that pile up, or that two beats send, must not delay other work.
    """
    ended = Upkeep.objects.filter(job=Upkeep.Job.SWEEP).values_list("ended_at", flat=True).first()
    pause = timedelta(seconds=settings.SWEEP_SECONDS / 2)
    # The difference is negative if the clock was set back.
    return ended is not None and timedelta(0) <= now - ended < pause


def find_due_since(kind: WorkKind, subject: int) -> datetime | None:
    """Return the time since which work has been due, or None if no sweep has seen the work."""
    return (
        DueWork.objects.filter(kind=kind, subject=subject).values_list("since", flat=True).first()
    )


def find_oldest_due() -> datetime | None:
    """Return the time since which the oldest due work has been waiting."""
    oldest: datetime | None = DueWork.objects.aggregate(oldest=Min("since"))["oldest"]
    return oldest
