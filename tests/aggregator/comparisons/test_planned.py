"""Planned comparisons are requested after the wave has ended, once each, and listed first."""

from __future__ import annotations

import csv
import io
import re

import pytest
from django.urls import reverse

from aggregator.comparisons import jobs, sentences
from aggregator.comparisons.choice import FEWER_PEOPLE
from aggregator.comparisons.planned import (
    find_waves_to_compare,
    list_planned,
    request_planned,
)
from aggregator.comparisons.result import RegressionResult, Together, TwoQuestionsResult
from aggregator.comparisons.sentences import (
    AT_CAP,
    PLANNED,
    PLANNED_STILL_OPEN,
    TRIED,
)
from aggregator.comparisons.words.two_questions_sentences import MAY_BE_INDEPENDENT, RELATED
from aggregator.models import Comparison, Snapshot
from aggregator.results.display import Results, find_view
from aggregator.results.sentences import KEPT, describe_intervals
from aggregator.results.snapshots import list_looks_before_close
from aggregator.tasks import request_planned_comparisons
from aggregator.upkeep.due import WorkKind, find_due_work
from privacy.shares.intervals import simultaneous_level
from surveys.models import Wave
from tests.support.comparisons import ask, compute, end, make_planned_wave
from tests.support.fielding import sign_in
from tests.support.reading import text_of
from tests.support.waves import send_many

pytestmark = pytest.mark.django_db
Kind = Comparison.Kind
KIND = Kind.TABLE


def compute_all() -> None:
    for comparison in jobs.find_comparisons_to_run():
        compute(comparison)


def results_of(wave: Wave) -> Results:
    results = find_view(wave.survey).results
    assert results is not None
    return results


def test_they_are_due_when_the_wave_has_ended_and_requested_once() -> None:
    wave = make_planned_wave()
    assert not find_waves_to_compare().exists()
    end(wave)
    assert WorkKind.PLAN in {due.kind for due in find_due_work()}
    for _ in range(2):
        request_planned_comparisons(wave.pk)
    stored = Comparison.objects.order_by("pk")
    assert [(one.names, one.planned) for one in stored] == [
        (["q1", "q2"], True),
        (["q3", "q1"], True),
    ]
    assert not find_waves_to_compare().exists()


def test_a_wave_without_plans_is_never_due() -> None:
    end(make_planned_wave(pairs=()))
    assert not find_waves_to_compare().exists()


def test_below_the_display_minimum_nothing_is_requested() -> None:
    end(make_planned_wave(people=60, display_minimum=100))
    assert not find_waves_to_compare().exists()


@pytest.mark.usefixtures("static_files")
def test_figures_kept_from_an_earlier_version_never_promise_a_comparison() -> None:
    """An earlier version showed results; now the survey closes with fewer than 3 × K reports."""
    wave = make_planned_wave(people=140, minimum_batch=50, display_minimum=50)
    wave.snapshots.update(earlier_final=False)
    send_many(wave, [bytes([0, 1, 0])] * 5)
    assert find_view(wave.survey).is_settled is False
    assert {one.state for one in list_planned(results_of(wave))} == {"later"}
    end(wave)
    view, problem = find_view(wave.survey), FEWER_PEOPLE.format(crowd=150)
    assert view.is_settled
    assert results_of(wave).snapshot.total == 90
    assert describe_intervals(results_of(wave)) == KEPT
    assert [one.problem for one in list_planned(results_of(wave))] == [problem, problem]
    assert not list(find_due_work())
    client, slug = sign_in(wave.survey.owner), wave.survey.slug
    for page in ("compare", "data", "breakdown", "report"):
        shown = text_of(client.get(f"/surveys/{slug}/{page}"))
        assert not re.search("being co[um]|in a minute|Computed when|once the survey", shown), page
    sent = {"kind": "table", "outcome": "q1", "group": "q2"}
    assert problem in text_of(client.post(f"/surveys/{slug}/compare", sent))
    assert not Comparison.objects.exists()


def test_a_new_method_computes_them_again() -> None:
    wave = end(make_planned_wave())
    request_planned(wave_id=wave.pk)
    Comparison.objects.update(method_version=1)
    assert [one.pk for one in find_waves_to_compare()] == [wave.pk]


