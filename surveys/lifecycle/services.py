"""Makes the changes allowed after the launch: the close, the people invited, the public page.

These functions only change state. Sealing and estimating react to the new state.
"""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from surveys.access import Action, ask_again
from surveys.history.recording import lock_survey, record
from surveys.lifecycle.errors import NotOpen
from surveys.locks import wait_for_writers
from surveys.models import Kind, Survey, Verb, Wave
from surveys.models.asked_questions import forget_if_unanswered


@transaction.atomic
def state_people_invited(*, survey: Survey, people: int | None) -> None:
    """Store how many people were invited. The manifest does not contain this number."""
    stored = Survey.objects.select_for_update(no_key=True).get(pk=survey.pk).people_invited
    ask_again(survey, Action.EDIT)
    if people == stored:
        return
    Survey.objects.filter(pk=survey.pk).update(people_invited=people)
    changes = [("People invited", stored, people)]
    record(survey, Verb.CHANGED, Kind.PEOPLE_INVITED, changes=changes)


@transaction.atomic
def switch_public_results(*, survey: Survey, off: bool) -> None:
    """Withdraw the public page of results, or show it again. The manifest does not change."""
    lock_survey(survey)
    ask_again(survey, Action.PUBLISH)
    other = Survey.objects.filter(pk=survey.pk, public_results_off=not off)
    if other.update(public_results_off=off):
        record(survey, Verb.WITHDREW if off else Verb.PUBLISHED, Kind.PUBLIC_PAGE)


@transaction.atomic
def close_wave(*, wave_id: int, ending: Wave.Ending) -> Wave:
    """Close an open wave once every upload that is being committed has finished.

    Later uploads find the wave closed. The waves of browsers and of coins close together, even if
    `wave_id` names only one. Raises NotOpen if the wave is closed or deleted.
    """
    named = Wave.objects.select_related("survey").get(pk=wave_id)
    if ending == Wave.Ending.OWNER:
        lock_survey(named.survey)
        ask_again(named.survey, Action.CLOSE)
    # Lock in the order of the ids, as uploads do, to avoid deadlocks.
    run = Wave.objects.filter(survey=named.survey_id, number=named.number).order_by("pk")
    # First wait for a batch that is being sealed, which may take seconds. This lock lets uploads
    # continue in the meantime. Once wait_for_writers holds its lock, uploads wait for us.
    for pk in list(run.select_for_update(no_key=True).values_list("pk", flat=True)):
        wait_for_writers(wave_id=pk)
    # Lock the whole row. With the weaker lock (no_key), an upload that waited for us would still
    # see the old row, in which the wave is open.
    waves = {wave.pk: wave for wave in run.select_for_update()}
    if wave_id not in waves or not waves[wave_id].is_open:  # or deleted in the meantime
        raise NotOpen
    now = timezone.now()
    closes_at = waves[wave_id].closes_at  # the same for both waves
    if closes_at is not None and now >= closes_at:
        ending = Wave.Ending.DATE
    for wave in waves.values():
        wave.state, wave.ending, wave.closed_at = Wave.State.CLOSED, ending, now
        wave.save(update_fields=["state", "ending", "closed_at"])
    lasted = now - waves[wave_id].launched_at
    # Pages of the author's other surveys count this one. They must not reveal whether anyone
    # answered a protected survey, so a protected survey is counted even if no one did.
    if not waves[wave_id].description.publishes_releases:
        forget_if_unanswered(survey=named.survey_id, waves=list(waves), lasted=lasted)
    # An end that was fixed in advance is recorded the next day (surveys.history.upkeep).
    if ending == Wave.Ending.OWNER:
        record(named.survey, Verb.CLOSED, Kind.SURVEY)
    return waves[wave_id]
