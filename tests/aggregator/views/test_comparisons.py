"""Compare: the forms, the waiting page, the result and its CSV file."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from aggregator.comparisons import sentences
from aggregator.comparisons.choice import (
    BLOCKS_APART,
)
from aggregator.comparisons.forms import CHOOSE_KIND
from aggregator.comparisons.sentences import (
    A_PLACE_TO_START,
    AS_A_WHOLE,
    AT_CAP,
    IMPOSSIBLE,
    NEXT_TIME,
    SELDOM_BY_CHANCE,
    TRIED,
)
from aggregator.comparisons.words.two_questions_sentences import RELATED
from aggregator.models import Comparison, RowsFile
from aggregator.results.sentences import MAY_BE_ZERO
from surveys.comparing.choice import (
    DIFFERENT_QUESTIONS,
    NO_PREDICTOR,
    OUTCOME_AS_PREDICTOR,
    TWO_QUESTIONS,
    UNKNOWN_QUESTION,
)
from surveys.lifecycle.services import close_wave
from surveys.models import Survey, Wave
from tests.support.comparisons import compute, make_answered_wave
from tests.support.factories import make_launched_survey, make_survey
from tests.support.fielding import field, process, send_people, sign_in
from tests.support.reading import text_of
from tests.support.waves import make_wave, send_many

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


def plain(sentence: str) -> str:
    """Return the text as `text_of` does, without non-breaking spaces."""
    return sentence.replace("\N{NO-BREAK SPACE}", " ")


def address(survey: Survey, name: str = "compare", **more: Any) -> str:
    return reverse(f"aggregator:{name}", kwargs={"slug": survey.slug, **more})


def choose(client: Client, survey: Survey, **chosen: Any) -> Any:
    return client.post(address(survey), chosen)


def compare(wave: Wave, **chosen: Any) -> tuple[Client, Comparison]:
    """Send a form and compute the comparison as the worker does."""
    client = sign_in(wave.survey.owner)
    response = choose(client, wave.survey, **chosen)
    assert response.status_code == 302, text_of(response)
    comparison = Comparison.objects.get()
    assert response["Location"] == address(wave.survey, "comparison", pk=comparison.pk)
    return client, compute(comparison)


def test_blocks_of_a_random_subset_are_compared_after_the_close() -> None:
    wave = make_wave(questions=4, drawn=2)
    send_people(wave, people=200)
    process(wave)
    client = sign_in(wave.survey.owner)
    page = client.get(address(wave.survey))
    assert "comparisons appear once the survey has closed" in text_of(page)
    assert 'id="pairs-title"' not in page.content.decode()
    refused = choose(client, wave.survey, kind="table", outcome="q1", group="q2")
    assert refused.status_code == 409
    assert not wave.comparisons.exists()
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    page = client.get(address(wave.survey))
    assert 'id="pairs-title"' in page.content.decode()
    compare(wave, kind="table", outcome="q1", group="q2")


def test_the_page_says_if_and_which_blocks_are_compared_where_few_share_them() -> None:
    wave = make_wave(questions=5, drawn=3)
    send_people(wave, people=300)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    client = sign_in(wave.survey.owner)
    for crosses, sentence in ((True, "questions from more than 2 blocks"), (False, BLOCKS_APART)):
        RowsFile.objects.update(has_files_of_blocks=True, crosses_files=crosses)
        assert sentence in text_of(client.get(address(wave.survey)))
    refused = choose(client, wave.survey, kind="table", outcome="q1", group="q2")
    assert refused.status_code == 422
    assert text_of(refused).count(BLOCKS_APART) > 1  # in the notice, and at the form


def test_two_questions_are_compared_from_the_form_to_the_sentence() -> None:
    wave = make_answered_wave(people=3000)
    client = sign_in(wave.survey.owner)
    choose(client, wave.survey, kind="table", outcome="q2", group="q1")
    comparison = Comparison.objects.get()
    page = address(wave.survey, "comparison", pk=comparison.pk)
    waiting = client.get(page)
    assert 'id="progress"' in waiting.content.decode()
    assert "hx-get" in waiting.content.decode()
    panel = address(wave.survey, "comparison_panel", pk=comparison.pk)
    assert client.get(panel).status_code == 200
    comparison = compute(comparison)
    assert client.get(panel).status_code == 286  # the page stops polling
    done = client.get(page)
    words = text_of(done)
    assert "hx-get" not in done.content.decode()
    assert plain(f"{TRIED} {NEXT_TIME}") in words
    assert comparison.result is not None
    first, second = (
        round(100 * comparison.result[share]["estimate"])
        for share in ("share_first", "share_second")
    )
    assert f"Difference {first - second} points (" in words
    assert "Yes to Q1:" in words
    assert "said Yes to Q2; No to Q1:" in words
    assert re.search(r"Yes to Q1 about 1,\d+ people", words)
    assert f"{RELATED}." in words
    assert "hold at 95 % for all looks together" in words
    assert "Q2 by Q1" in words


def test_a_difference_that_may_be_zero_is_described_as_such() -> None:
    wave = make_wave(questions=2)
    send_many(wave, [bytes([number % 2, number // 2 % 2]) for number in range(1000)])
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    client, comparison = compare(wave, kind="table", outcome="q1", group="q2")
    words = text_of(client.get(address(wave.survey, "comparison", pk=comparison.pk)))
    assert MAY_BE_ZERO in words


def test_too_few_people_are_told_instead_of_an_interval_from_0_to_100() -> None:
    wave = make_answered_wave(people=60)
    client, comparison = compare(wave, kind="table", outcome="q1", group="q2")
    words = text_of(client.get(address(wave.survey, "comparison", pk=comparison.pk)))
    assert "Too few people took part (60) to say anything." in words
    assert "100)" not in words
    assert {row["reliability"] for row in read_csv(client, wave.survey, comparison)} == {
        "",
        "not_shown",
    }


def test_a_regression_shows_odds_ratios_and_says_what_they_do_not_mean() -> None:
    wave = make_answered_wave(people=4000, cap=4000, ending=Wave.Ending.CAP)
    client, comparison = compare(
        wave, kind="regression", outcome="q1", predictor_1="q3", predictor_5="q2"
    )
    assert comparison.names == ["q1", "q2", "q3"]  # in the order of the survey
    words = text_of(client.get(address(wave.survey, "comparison", pk=comparison.pk)))
    assert "Q1 explained by Q2 and Q3" in words
    assert "Yes to Q2" in words
    assert "not causes" in words
    assert f"{plain(TRIED)} {AT_CAP}" in words
    assert "hold at 95 % for both predictors together" in words


def test_the_page_of_all_pairs_links_to_each_pair() -> None:
    wave = make_answered_wave(people=3000)
    client, comparison = compare(wave, kind="pairs")
    response = client.get(address(wave.survey, "comparison", pk=comparison.pk))
    words = text_of(response)
    assert "Q1 and Q2 Question 1? · Question 2? related: Yes to both more often" in words
    assert A_PLACE_TO_START in words
    assert response.content.decode().count('name="kind" value="table"') == 3


@pytest.mark.parametrize(
    ("chosen", "advice"),
    [
        ({}, CHOOSE_KIND),
        ({"kind": "cake"}, CHOOSE_KIND),
        ({"kind": "table", "outcome": "q1", "group": ""}, TWO_QUESTIONS),
        ({"kind": "table", "outcome": "q1", "group": "q1"}, DIFFERENT_QUESTIONS),
        ({"kind": "table", "outcome": "q1", "group": "q77"}, UNKNOWN_QUESTION),
        ({"kind": "regression", "outcome": "q1"}, NO_PREDICTOR),
        ({"kind": "regression", "predictor_1": "q1", "predictor_2": "q2"}, NO_PREDICTOR),
        (
            {"kind": "regression", "outcome": "q1", "predictor_1": "q1", "predictor_6": "q2"},
            OUTCOME_AS_PREDICTOR,
        ),
        ({"kind": "regression", "outcome": "q1", "predictor_1": "x' OR 1=1"}, UNKNOWN_QUESTION),
    ],
)
def test_bad_choices_say_what_to_do_and_keep_what_was_chosen(
    chosen: dict[str, Any], advice: str
) -> None:
    wave = make_answered_wave(people=60)
    client = sign_in(wave.survey.owner)
    response = choose(client, wave.survey, **chosen)
    assert response.status_code == 422
    assert advice in text_of(response)
    html = response.content.decode()
    if chosen.get("outcome"):
        assert re.search(r'value="q1"\s+selected', html)
    if "predictor_6" in chosen:
        assert re.search(r"<details open>\s*<summary>More predictors", html)
        assert re.search(r'name="predictor_6".*?value="q2" selected', html, re.DOTALL)
    assert not Comparison.objects.exists()


@pytest.mark.parametrize(
    ("chosen", "field"),
    [
        ({"kind": "table"}, "table_outcome"),
        ({"kind": "table", "outcome": "q1"}, "table_group"),
        ({"kind": "table", "outcome": "q1", "group": "q77"}, "table_group"),
        ({"kind": "regression", "predictor_1": "q2"}, "regression_outcome"),
        ({"kind": "regression", "outcome": "q1"}, "regression_predictor_1"),
    ],
)
def test_an_error_is_shown_at_its_field_and_the_summary_links_to_it(
    chosen: dict[str, Any], field: str
) -> None:
    wave = make_answered_wave(people=60)
    html = choose(sign_in(wave.survey.owner), wave.survey, **chosen).content.decode()
    assert f'id="{field}_error"' in html
    [link] = re.findall(r'class="error-summary".*?href="#([^"]+)"', html, re.DOTALL)
    assert link == field
    assert f'id="{link}"' in html


def test_below_the_display_minimum_there_is_nothing_to_compare() -> None:
    survey = field(make_launched_survey(display_minimum=1000), yes=[80, 100], total=200)
    client = sign_in(survey.owner)
    response = client.get(address(survey))
    assert "closed with fewer than the 1,000 sealed reports that results need" in text_of(response)
    assert choose(client, survey, kind="pairs").status_code == 409
    assert not Comparison.objects.exists()


def test_an_open_survey_says_when_comparisons_appear() -> None:
    wave = make_launched_survey(display_minimum=1000)
    words = text_of(sign_in(wave.survey.owner).get(address(wave.survey)))
    assert "Comparisons appear after 1,010 reports, or when the survey closes." in words


def test_a_survey_that_closed_empty_promises_no_comparisons() -> None:
    wave = make_launched_survey()
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    words = text_of(sign_in(wave.survey.owner).get(address(wave.survey)))
    assert "The survey closed before anyone sent a report." in words
    assert "appear once" not in words


def test_a_draft_has_nothing_to_compare() -> None:
    survey = make_survey()
    assert "This survey is a draft." in text_of(sign_in(survey.owner).get(address(survey)))


def test_a_single_question_has_nothing_to_be_compared_with() -> None:
    survey = field(make_launched_survey(questions=["Only one?"]), yes=[80], total=200)
    page = sign_in(survey.owner).get(address(survey)).content.decode()
    assert 'id="nothing-to-compare"' in page


def test_a_failure_says_what_to_do() -> None:
    wave = make_answered_wave(people=60)
    client, comparison = compare(wave, kind="table", outcome="q1", group="q2")
    Comparison.objects.filter(pk=comparison.pk).update(
        state="failed", result=None, problem="The table is empty."
    )
    response = client.get(address(wave.survey, "comparison", pk=comparison.pk))
    words = text_of(response)
    assert "There is no result. The table is empty." in words
    file = address(wave.survey, "comparison_csv", pk=comparison.pk)
    assert client.get(file).status_code == 404


def test_impossible_codes_come_with_a_warning_instead_of_a_finding() -> None:
    wave = make_wave(questions=2, cap=200)
    send_many(wave, [bytes([i % 2, 1 - i % 2]) for i in range(200)])
    close_wave(wave_id=wave.pk, ending=Wave.Ending.CAP)
    process(wave)
    client, comparison = compare(wave, kind="table", outcome="q1", group="q2")
    words = text_of(client.get(address(wave.survey, "comparison", pk=comparison.pk)))
    assert IMPOSSIBLE in words
    assert plain(TRIED) not in words
    assert SELDOM_BY_CHANCE in words
    [row, *_] = read_csv(client, wave.survey, comparison)
    assert row["standing"] == "contradiction"


def test_the_verdict_is_that_of_the_interval() -> None:
    """Pearson's test on these reports rejects (p = .039), but the interval includes 0."""
    wave = make_wave(questions=2)
    rows = [[0, 0]] * 68 + [[0, 1]] * 37 + [[1, 0]] * 21 + [[1, 1]] * 24
    send_many(wave, [bytes(row) for row in rows] * 8)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    client, comparison = compare(wave, kind="table", outcome="q1", group="q2")
    assert comparison.result is not None
    low, high = (comparison.result["difference"][end] for end in ("low", "high"))
    words = text_of(client.get(address(wave.survey, "comparison", pk=comparison.pk)))
    assert (MAY_BE_ZERO in words) == (low <= 0 <= high) == (RELATED not in words)


