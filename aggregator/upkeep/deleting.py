"""Delete a closed survey with everything that was collected and computed.

The rows are deleted in one transaction. A worker then erases their traces in the database's files
(aggregator/upkeep/purging.py).
"""

from __future__ import annotations

from django.db import transaction

from aggregator.models import (
    Batch,
    Comparison,
    Discard,
    RawReport,
    Release,
    ReleaseLedger,
    Rendering,
    RowsFile,
    SealedHalf,
    Snapshot,
    SpentId,
)
from aggregator.upkeep.verification.run import forget_differences
from surveys.access import Action, ask_again
from surveys.history.recording import record, record_ending
from surveys.history.upkeep import delete_with_changes
from surveys.lifecycle.errors import NotClosed
from surveys.models import DeletedWave, Kind, Survey, Verb, Wave
from surveys.models.asked_questions import remember_questions

_COLLECTED = (
    RawReport,
    SpentId,
    Batch,
    Discard,
    Snapshot,
    Rendering,
    RowsFile,
    SealedHalf,
    Comparison,
    # Rows are locked in the same order as in drawing.
    ReleaseLedger,
    Release,
)


@transaction.atomic(durable=True)
def delete_survey(*, survey: Survey, verb: Verb = Verb.DELETED) -> None:
    """Delete a closed survey; its history stays, and so does a row of DeletedWave for each wave.

    Deleting adds the survey's questions to the counts of those who have or had a role on it
    (surveys.models.asked_questions).

    Raises Survey.DoesNotExist if someone else has already deleted it.
    """
    locked = Survey.objects.select_for_update().get(pk=survey.pk)
    ask_again(locked, Action.DELETE)
    # This waits for a batch that is being sealed. Workers that still compute results cannot store
    # them afterwards, because the wave's row is gone.
    waves = list(Wave.objects.select_for_update().filter(survey=locked).order_by("pk"))
    if not waves or any(wave.is_open for wave in waves):
        raise NotClosed
    DeletedWave.objects.bulk_create(
        DeletedWave(manifest_hash=bytes(wave.manifest_hash), slug=locked.slug) for wave in waves
    )
    manifests = [wave.description for wave in waves if wave.mode == Wave.Mode.ELECTRONIC]
    remember_questions(survey=locked.pk, manifests=manifests)
    for model in _COLLECTED:
        model._base_manager.filter(wave__in=waves).delete()
    forget_differences(waves)
    Wave.objects.filter(survey=locked).delete()
    record_ending(locked, waves[0])
    record(locked, verb, Kind.SURVEY)
    delete_with_changes(locked)