def test_an_outdated_snapshot_is_left_alone() -> None:
    wave = end(make_planned_wave())
    Snapshot.objects.update(method_version=1)
    request_planned(wave_id=wave.pk)
    assert not Comparison.objects.exists()


def test_one_that_someone_asked_for_first_counts_as_planned() -> None:
    wave = end(make_planned_wave())
    asked = ask(wave, KIND, "q1", "q2")
    assert asked.planned
    assert not ask(wave, KIND, "q2", "q1").planned
    request_planned(wave_id=wave.pk)
    assert Comparison.objects.filter(planned=True).count() == 2


def test_planned_ones_are_kept_when_old_ones_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = end(make_planned_wave())
    request_planned(wave_id=wave.pk)
    compute_all()
    monkeypatch.setattr(jobs, "KEPT_PER_WAVE", 1)
    for names in (("q2", "q1"), ("q1", "q3")):
        compute(ask(wave, KIND, *names))
    assert Comparison.objects.filter(planned=True).count() == 2
    assert Comparison.objects.filter(planned=False).count() == 1


def test_the_list_has_findings_whose_intervals_hold_for_all_planned() -> None:
    wave = end(make_planned_wave(people=1500))
    assert [one.state for one in list_planned(results_of(wave))] == ["later", "later"]
    request_planned(wave_id=wave.pk)
    first, second = list_planned(results_of(wave))
    assert (first.state, first.verdict, first.sentence) == ("waiting", "", "")
    compute_all()
    first, second = list_planned(results_of(wave))
    assert (first.title, second.title) == ("Q1 by Q2", "Q3 by Q1")
    assert first.sentence.startswith("Yes to Q2: ")
    assert isinstance(first.result, TwoQuestionsResult)
    # The survey was closed by hand after three looks, so each interval holds for all of them
    # together.
    assert first.result.together == Together(family=2, looks=len(list_looks_before_close(wave)))
    assert first.result.difference.level > simultaneous_level(0.95, shares=2)
    assert (first.verdict, second.verdict) == (f"{RELATED}.", f"{MAY_BE_INDEPENDENT}.")


def test_after_a_frozen_end_the_level_is_that_of_all_planned() -> None:
    wave = end(make_planned_wave(cap=400), Wave.Ending.CAP)
    request_planned(wave_id=wave.pk)
    compute_all()
    first, second = list_planned(results_of(wave))
    assert isinstance(first.result, TwoQuestionsResult)
    assert first.result.difference.level == simultaneous_level(0.95, shares=2)
    assert first.verdict.replace("\N{NO-BREAK SPACE}", " ") == (
        f"{RELATED} (p < 0.0001, adjusted, likelihood-ratio test)."
    )
    assert 2 * first.result.test.p_value < 0.0001
    assert f"{MAY_BE_INDEPENDENT} (p" in second.verdict


def test_while_the_survey_is_open_nothing_of_them_is_listed() -> None:
    wave = make_planned_wave()
    compute(ask(wave, KIND, "q1", "q2"))
    listed = list_planned(results_of(wave))
    assert {(one.comparison, one.sentence, one.state) for one in listed} == {(None, "", "later")}


def page_of(wave: Wave, comparison: Comparison) -> str:
    address = reverse("aggregator:comparison", args=[wave.survey.slug, comparison.pk])
    return text_of(sign_in(wave.survey.owner).get(address))


def plain(sentence: str) -> str:
    return sentence.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.usefixtures("static_files")
def test_a_planned_result_can_be_taken_at_face_value_once_the_survey_ended_as_fixed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # In a test, all reports come within seconds of one another.
    monkeypatch.setattr(sentences, "describe_burst", lambda results: "")
    wave = make_planned_wave(cap=400)
    early = page_of(wave, compute(ask(wave, KIND, "q1", "q2")))
    assert plain(PLANNED_STILL_OPEN) in early
    end(wave, Wave.Ending.CAP)
    request_planned(wave_id=wave.pk)
    compute_all()
    words = page_of(wave, Comparison.objects.filter(names=["q1", "q2"]).latest("pk"))
    assert f"{plain(PLANNED)} {AT_CAP}" in words
    assert "hold at 95 % for both planned comparisons together" in words
    tried = page_of(wave, compute(ask(wave, KIND, "q2", "q1")))
    assert plain(TRIED) in tried
    assert "together" not in tried


