"""The public page of results: what it shows, when it changes, and what it never shows."""

from __future__ import annotations

import re
import secrets
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from aggregator import tasks
from aggregator.batches.sealing import seal_next_batch
from aggregator.models import RawReport, Snapshot
from aggregator.publishing import public_page
from aggregator.releases.sentences import describe_exact_readers
from aggregator.results.snapshots import METHOD_VERSION, update_snapshot
from aggregator.simulation.rehearsal import open_rehearsal
from aggregator.upkeep.deleting import delete_survey
from surveys.authoring.services import add_question
from surveys.lifecycle.services import close_wave, switch_public_results
from surveys.manifest.manifest import Publication
from surveys.models import Question, StoredText, Survey, Wave, stored_texts
from surveys.models.stored_texts import compress
from tests.aggregator.routed import ROUTED, yes
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import field, process, send_codes, send_people, sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
EXACT = Publication.EXACT
WARD, WARDS = "On which ward do you work?", ("Intensive care", "Surgery")
ALONE, OFTEN = "Were you ever alone at night?", "Did this happen often?"
PEOPLE = (137, 211, 252)  # the people on three wards


def publish(**settings: object) -> Wave:
    return make_launched_survey(publication=EXACT, **settings)


def address(survey: Survey) -> str:
    return reverse("aggregator:public_results", args=[survey.slug])


def visit(survey: Survey, *, status: int = 200) -> str:
    response = Client().get(address(survey))
    assert response.status_code == status
    assert not response.cookies
    return " ".join(response.content.decode().split())


def test_what_readers_learn_is_computed_once_for_all_visits() -> None:
    """Computing this takes a second for many questions, and anyone may request the page."""
    survey = field(publish(), yes=[60, 30], total=100)
    with mock.patch.object(
        public_page, "describe_exact_readers", wraps=describe_exact_readers
    ) as describe:
        first, second = visit(survey), visit(survey)
    assert first == second
    assert "Readers of this page learn at most" in first
    describe.assert_called_once()


def test_anyone_reads_the_estimates_of_a_closed_survey() -> None:
    survey = field(publish(), yes=[60, 30], total=100)
    page = visit(survey)
    assert "100 reports" in page
    assert page.count('class="block"') == 2
    for question in survey.questions.all():
        assert question.text in page
    wave = survey.find_wave()
    assert wave is not None
    assert wave.manifest_hash_hex in page
    assert reverse("surveys:manifest", args=[wave.manifest_hash_hex]) in page
    assert "because no end was fixed" in page  # names the kind of interval


def test_it_shows_the_figures_of_the_owners_page_and_leads_to_none_of_the_owners_pages() -> None:
    survey = field(publish(), yes=[600, 300], total=1000)
    own = sign_in(survey.owner).get(reverse("aggregator:results", args=[survey.slug]))
    row = r'<li class="block-row".*?</li>'
    figures = re.findall(row, " ".join(own.content.decode().split()))
    page = visit(survey)
    assert len(figures) == 2
    assert re.findall(row, page) == figures
    assert f"/surveys/{survey.slug}" not in page


def test_nothing_is_shown_before_the_close_whatever_has_come() -> None:
    wave = publish()
    empty = visit(wave.survey)
    assert "after the survey has closed" in empty
    send_codes(wave, yes=[60, 30], total=300)
    process(wave)
    assert wave.snapshots.get().total > 0
    assert visit(wave.survey) == empty


def test_figures_kept_from_an_earlier_version_are_not_counted_for_ever() -> None:
    wave = publish(minimum_batch=50, display_minimum=50)
    send_codes(wave, yes=[60, 30], total=140)
    process(wave)
    wave.snapshots.update(earlier_final=False)
    send_codes(wave, yes=[3, 3], total=5)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert "being counted" in visit(wave.survey)
    process(wave)
    assert "being counted" not in visit(wave.survey)


def test_a_fixed_closing_date_is_named() -> None:
    wave = publish(closes_at=timezone.now() + timedelta(days=3))
    assert f"{wave.closes_at:%Y}" in visit(wave.survey)


