"""The head of a survey: its state, its number of reports at the newest look, and the next step."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from aggregator.batches.sealing import seal_next_batch
from aggregator.releases.ledger import reserve_release
from aggregator.results.overview.head import SurveyHead, read_head
from aggregator.results.overview.next_steps import (
    ADD_FIRST_QUESTION,
    COPY,
    LAST_REPORTS,
    OPEN,
    PUBLISH,
    READ_REPORT,
    SEE_WHAT_IS_MISSING,
)
from aggregator.results.snapshots import update_snapshot
from aggregator.templatetags.survey_head import TABS
from surveys.lifecycle.services import close_wave
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Survey, Wave
from tests.support.factories import make_launched_survey, make_survey
from tests.support.fielding import sign_in
from tests.support.reading import text_of
from tests.support.waves import make_protected_wave, make_released_wave, send_many

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def head_of(survey: Survey) -> SurveyHead:
    return read_head(Survey.objects.get(pk=survey.pk), now=timezone.now())


def send(wave: Wave, reports: int) -> None:
    send_many(wave, [bytes([number % 2, 1]) for number in range(reports)])


def look(wave: Wave) -> None:
    while seal_next_batch(wave_id=wave.pk):
        pass
    update_snapshot(wave_id=wave.pk)


def close(wave: Wave) -> None:
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)


def test_a_draft_needs_a_question_then_what_is_missing_then_its_opening() -> None:
    assert head_of(make_survey(questions=())).step is ADD_FIRST_QUESTION
    late = make_survey(closes_at=timezone.now() - timedelta(days=1))
    assert head_of(late).step is SEE_WHAT_IS_MISSING
    ready = head_of(make_survey())
    assert ready.step is OPEN
    assert ready.sealed is None


def test_an_open_survey_is_shared_and_says_when_numbers_come() -> None:
    wave = make_launched_survey()
    head = head_of(wave.survey)
    assert (head.step.route, head.sealed) == ("surveys:share", 0)
    assert "Results appear after 40 reports" in head.step.note  # C, and K that stay unsealed
    send(wave, 40)
    look(wave)
    head = head_of(wave.survey)
    assert head.sealed == 30  # the last ten reports stay unsealed
    assert "Results change after 10 more reports" in head.step.note


def test_below_the_display_minimum_no_numbers_are_promised() -> None:
    wave = make_launched_survey(display_minimum=30)
    assert "Results appear after 40 reports" in head_of(wave.survey).step.note
    send(wave, 30)
    look(wave)
    head = head_of(wave.survey)
    assert head.sealed == 20
    assert "Results appear after 40 reports" in head.step.note
    send(wave, 10)
    look(wave)
    assert "Results change" in head_of(wave.survey).step.note


def test_reports_between_two_looks_change_nothing_in_the_head() -> None:
    wave = make_launched_survey()
    send(wave, 40)
    look(wave)
    before = head_of(wave.survey)
    send(wave, 9)
    look(wave)
    assert head_of(wave.survey) == before


def test_a_survey_that_opens_later_is_shared_and_promises_no_numbers_yet() -> None:
    wave = make_launched_survey(opens_at=timezone.now() + timedelta(days=1))
    step = head_of(wave.survey).step
    assert (step.route, step.note) == ("surveys:share", "")


def test_a_closed_survey_is_counted_then_read() -> None:
    wave = make_launched_survey()
    send(wave, 40)
    close(wave)
    assert head_of(wave.survey).step is LAST_REPORTS
    look(wave)
    head = head_of(wave.survey)
    assert (head.step, head.sealed) == (READ_REPORT, 40)


def test_a_survey_past_its_date_waits_for_its_last_reports() -> None:
    wave = make_launched_survey(closes_at=timezone.now() + timedelta(days=1))
    later = timezone.now() + timedelta(days=2)
    assert read_head(wave.survey, now=later).step is LAST_REPORTS


def test_a_protected_survey_waits_for_its_first_release_unless_its_page_is_off() -> None:
    wave = make_released_wave()
    assert head_of(wave.survey).step is PUBLISH
    Survey.objects.filter(pk=wave.survey.pk).update(public_results_off=True)
    assert head_of(Survey.objects.get()).step is READ_REPORT
    Survey.objects.filter(pk=wave.survey.pk).update(public_results_off=False)
    request = ReleaseRequest(kind=ReleaseKind.TABLE, questions=("q1",), epsilon_hundredths=50)
    reserve_release(wave=wave, request=request)
    assert head_of(wave.survey).step is READ_REPORT


@pytest.mark.parametrize("reports", [0, 3, 12])
def test_a_survey_without_results_is_copied(reports: int) -> None:
    wave = make_launched_survey(display_minimum=20)
    send(wave, reports)
    close(wave)
    look(wave)
    assert head_of(wave.survey).step is COPY


@pytest.mark.parametrize("is_protected", [False, True])
def test_the_tabs_are_the_same_on_every_page_and_mark_the_current_one(is_protected: bool) -> None:
    wave = make_protected_wave() if is_protected else make_launched_survey()
    client = sign_in(wave.survey.owner)
    addresses = {name: reverse(page, args=[wave.survey.slug]) for name, _, page in TABS}
    releases = addresses["releases"]
    if not is_protected:
        del addresses["releases"]
        assert f'href="{releases}"' not in client.get(addresses["settings"]).text
    for name in ("overview", "questions", "data", "settings"):
        page = client.get(addresses[name]).text
        places = [page.index(f'href="{address}"') for address in addresses.values()]
        assert places == sorted(places), name
        assert page.count('aria-current="page"') == 1
        current = page.split('aria-current="page"')[0].rsplit("href=", 1)[1]
        assert current.startswith(f'"{addresses[name]}"')


def test_the_head_takes_few_queries(django_assert_max_num_queries: Any) -> None:
    draft = Survey.objects.get(pk=make_survey().pk)
    # The wave, questions, translations, plans and members, and the members' other surveys.
    with django_assert_max_num_queries(5):
        read_head(draft, now=timezone.now())
    launched = Survey.objects.get(pk=make_launched_survey().survey_id)
    with django_assert_max_num_queries(1):
        read_head(launched, now=timezone.now())


def test_a_rehearsal_is_marked_and_copying_works_from_the_head() -> None:
    wave = make_launched_survey(rehearsal=True)
    close(wave)
    client: Client = sign_in(wave.survey.owner)
    page = client.get(reverse("surveys:edit", args=[wave.survey.slug]))
    assert "Closed Rehearsal 0 sealed reports Copy as a new draft" in text_of(page)
