"""The file of rows in the database. A worker proposes its background; the owner chooses once."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Greatest

from aggregator.background.levels import (
    Background,
    is_within,
    read_background,
    write_background,
)
from aggregator.background.proposing import Proposal, propose
from aggregator.batches.combinations import count_combinations
from aggregator.models import Comparison, RowsFile, Snapshot
from aggregator.results.groups.told import find_told
from surveys.access import Action, ask_again
from surveys.history.recording import lock_survey, record
from surveys.manifest.manifest import BATCHES_IN_CROWD
from surveys.models import Kind, Verb, Wave


class AlreadyChosenError(Exception):
    """The owner has already chosen the background of these rows, perhaps in another window."""


def find_waves_without_rows_file() -> QuerySet[Wave]:
    """Find waves whose rows may be exported but for which no background has been proposed."""
    last = Snapshot.objects.filter(wave=OuterRef("pk"), final=True).order_by("-through_batch")
    return (
        Wave.objects.closed()
        .filter(mode=Wave.Mode.ELECTRONIC, rows_file=None)
        .annotate(last=Subquery(last.values("total")[:1]))
        .filter(last__gte=Greatest("display_minimum", BATCHES_IN_CROWD * F("minimum_batch")))
        .order_by()
    )


def make_rows_file(*, wave_id: int) -> RowsFile:
    """Propose the background of a wave's rows. If it is empty, store it as the choice at once."""
    wave = Wave.objects.get(pk=wave_id)
    proposal = compute_proposal(wave)
    proposed = write_background(proposal.background)
    made, _ = RowsFile.objects.get_or_create(
        wave=wave,
        defaults={
            "proposed": proposed,
            "smallest": proposal.smallest,
            "has_files_of_blocks": proposal.has_files_of_blocks,
            "crosses_files": proposal.crosses_files,
            "chosen": None if proposed else [],
        },
    )
    return made


def compute_proposal(wave: Wave) -> Proposal:
    """Propose a background from a closed wave's batches; verification repeats this."""
    manifest = wave.description
    found = count_combinations(wave, manifest)
    return propose(manifest, found, told=find_told(manifest, found))


def find_rows_file(wave: Wave) -> RowsFile | None:
    """Return the wave's file of rows, or None until a worker has proposed its background."""
    return RowsFile.objects.filter(wave=wave).first()


def find_background(wave: Wave) -> Background | None:
    """Return the chosen background, which may be empty, or None until there is a choice."""
    found = find_rows_file(wave)
    return None if found is None or found.chosen is None else read_background(found.chosen)


@transaction.atomic(durable=True)
def choose(rows_file: RowsFile, background: Background) -> None:
    """Store the owner's final choice, which is the proposal or a coarser background.

    The next sweep requests planned comparisons that waited for this choice.
    """
    if not is_within(background, read_background(rows_file.proposed)):
        raise ValueError("background must tell nothing apart that was not proposed")
    survey = rows_file.wave.survey
    lock_survey(survey)
    ask_again(survey, Action.CHOOSE_BACKGROUND)
    chosen = write_background(background)
    if not RowsFile.objects.filter(pk=rows_file.pk, chosen__isnull=True).update(chosen=chosen):
        raise AlreadyChosenError
    Comparison.objects.filter(
        wave=rows_file.wave_id, planned=True, state=Comparison.State.FAILED
    ).delete()
    record(survey, Verb.CHANGED, Kind.BACKGROUND)


def accept_proposal(rows_file: RowsFile) -> None:
    """Choose the whole proposal, unless the owner has already chosen."""
    if rows_file.chosen is None:
        choose(rows_file, read_background(rows_file.proposed))