@pytest.mark.usefixtures("static_files")
def test_a_warning_of_the_results_page_holds_for_planned_comparisons_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sentences, "describe_burst", lambda results: "182 came in bursts.")
    wave = end(make_planned_wave(cap=400), Wave.Ending.CAP)
    words = page_of(wave, compute(ask(wave, KIND, "q1", "q2")))
    assert plain(sentences.PLANNED_BUT_WARNED) in words
    assert "face value" not in words
    page = sign_in(wave.survey.owner).get(reverse("aggregator:compare", args=[wave.survey.slug]))
    assert sentences.WARNED in text_of(page)


@pytest.mark.usefixtures("static_files")
def test_where_the_end_was_not_fixed_a_planned_interval_holds_for_all_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sentences, "describe_burst", lambda results: "")
    wave = end(make_planned_wave(people=1500))
    words = page_of(wave, compute(ask(wave, KIND, "q1", "q2")))
    assert plain(PLANNED) in words
    assert "for both planned comparisons and all looks together" in words
    assert "p =" not in words


@pytest.mark.usefixtures("static_files")
def test_the_compare_page_lists_planned_ones_first_and_others_as_exploratory() -> None:
    wave = end(make_planned_wave())
    page = reverse("aggregator:compare", args=[wave.survey.slug])
    client = sign_in(wave.survey.owner)
    assert (
        "Q1 by Q2 Question 1? · Question 2? It will be computed when the survey has ended"
        in text_of(client.get(page))
    )
    request_planned(wave_id=wave.pk)
    compute_all()
    compute(ask(wave, KIND, "q2", "q3"))
    words = text_of(client.get(page))
    planned, tried = words.index("Planned before opening"), words.index("Exploratory comparisons")
    assert planned < words.index("Too few people took part") < tried < words.index("Q2 by Q3")


def test_the_file_of_a_planned_comparison_says_so_and_has_the_adjusted_p_value() -> None:
    wave = end(make_planned_wave(cap=400), Wave.Ending.CAP)
    request_planned(wave_id=wave.pk)
    compute_all()
    [first, _] = list_planned(results_of(wave))
    assert first.comparison is not None
    client = sign_in(wave.survey.owner)

    def read(comparison: Comparison) -> list[dict[str, str]]:
        address = reverse("aggregator:comparison_csv", args=[wave.survey.slug, comparison.pk])
        return list(csv.DictReader(io.StringIO(client.get(address).content.decode(), newline="")))

    rows = read(first.comparison)
    assert {row["planned"] for row in rows} == {"yes"}
    [adjusted] = [row for row in rows if row["quantity"] == "adjusted_p_value"]
    assert isinstance(first.result, TwoQuestionsResult)
    assert (adjusted["value"], adjusted["method"]) == (
        repr(2 * first.result.test.p_value),
        "bonferroni",
    )
    assert {(row["family"], row["looks"]) for row in rows} == {("2", "0")}
    others = read(compute(ask(wave, KIND, "q2", "q1")))
    assert {(row["planned"], row["family"]) for row in others} == {("no", "1")}


def test_a_planned_regression_counts_as_many_tests_as_it_has() -> None:
    plans = (("q1", "q2"), ("q3", "q1", "q2"))
    wave = end(make_planned_wave(pairs=plans, cap=400), Wave.Ending.CAP)
    request_planned(wave_id=wave.pk)
    assert not find_waves_to_compare().exists()
    compute_all()
    table, regression = list_planned(results_of(wave))
    assert regression.title == "Q3 explained by Q1 and Q2"
    assert isinstance(table.result, TwoQuestionsResult)
    assert isinstance(regression.result, RegressionResult)
    assert table.result.together == regression.result.together == Together(family=3, looks=0)
    assert regression.result.level == simultaneous_level(0.95, shares=3)
    assert regression.sentence
    assert regression.verdict == ""
    client = sign_in(wave.survey.owner)
    assert regression.comparison is not None
    pages = [
        text_of(client.get(reverse("aggregator:comparison", args=[wave.survey.slug, one.pk])))
        for one in (table.comparison, regression.comparison)
        if one is not None
    ]
    for page in pages:
        assert "Planned before opening" in page
    assert "at 95 % for all 3 planned tests together" in pages[0]
    # A regression that is not in the plan counts as exploratory.
    assert not ask(wave, Kind.REGRESSION, "q3", "q1").planned