def test_nothing_is_shown_until_the_last_reports_are_counted() -> None:
    wave = publish()
    send_codes(wave, yes=[60, 30], total=100)
    process(wave)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    counting = visit(wave.survey)
    assert "being counted" in counting
    while seal_next_batch(wave_id=wave.pk):
        assert visit(wave.survey) == counting
    assert not RawReport.objects.exists()
    assert visit(wave.survey) == counting
    update_snapshot(wave_id=wave.pk)
    assert "100 reports" in visit(wave.survey)


@pytest.mark.parametrize("reports", [0, 5, 40])
def test_too_few_reports_are_never_shown_nor_how_many_they_were(reports: int) -> None:
    """There are no reports, fewer than K (which are deleted), or fewer than the display minimum."""
    wave = publish(display_minimum=50)
    survey = field(wave, yes=[reports, 0], total=reports)
    assert "too few reports" in visit(survey)


def test_a_survey_that_publishes_nothing_is_like_an_unknown_one() -> None:
    survey = field(make_launched_survey(), yes=[60, 30], total=100)
    unknown = Client().get(reverse("aggregator:public_results", args=["nosuchsurvey"]))
    hidden, draft = (Client().get(address(one)) for one in (survey, make_survey(publication=EXACT)))
    assert unknown.status_code == hidden.status_code == draft.status_code == 404
    assert unknown.content == hidden.content == draft.content


def test_the_worker_that_counts_the_last_reports_makes_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wave = publish(coins=True)
    waves = wave.survey.waves.order_by("pk")
    for one in waves:
        send_codes(one, yes=[60, 30], total=100)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    for one in waves:
        while seal_next_batch(wave_id=one.pk):
            pass
        tasks.estimate_wave(one.pk)
    monkeypatch.setattr(stored_texts, "store_text", None)
    coins = reverse("aggregator:public_coin_results", args=[wave.survey.slug])
    assert "100 reports" in visit(wave.survey)
    assert "100 reports" in Client().get(coins).content.decode()


STALE = "no longer true"


def make_stale_page() -> Survey:
    """Replace the content of a stored page, so that a test can tell when that page is served."""
    survey = field(publish(), yes=[60, 30], total=100)
    visit(survey)
    StoredText.objects.filter(name__endswith="results").update(compressed=compress(STALE.encode()))
    assert visit(survey) == STALE
    return survey


@pytest.mark.parametrize(
    "change",
    [
        {"told": ["q1"]},
        {"method_version": METHOD_VERSION - 1},
        {"final": False},
        {"earlier_final": True},
        {"counts": []},
        {"looks": [7]},
    ],
    ids=str,
)
def test_a_stored_page_of_another_snapshot_is_not_served(change: dict[str, Any]) -> None:
    survey = make_stale_page()
    Snapshot.objects.update(**change)
    try:
        assert visit(survey) != STALE
    except (IndexError, ValueError):  # such a snapshot cannot be read
        assert "counts" in change


@pytest.mark.parametrize("name", ["PUBLIC_URL", "EXIT_URL"])
def test_a_stored_page_of_another_address_is_not_served(name: str, settings: Any) -> None:
    survey = make_stale_page()
    setattr(settings, name, "https://elsewhere.example")
    assert visit(survey) != STALE


def test_a_stored_page_is_not_served_after_its_survey_was_taken_back_or_deleted() -> None:
    survey = make_stale_page()
    switch_public_results(survey=survey, off=True)
    assert STALE not in visit(survey, status=410)
    delete_survey(survey=survey)
    assert STALE not in visit(survey, status=410)
    assert not StoredText.objects.filter(name__endswith="results").exists()


def test_a_page_that_is_switched_off_says_so_and_comes_back() -> None:
    survey = field(publish(), yes=[60, 30], total=100)
    shown = visit(survey)
    switch_public_results(survey=survey, off=True)
    page = visit(survey, status=410)
    assert "no longer shown" in page
    for question in survey.questions.all():
        assert question.text not in page
    switch_public_results(survey=survey, off=False)
    assert visit(survey) == shown