def test_a_single_code_leaves_nothing_to_test() -> None:
    wave = make_wave(questions=2)
    send_many(wave, [bytes([i % 3 == 0, i % 2]) for i in range(60)])
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    client, comparison = compare(wave, kind="pairs")
    result = comparison.result
    assert result is not None
    Comparison.objects.update(
        result={**result, "pairs": [{**result["pairs"][0], "method": "no_variation"}]}
    )
    page = client.get(address(wave.survey, "comparison", pk=comparison.pk))
    assert "none" in text_of(page)


def test_an_interval_without_a_limit_is_only_in_the_file() -> None:
    wave = make_answered_wave(people=60)
    client, comparison = compare(wave, kind="table", outcome="q1", group="q2")
    assert comparison.result is not None
    assert comparison.result["odds_ratio"]["high"] == "inf"
    words = text_of(client.get(address(wave.survey, "comparison", pk=comparison.pk)))
    assert "no upper limit" not in words
    rows = by_name(read_csv(client, wave.survey, comparison))
    odds_ratio = rows["odds_ratio", "estimate"]
    assert odds_ratio["high"] == "inf"
    assert odds_ratio["thresholds"] == "3221225472;3221225472"
    assert rows["difference", "estimate"]["method"] == "profile_likelihood"


def test_a_page_that_waits_for_a_deleted_comparison_is_reloaded() -> None:
    wave = make_answered_wave(people=60)
    client, comparison = compare(wave, kind="table", outcome="q1", group="q2")
    panel = address(wave.survey, "comparison_panel", pk=comparison.pk)
    comparison.delete()
    assert client.get(panel).status_code == 404
    assert client.get(panel, headers={"HX-Request": "true"})["HX-Refresh"] == "true"


