"""The report as a page: its readers, its text in each state of a survey, and the people invited."""

from __future__ import annotations

import pytest
from django.urls import reverse

from aggregator.charts.questions import REHEARSAL
from aggregator.exports.worker_files import find_recipe
from aggregator.renderings.jobs import find_renderings_to_run, run_rendering
from aggregator.study_report.forms import NOT_WHOLE
from aggregator.study_report.sections.head import COUNTING, DEMO, INTERIM
from surveys.lifecycle.services import close_wave, state_people_invited
from surveys.models import Survey, Wave
from tests.support.factories import make_launched_survey, make_survey
from tests.support.fielding import field, process, send_codes, sign_in
from tests.support.reading import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def read(survey: Survey) -> str:
    response = sign_in(survey.owner).get(f"/surveys/{survey.slug}/report")
    assert response.status_code == 200
    return words_of(response)


def state(survey: Survey, people: str) -> tuple[int, str]:
    address = f"/surveys/{survey.slug}/report"
    response = sign_in(survey.owner).post(address, {"people_invited": people})
    return response.status_code, words_of(response)


def test_a_draft_has_no_report_yet() -> None:
    survey = make_survey()
    assert "once the survey is open" in read(survey)
    assert state(survey, "100")[0] == 422


def test_a_closed_survey_has_its_dates_reports_results_and_hash() -> None:
    wave = make_launched_survey(title="On the road", organization="Institute of Roads")
    survey = field(wave, yes=[60, 80], total=160)
    words = read(survey)
    assert "Institute of Roads" in words
    assert "Sealed reports 160" in words
    assert "Q1 Have you ever driven after drinking?" in words
    assert wave.manifest_hash_hex in words
    assert "Response rate" not in words
    assert not any(mark in words for mark in (INTERIM, COUNTING, REHEARSAL, DEMO))


def test_a_report_before_the_end_says_so() -> None:
    wave = make_launched_survey()
    send_codes(wave, yes=[60, 80], total=160)
    process(wave)
    assert INTERIM in read(wave.survey)


def test_a_survey_that_closed_a_moment_ago_is_still_counted() -> None:
    wave = make_launched_survey()
    send_codes(wave, yes=[60, 80], total=160)
    process(wave)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    words = read(wave.survey)
    assert COUNTING in words
    assert INTERIM not in words


@pytest.mark.parametrize(("origin", "mark"), [("rehearsal", REHEARSAL), ("demo", DEMO)])
def test_rehearsals_and_demos_are_marked(origin: str, mark: str) -> None:
    survey = field(make_launched_survey(), yes=[60, 80], total=160)
    Survey.objects.filter(pk=survey.pk).update(**{origin: True})
    assert mark in read(survey)


def test_an_empty_survey_has_a_report_without_results() -> None:
    wave = make_launched_survey()
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    words = read(wave.survey)
    assert "Sealed reports 0" in words
    assert "closed without a single report" in words


def test_a_tiny_survey_has_a_report_without_results() -> None:
    survey = field(make_launched_survey(display_minimum=100), yes=[5, 5], total=30)
    words = read(survey)
    assert "Results need 100 sealed reports" in words
    assert "95 % interval" not in words


def test_a_stated_number_of_people_gives_the_response_rate() -> None:
    survey = field(make_launched_survey(), yes=[60, 80], total=160)
    assert state(survey, "400")[0] == 302
    assert "Response rate 40 % (reports ÷ people invited)" in read(survey)
    assert state(survey, "")[0] == 302
    assert "Response rate" not in read(survey)


@pytest.mark.parametrize("people", ["0", "-5", "2.5", "many", "1e9", "99999999999"])
def test_a_number_of_people_that_is_none_is_refused(people: str) -> None:
    survey = field(make_launched_survey(), yes=[60, 80], total=160)
    status, words = state(survey, people)
    assert status == 422
    assert NOT_WHOLE in words or "more people than there are" in words
    survey.refresh_from_db()
    assert survey.people_invited is None


def test_a_rate_above_100_per_cent_is_refused() -> None:
    survey = field(make_launched_survey(), yes=[60, 80], total=160)
    status, words = state(survey, "159")
    assert status == 422
    assert "The survey has 160 reports" in words
    assert "above 100 %" in words
    assert state(survey, "160")[0] == 302
    assert "Response rate 100 %" in read(survey)


def test_reports_that_came_after_a_number_was_stated_give_no_rate() -> None:
    wave = make_launched_survey()
    state_people_invited(survey=wave.survey, people=100)
    survey = field(wave, yes=[60, 80], total=160)
    words = read(survey)
    assert "there are more reports than people invited" in words
    assert "160 %" not in words


def test_reports_with_two_coins_count_for_the_rate_and_are_left_out_of_the_figures() -> None:
    survey = field(make_launched_survey(coins=True), yes=[60, 80], total=160)
    coins = survey.waves.manual().get()
    send_codes(coins, yes=[10, 10], total=40)
    process(coins)
    state_people_invited(survey=survey, people=400)
    words = read(survey)
    assert "Reports with two coins 40, which this report leaves out" in words
    assert "Response rate 50 %" in words


def test_a_worker_makes_the_files_and_the_page_leads_to_them() -> None:
    survey = field(make_launched_survey(), yes=[60, 80], total=160)
    client = sign_in(survey.owner)
    page = client.get(f"/surveys/{survey.slug}/report").content.decode()
    for name, start in (("report.pdf", b"%PDF-"), ("report.docx", b"PK")):
        address = f"/surveys/{survey.slug}/files/{name}"
        assert f'href="{address}"' in page
        assert client.get(address).status_code == 202
        make_files()
        made = client.get(address)
        assert made.status_code == 200
        assert made.content.startswith(start)
        assert f"_{name}" in made["Content-Disposition"]


def test_a_new_response_rate_makes_new_files() -> None:
    survey = field(make_launched_survey(), yes=[60, 80], total=160)
    client, address = sign_in(survey.owner), f"/surveys/{survey.slug}/files/report.docx"
    client.get(address)
    make_files()
    assert client.get(address).status_code == 200
    state(survey, "400")
    assert client.get(address).status_code == 202


def make_files() -> None:
    for rendering in find_renderings_to_run():
        assert run_rendering(rendering_id=rendering.pk, find_recipe=find_recipe)


@pytest.mark.parametrize("name", ["report.svg", "report-2.pdf", "report.docx.pdf"])
def test_there_are_no_other_files(name: str) -> None:
    survey = field(make_launched_survey(), yes=[60, 80], total=160)
    assert sign_in(survey.owner).get(f"/surveys/{survey.slug}/files/{name}").status_code == 404


def test_two_coins_have_no_report_of_their_own() -> None:
    survey = field(make_launched_survey(coins=True), yes=[60, 80], total=160)
    coins = survey.waves.manual().get()
    send_codes(coins, yes=[10, 10], total=40)
    process(coins)
    address = f"/surveys/{survey.slug}/files/coins/report.pdf"
    assert reverse("aggregator:coin_file", args=[survey.slug, "report.pdf"]) == address
    assert sign_in(survey.owner).get(address).status_code == 404


def test_a_survey_without_results_has_no_files() -> None:
    wave = make_launched_survey()
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    client = sign_in(wave.survey.owner)
    assert b"report.pdf" not in client.get(f"/surveys/{wave.survey.slug}/report").content
    assert client.get(f"/surveys/{wave.survey.slug}/files/report.pdf").status_code == 409
