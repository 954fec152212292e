"""The public page of a protected survey and its file: what they show about releases."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from aggregator.models import Release, ReleaseLedger
from aggregator.releases.figures import TableFigures, read_figures
from aggregator.releases.readers import reader_epsilons
from aggregator.simulation.rehearsal import open_rehearsal
from aggregator.upkeep.deleting import delete_survey
from surveys.authoring.services import add_question
from surveys.formatting import epsilon
from surveys.lifecycle.services import switch_public_results
from surveys.manifest.manifest import Publication
from surveys.manifest.readers import find_answered
from surveys.manifest.releases import ReleaseKind
from surveys.models import Question, Wave, today
from tests.support.factories import make_launched_survey, make_survey, open_survey
from tests.support.fielding import field, send_people
from tests.support.releases.public import (
    NAMES,
    protect,
    read,
    rows_of,
    visit,
)
from tests.support.releases.stored import finish, plan, store, store_table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def test_a_table_shows_its_figures_its_promise_and_its_price() -> None:
    wave = protect()
    survey = field(wave, yes=[60, 30], total=100)
    release = store_table(wave, "q1", "q2", people=1000, epsilon=50, seed=3)
    figures = read_figures(release, wave.description)
    assert isinstance(figures, TableFigures)
    page = visit(survey)
    assert f"About {figures.people:,} ± {figures.margin} people took part (noise included)." in page
    assert page.count('class="block"') == 2
    assert page.count('<li class="block-row"') == 2
    # e^.5 / (1 + e^.5) = .622, rounded up
    assert "a guess about whether a given person took part is right at most 63 times in 100" in page
    names = re.findall(r'<a class="method" href="[^"]+">([^<]+)</a> </dt> <dd>([^<]+)</dd>', page)
    assert dict(names) == {
        "Took part": "ε = 0.50",
        "About answers, to readers": "ε = 0.25 about Q1 at most (server: 1.10)",
        "Spent": "0.50 of the 1.00 that this survey may spend",
        "Mechanism": (
            "Discrete Laplace noise of scale 4 on every count, drawn once by OpenDP 0.16.0"
        ),
    }
    for part in ("People", "Scram&shy;bling", "Publi&shy;cation"):
        assert html.unescape(f">{part}</th>") in html.unescape(page)
    assert "Q2: ε = 0.25 (server: 1.10)" in page


def test_the_file_has_the_figures_of_the_page() -> None:
    wave = protect()
    survey = field(wave, yes=[60, 30], total=100)
    release = store_table(wave, "q1", "q2", seed=3, epsilon=50)
    figures = read_figures(release, wave.description)
    assert isinstance(figures, TableFigures)
    rows = rows_of(survey)
    assert [row["question"] for row in rows] == ["driven_after", "children"]
    for row, question in zip(rows, figures.questions, strict=True):
        [figure] = question.rows
        assert float(row["estimate"]) == pytest.approx(figure.estimate, abs=1e-6)
        assert float(row["interval_low"]) == pytest.approx(figure.low, abs=1e-6)
        assert int(row["noisy_people"]) == question.people
        assert int(row["noisy_people_margin"]) == question.margin
        assert int(row["noisy_code_count"]) == figure.count
        assert (row["mechanism"], row["scale"], row["delta"]) == ("laplace", "4", "0.0")
        assert float(row["epsilon_took_part"]) == 0.5
    response = Client().get(reverse("aggregator:public_results_csv", args=[survey.slug]))
    assert "_releases.csv" in response["Content-Disposition"]


def test_too_few_people_is_said_without_a_number_of_them() -> None:
    wave = protect()
    survey = field(wave, yes=[60, 30], total=100)
    store_table(wave, "q1", people=20, epsilon=20)
    page = visit(survey)
    assert "Too few people for this table: it takes about 50." in page
    assert "took part (noise included)" not in page
    assert '<li class="block-row"' not in page
    [row] = rows_of(survey)
    assert row["note"] == "Too few people for this table: it takes about 50."
    assert row["estimate"] == ""


def test_choices_are_shown_and_filed() -> None:
    survey = make_survey(publication=Publication.PROTECTED)
    add_question(
        survey=survey,
        type=Question.Type.CHOICE,
        text="Which?",
        options=["=1+1", "Second", "Third"],
    )
    wave = open_survey(survey=survey)
    leader = plan(wave.description, "q3", kind=ReleaseKind.LEADER, epsilon=50)
    store(finish(leader, {"code": 0}), wave)
    assert "It is shown only beside a table of the same question." in visit(survey)
    assert "=1+1" not in str(rows_of(survey))
    store_table(wave, "q3", people=2000, epsilon=50)
    page = visit(survey)
    assert "Leader of Q3" in page
    assert "=1+1</strong>" in page
    row, *_ = rows_of(survey)
    assert (row["answer"], row["answer_text"]) == ("0", "'=1+1")
    assert row["estimate"] == row["noisy_people"] == ""


def test_what_all_figures_reveal_together_is_said_once() -> None:
    wave = protect(release_epsilon_hundredths=200)
    for name in ("q1", "q2"):
        store_table(wave, name, epsilon=50)
    page = visit(wave.survey)
    # e^(.5 + .5) / (1 + e^(.5 + .5)), and the same for 2, rounded up
    assert (
        "A guess about whether a given person took part is right at most 74 times in 100 (89 times "
        "after all future releases), instead of 50." in page
    )
    store_table(wave, "q1", epsilon=100)
    assert "right at most 89 times in 100, instead of 50." in visit(wave.survey)


def make_scale() -> Wave:
    survey = make_survey(publication=Publication.PROTECTED, release_epsilon_hundredths=200)
    add_question(
        survey=survey, type=Question.Type.SCALE, text="How often?", minimum=1, maximum=5,
        low_label="Never", high_label="Always",
    )  # fmt: skip
    return open_survey(survey=survey)


def test_points_have_the_words_and_numbers_that_people_saw() -> None:
    wave = make_scale()
    store_table(wave, "q3", people=2000, epsilon=100)
    median = plan(wave.description, "q3", kind=ReleaseKind.MEDIAN, epsilon=50)
    store(finish(median, {"code": 4}), wave)
    *shares, chosen = rows_of(wave.survey)
    assert [(row["answer"], row["answer_text"]) for row in shares] == [
        ("1", "1 (Never)"), ("2", "2"), ("3", "3"), ("4", "4"), ("5", "5 (Always)"),
        ("mean", "Mean"),
    ]  # fmt: skip
    assert (chosen["answer"], chosen["answer_text"]) == ("5", "5 (Always)")
    # The scale is 2 × 1.429 / .5 reports, as on the page.
    assert chosen["scale"] == "1429/250"
    assert float(chosen["bound_people"]) > 0
    page = visit(wave.survey)
    assert "5 (Always)</strong>" in page
    assert "this is the median, or would be if at most" in page
    assert page.index("Table of Q3") < page.index("Median of Q3")
    assert {row["base"] for row in shares} == {"everyone who was asked"}
    assert all(len(row["estimate"]) <= len("-0.123456") for row in shares)


def test_a_follow_up_and_separate_noise_are_explained() -> None:
    survey = make_survey(publication=Publication.PROTECTED, release_epsilon_hundredths=200)
    add_question(
        survey=survey, type=Question.Type.FOLLOW_UP, text="Ever?", follow_up="Did you tell anyone?"
    )
    wave = open_survey(survey=survey)
    store_table(wave, "q3", epsilon=50)
    page = visit(wave.survey)
    assert "Then: Did you tell anyone?" in page
    assert "Each release has separate noise" not in page
    assert {row["follow_up"] for row in rows_of(wave.survey)} == {"Did you tell anyone?"}
    store_table(wave, "q1", epsilon=50)
    assert "Each release has separate noise" in visit(wave.survey)


def test_of_random_subsets_each_question_says_how_many_were_asked() -> None:
    survey = make_survey(publication=Publication.PROTECTED, drawn=1)
    add_question(
        survey=survey, type=Question.Type.DECLARED, text="Where?", options=["Town", "Country"]
    )
    wave = open_survey(survey=survey)
    store_table(wave, "q1", "q3", people=2000)
    page = visit(wave.survey)
    assert page.count("people took part (noise included)") == 1
    assert page.count("people were asked (noise included)") == 1


def test_the_newest_release_comes_first_and_all_count_as_spent() -> None:
    wave = protect(release_epsilon_hundredths=200)
    survey = wave.survey
    days = [today() - timedelta(days=days) for days in (9, 5)]
    for day, name, cost in zip(days, ("q1", "q2"), (50, 30), strict=True):
        store_table(wave, name, epsilon=cost, public_from=day)
    page = visit(survey)
    assert page.index('id="release-2"') < page.index('id="release-1"')
    assert "0.30 of the 2.00 that this survey may spend; all releases together 0.80" in page


def test_a_lost_release_counts_as_spent_from_the_day_after_it_was_requested() -> None:
    wave = protect()
    store_table(wave, "q1", epsilon=50)
    shown = visit(wave.survey)
    lost = plan(wave.description, "q2", epsilon=20)
    lost.state = Release.State.LOST
    store(lost, wave, public_from=today() + timedelta(days=1))
    assert visit(wave.survey) == shown
    Release.objects.filter(pk=lost.pk).update(reserved_on=today() - timedelta(days=1))
    assert "all releases together 0.70" in visit(wave.survey)


def test_what_was_lost_counts_for_readers_too() -> None:
    wave = protect()
    store_table(wave, "q1", epsilon=20)
    alone = reader_epsilons(wave.description, wave.releases.all())
    assert f"Q1: ε = {epsilon(alone[0].reader)} (server" in visit(wave.survey)
    lost = plan(wave.description, "q1", epsilon=30)
    lost.state = Release.State.LOST
    store(lost, wave)
    both = reader_epsilons(wave.description, wave.releases.all())
    assert both[0].reader > alone[0].reader
    assert f"Q1: ε = {epsilon(both[0].reader)} (server" in visit(wave.survey)


def test_after_a_restored_backup_all_counts_as_spent() -> None:
    """Readers may know releases that the backup does not contain."""
    wave = protect()
    empty = visit(wave.survey)
    store_table(wave, "q1", epsilon=20)
    ReleaseLedger.objects.update(suspended="restored", spent_hundredths=100)
    page = visit(wave.survey)
    assert "A backup was restored." in page
    assert "0.20 of the 1.00 that this survey may spend; all releases together 1.00" in page
    manifest = wave.description
    for question in manifest.questions:
        worst = epsilon(find_answered(manifest, question).epsilon)
        assert f"Q{question.number}: ε = {worst}" in page
    Release.objects.all().delete()
    assert "appear here" in empty
    page = visit(wave.survey)
    assert "A backup was restored." in page
    assert "appear here" not in page


@pytest.mark.parametrize("name", NAMES)
def test_a_page_that_is_switched_off_says_so_and_comes_back(name: str) -> None:
    wave = protect()
    survey = wave.survey
    store_table(wave)
    shown = read(survey, name=name)
    switch_public_results(survey=survey, off=True)
    assert b"no longer shown" in read(survey, name=name, status=410)
    switch_public_results(survey=survey, off=False)
    assert read(survey, name=name) == shown


@pytest.mark.parametrize("chosen", [Publication.NONE, Publication.EXACT])
def test_other_surveys_have_no_file_of_releases(chosen: Publication) -> None:
    survey = field(make_launched_survey(publication=chosen), yes=[60, 30], total=100)
    unknown = Client().get(reverse("aggregator:public_results_csv", args=["nosuchsurvey"]))
    found = Client().get(reverse("aggregator:public_results_csv", args=[survey.slug]))
    assert unknown.status_code == found.status_code == 404
    assert unknown.content == found.content


def test_a_deleted_survey_has_no_releases() -> None:
    wave = protect()
    survey = field(wave, yes=[60, 30], total=100)
    store_table(wave)
    paths = [reverse(f"aggregator:{name}", args=[survey.slug]) for name in NAMES]
    delete_survey(survey=survey)
    for path in paths:
        assert Client().get(path).status_code == 410


def make_rehearsal() -> Wave:
    return open_rehearsal(survey=make_survey(publication=Publication.PROTECTED), people=100)


def make_demo() -> Wave:
    return protect(demo=True)


@pytest.mark.parametrize(
    ("make", "mark", "origin"),
    [(make_rehearsal, "Rehearsal:", "rehearsal"), (make_demo, "Demo:", "demo")],
)
def test_invented_answers_are_marked(make: Callable[[], Wave], mark: str, origin: str) -> None:
    wave = make()
    assert mark in visit(wave.survey)
    store_table(wave)
    assert mark in visit(wave.survey)
    assert {row["data"] for row in rows_of(wave.survey)} == {origin}


def test_coins_have_separate_releases() -> None:
    wave = protect(coins=True)
    coins = Wave.objects.manual().get()
    store_table(coins, seed=2)
    page = visit(wave.survey)
    assert "appear here at 00:00 UTC on a later day" in page
    assert reverse("aggregator:public_coin_results", args=[wave.survey.slug]) in page
    of_coins = read(wave.survey, name="public_coin_results").decode()
    assert "noise included" in of_coins
    assert "with two coins" in of_coins
    [row] = csv.DictReader(io.StringIO(read(wave.survey, name="public_coin_results_csv").decode()))
    assert row["mode"] == "manual"


def test_random_subsets_tell_how_many_were_asked() -> None:
    wave = protect(drawn=1)
    store_table(wave, "q1", people=500, seed=3)
    send_people(wave, people=50)
    page = visit(wave.survey)
    assert "people were asked (noise included)" in page
    assert "people took part (noise included)" not in page