def test_a_deleted_survey_has_no_public_results() -> None:
    survey = field(publish(), yes=[60, 30], total=100)
    path = address(survey)
    delete_survey(survey=survey)
    response = Client().get(path)
    assert response.status_code == 410
    assert "deleted" in response.content.decode()


def test_questions_that_are_not_scrambled_are_left_out_and_named() -> None:
    survey = make_survey(publication=EXACT)
    add_question(survey=survey, type=Question.Type.DECLARED, text=WARD, options=list(WARDS))
    wave = open_survey(survey=survey)
    send_people(wave, people=200)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    page = visit(survey)
    assert page.count('class="block"') == 2
    assert "Q3 is not published, because its answers were not scrambled." in page
    for words in (WARD, *WARDS):
        assert words not in page
    own = sign_in(survey.owner).get(reverse("aggregator:results", args=[survey.slug]))
    assert WARDS[0] in own.content.decode()


def ask_one_ward() -> Wave:
    """Open a survey that asks one of three wards a question, and those who say Yes another one."""
    survey = make_survey(publication=EXACT)
    wards = [*WARDS, "Children"]
    ward = add_question(survey=survey, type=Question.Type.DECLARED, text=WARD, options=wards)
    alone = add_question(survey=survey, text=ALONE, rule={"name": str(ward.pk), "is": [0]})
    add_question(survey=survey, text=OFTEN, rule={"name": str(alone.pk), "is": [1]})
    return open_survey(survey=survey)


def answer_on_wards(wave: Wave, *, alone: tuple[int, int]) -> Survey:
    """Send reports from all wards, alternating between the codes in `alone`; close the wave."""
    groups = [ward for ward, people in enumerate(PEOPLE) for _ in range(people)]
    RawReport.objects.bulk_create(
        RawReport(
            id=secrets.token_bytes(32),
            wave=wave,
            symbols=bytes([place % 2, place % 2, ward, alone[place % 2], place % 2]),
        )
        for place, ward in enumerate(groups)
    )
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    return wave.survey


def test_a_question_that_only_a_declared_group_was_asked_is_left_out_and_named() -> None:
    survey = answer_on_wards(ask_one_ward(), alone=(0, 1))
    page = visit(survey)
    assert re.findall(r'class="question-number">(Q\d)<', page) == ["Q1", "Q2"]
    assert "Q3 is not published, because its answers were not scrambled." in page
    assert (
        "Q4 and Q5 are not published, because who was asked depends on an answer that was not "
        "scrambled." in page
    )
    assert re.search(r"\b600\b", page)
    for people in PEOPLE:
        assert not re.search(rf"\b{people}\b", page)
    for words in ('data-figure="asked"', *WARDS):
        assert words not in page
    own = sign_in(survey.owner).get(reverse("aggregator:results", args=[survey.slug]))
    assert f"asked {PEOPLE[0]}" in own.content.decode()


def test_no_alarm_is_about_a_question_that_only_a_declared_group_was_asked() -> None:
    survey = answer_on_wards(ask_one_ward(), alone=(1, 1))
    own = sign_in(survey.owner).get(reverse("aggregator:results", args=[survey.slug]))
    assert 'id="alarm"' in own.content.decode()
    assert 'id="alarm"' not in visit(survey)


def test_only_a_question_for_everyone_may_be_published() -> None:
    """The rules of q5 and q7 read q4, which is declared; here, q8 and q9 depend on q7."""
    questions = [
        replace(one, rule=yes("q7")) if one.name == "q8" else one for one in ROUTED.questions
    ]
    manifest = replace(ROUTED, questions=tuple(questions))
    published = [one.name for one in questions if manifest.is_for_everyone(one)]
    assert published == ["q1", "q2", "q3", "q6", "q10"]