@pytest.mark.parametrize(
    ("cap", "ending", "advice"),
    [
        (None, Wave.Ending.OWNER, AS_A_WHOLE),
        (600, Wave.Ending.CAP, f"{AS_A_WHOLE} {AT_CAP}"),
        (600, Wave.Ending.DATE, AS_A_WHOLE),
    ],
)
def test_the_label_says_what_would_make_the_figures_valid(
    cap: int | None, ending: Wave.Ending, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In a test, all reports come within seconds.
    monkeypatch.setattr(sentences, "describe_burst", lambda results: "")
    wave = make_answered_wave(cap=cap, ending=ending)
    client = sign_in(wave.survey.owner)
    assert plain(advice) in text_of(client.get(address(wave.survey)))


def test_the_comparison_of_another_survey_is_not_found() -> None:
    wave = make_answered_wave(people=60)
    client, comparison = compare(wave, kind="table", outcome="q1", group="q2")
    other = make_survey(owner=wave.survey.owner)
    assert client.get(address(other, "comparison", pk=comparison.pk)).status_code == 404


def read_csv(client: Client, survey: Survey, comparison: Comparison) -> list[dict[str, str]]:
    response = client.get(address(survey, "comparison_csv", pk=comparison.pk))
    assert response.status_code == 200
    assert "RANDOMIZED" in response["Content-Disposition"]
    text = response.content.decode()
    assert text.endswith("\r\n")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert all(None not in row and None not in row.values() for row in rows)
    header = text.partition("\r\n")[0].split(",")
    assert len(header) == len(set(header))
    return rows


def by_name(rows: list[dict[str, str]]) -> dict[tuple[str, str], dict[str, str]]:
    """Index the rows of a file by subject and quantity."""
    named = {(row["row"], row["quantity"]): row for row in rows}
    assert len(named) == len(rows)
    return named


def list_numbers(stored: Any) -> set[str]:
    """List every number of a stored result in the form in which files write it."""
    if isinstance(stored, dict):
        return set().union(*(list_numbers(value) for value in stored.values()))
    if isinstance(stored, list):
        return set().union(*(list_numbers(value) for value in stored))
    is_number = isinstance(stored, int | float) and not isinstance(stored, bool)
    return {repr(stored)} if is_number else set()


def test_the_file_of_two_questions_holds_every_number() -> None:
    wave = make_answered_wave(people=3000)
    client, comparison = compare(wave, kind="table", outcome="q2", group="q1")
    rows = read_csv(client, wave.survey, comparison)
    estimates = {row["row"] for row in rows if row["section"] == "estimates"}
    assert estimates == {
        "share_where_group_yes",
        "share_where_group_no",
        "difference",
        "odds_ratio",
        "log_odds_ratio",
        "phi",
    }
    assert comparison.result is not None
    assert list_numbers(comparison.result) <= {cell for row in rows for cell in row.values()}
    named = by_name(rows)
    assert float(named["share_where_group_yes", "raw"]["standard_error"]) > 0
    difference = named["difference", "estimate"]
    assert float(difference["low"]) == comparison.result["difference"]["low"]
    assert (difference["standing"], difference["kind"]) == ("looks", "table")
    assert (difference["first"], difference["second"]) == ("question_b", "question_a")
    p_value = named["independence", "p_value"]
    assert (p_value["method"], float(p_value["value"])) == (
        "latent_likelihood_ratio",
        comparison.result["test"]["p_value"],
    )
    cells = [row for row in rows if row["section"] == "cells"]
    counts = [int(row["value"]) for row in cells if row["quantity"] == "count"]
    assert sum(counts) == int(cells[0]["n"]) == 3000
    shares = [float(row["value"]) for row in cells if row["quantity"] == "raw_share"]
    assert sum(shares) == pytest.approx(1)
    # The order is rows before columns: the second cell is No to the outcome and Yes to the group.
    assert int(named["0;1", "count"]["value"]) == comparison.result["counts"][0][1]


def test_the_files_of_regression_and_pairs_hold_every_number() -> None:
    wave = make_answered_wave(people=4000)
    client, comparison = compare(wave, kind="regression", outcome="q1", predictor_1="q2")
    rows = read_csv(client, wave.survey, comparison)
    named = by_name(rows)
    assert {(row["row"], row["first"], row["second"]) for row in rows} == {
        ("intercept", "question_a", ""),
        ("question_b=1", "question_a", "question_b"),
    }
    assert float(named["question_b=1", "odds_ratio"]["value"]) > 1
    assert ("intercept", "adjusted_p_value") not in named
    intervals = ("coefficient", "odds_ratio", "adjusted_share", "adjusted_difference")
    assert {named["question_b=1", kind]["method"] for kind in intervals} == {"profile_likelihood"}
    assert comparison.result is not None
    left_out = {repr(comparison.result[name]) for name in ("cells", "log_likelihood")}
    cells = {cell for row in rows for cell in row.values()}
    assert list_numbers(comparison.result) - left_out <= cells
    comparison.delete()
    client, comparison = compare(wave, kind="pairs")
    rows = read_csv(client, wave.survey, comparison)
    assert [(row["first"], row["second"]) for row in rows[::9]] == [
        ("question_a", "question_b"), ("question_a", "question_c"), ("question_b", "question_c")
    ]  # fmt: skip
    assert {row["section"] for row in rows} == {"pairs"}
    assert list_numbers(comparison.result) <= {cell for row in rows for cell in row.values()}