def test_one_question_of_a_declared_group_is_named_alone() -> None:
    survey = make_survey(publication=EXACT)
    ward = add_question(survey=survey, type=Question.Type.DECLARED, text=WARD, options=list(WARDS))
    add_question(survey=survey, text=ALONE, rule={"name": str(ward.pk), "is": [1]})
    wave = open_survey(survey=survey)
    send_people(wave, people=200)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    assert (
        "Q4 is not published, because who was asked depends on an answer that was not scrambled."
        in visit(survey)
    )


def test_codes_are_not_published() -> None:
    """The label promises this: no count of codes, and no raw share, which reveals the count."""
    survey = field(publish(), yes=[613, 471], total=1000)
    own = sign_in(survey.owner).get(reverse("aggregator:results", args=[survey.slug]))
    page = visit(survey)
    for shown, there in ((own.content.decode(), True), (page, False)):
        for words in (">Codes<", ">Raw share<", '<td class="number">613</td>', "61.3"):
            assert (words in shown) == there
    assert ">Standard error<" in page


def test_coins_have_a_separate_page_once_they_are_counted() -> None:
    wave = publish(coins=True)
    coins = Wave.objects.manual().get()
    send_codes(wave, yes=[60, 30], total=100)
    send_codes(coins, yes=[20, 10], total=40)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    path = reverse("aggregator:public_coin_results", args=[wave.survey.slug])
    page = visit(wave.survey)
    assert "100 reports" in page
    assert path in page
    assert "being counted" in Client().get(path).content.decode()
    process(coins)
    response = Client().get(path)
    assert "40 reports" in response.content.decode()
    assert address(wave.survey) in response.content.decode()
    assert visit(wave.survey) == page
    switch_public_results(survey=wave.survey, off=True)
    assert Client().get(path).status_code == 410


def test_a_survey_without_coins_has_no_page_of_them() -> None:
    survey = field(publish(), yes=[60, 30], total=100)
    path = reverse("aggregator:public_coin_results", args=[survey.slug])
    assert path not in visit(survey)
    assert Client().get(path).status_code == 404


def test_invented_answers_are_marked() -> None:
    wave = open_rehearsal(survey=make_survey(publication=EXACT), people=100)
    survey = field(wave, yes=[60, 30], total=100)
    assert "Rehearsal: invented answers." in visit(survey)


def test_the_page_needs_no_session_and_runs_no_script() -> None:
    survey = field(publish(), yes=[60, 30], total=100)
    client = sign_in(survey.owner)
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address(survey))
    touched = " ".join(query["sql"] for query in queries)
    assert "django_session" not in touched
    assert "accounts_user" not in touched
    assert response.content == Client().get(address(survey)).content
    page = response.content.decode()
    for forbidden in ("<script", "<form", "<button", "style=", survey.owner.email):
        assert forbidden not in page
    assert response["Vary"] == "Accept-Encoding"


def test_the_words_of_the_survey_name_their_language() -> None:
    wave = publish(language="ar", title="على الطريق")
    survey = field(wave, yes=[60, 30], total=100)
    assert '<bdi lang="ar">على الطريق</bdi>' in visit(survey)


def test_a_survey_that_people_may_have_to_leave_at_once_is_not_named_in_the_title() -> None:
    named, hidden = (
        field(publish(title="Violence", quick_exit=chosen), yes=[60, 30], total=100)
        for chosen in (False, True)
    )
    assert "Violence" in visit(named).partition("</title>")[0]
    assert "Violence" not in visit(hidden).partition("</title>")[0]


@pytest.mark.parametrize("chosen", Publication)
def test_a_closed_survey_leads_to_its_results_if_anyone_may_read_them(chosen: Publication) -> None:
    wave = make_launched_survey(publication=chosen)
    respondents, link = reverse("surveys:respond", args=[wave.survey.slug]), address(wave.survey)
    # Only the text for people who come too late contains the link.
    assert link not in Client().get(respondents).content.decode().partition("<template>")[0]
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    page = Client().get(respondents).content.decode()
    assert (f'href="{link}?lang=en"' in page) == (chosen != Publication.NONE)
    assert ("See the results" in page) == (chosen != Publication.NONE)
