"""Choices, scales and background groups as predictors, from the menu to the downloaded file."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
from django.urls import reverse
from scipy.special import expit

from aggregator.background.levels import Levels, read_background, write_background
from aggregator.comparisons.analysis import analyse_regression
from aggregator.comparisons.choice import (
    NOT_IN_ROWS,
    ONE_GROUP,
    check_choice,
    settle_answers,
)
from aggregator.comparisons.empty_groups import check_not_empty
from aggregator.comparisons.planned import request_planned
from aggregator.comparisons.result import RegressionResult, TooFewToShow
from aggregator.comparisons.sentences import UNCLEAR
from aggregator.comparisons.standing import find_standing
from aggregator.comparisons.words.regression_sentences import NOT_AT_LOOKS, write_terms
from aggregator.models import Comparison, RawReport, RowsFile
from aggregator.results.sentences import TOO_FEW
from aggregator.simulation.respondents import randomize_answers
from surveys.authoring.services import add_question, plan_comparison
from surveys.comparing.choice import ONE_ANSWER, SAME_QUESTION, TOO_LARGE, NotComparable
from surveys.comparing.indicators import Factor, find_indicators, list_predictors
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from surveys.models import Survey, Wave
from tests.support.breakdowns.waves import finish, send_rows
from tests.support.comparisons import ask, compute
from tests.support.factories import make_survey, open_survey
from tests.support.fielding import sign_in
from tests.support.reading import text_of

pytestmark = pytest.mark.django_db
Kind = Comparison.Kind
GROUPS = ("Ward A", "Ward B", "Ward C", "Ward D")


def make_study() -> Survey:
    """Make a survey: Q1 is the outcome, Q2 a choice, Q3 a scale, and Q4 a background question."""
    survey = make_survey(questions=["Hurt?"])
    places = ["Home", "Work", "School"]
    add_question(survey=survey, type=QuestionType.CHOICE, text="Where?", options=places)
    add_question(survey=survey, type=QuestionType.SCALE, text="How often?", minimum=1, maximum=4)
    add_question(survey=survey, type=QuestionType.DECLARED, text="Ward?", options=list(GROUPS))
    return survey


@pytest.fixture
def wave() -> Wave:
    return open_survey(survey=make_study())


def answer(wave: Wave, *, people: int, wards: int = 3) -> None:
    """Send answers in which Q1 depends on Q2 and Q3, and only the first `wards` wards occur."""
    manifest, draw = wave.description, random.Random(4)
    rows = []
    for _ in range(people):
        place, often, ward = draw.randrange(3), draw.randrange(4), draw.randrange(wards)
        hurt = draw.random() < expit((-2.0, -2.0, 0.2)[place] + 0.4 * often)
        answers = {"q1": int(hurt), "q2": place, "q3": often, "q4": ward}
        rows.append(
            randomize_answers(manifest, answers, random_uint32=lambda: draw.getrandbits(32))
        )
    send_rows(wave, rows)


def make_rows_file(*levels: tuple[int, ...], hidden: tuple[int, ...] = ()) -> RowsFile:
    kept = write_background((Levels(question="q4", levels=levels, hidden=frozenset(hidden)),))
    return RowsFile(proposed=kept, chosen=kept)


def refuse(manifest: Manifest, *names: str, rows_file: RowsFile | None = None, **more: Any) -> str:
    chosen = {"kind": Kind.REGRESSION, "is_final": True, **more}
    try:
        check_choice(manifest=manifest, names=names, rows_file=rows_file, **chosen)
    except NotComparable as error:
        return str(error)
    return ""


def test_questions_with_several_answers_are_factors(wave: Wave) -> None:
    manifest = wave.description
    factors = [one for one in list_predictors(manifest) if isinstance(one, Factor)]
    assert [one.name for one in factors] == ["q2.all", "q3.all", "q3.points", "q4.all"]
    assert [one.label for one in factors[1:3]] == ["Q3 (all answers)", "Q3 (per point)"]
    # The reference is the first category; the others keep their order.
    [school] = find_indicators(manifest, ["q2.all.2"])
    assert school.variable.categories == ((2,), (0,), (1,))
    assert school.variable.answered == 3


def test_a_declared_factor_has_the_groups_of_the_file_of_rows(wave: Wave) -> None:
    rows_file = make_rows_file((0,), (1, 2), (3,), hidden=(3,))
    names = ["q1", "q4.all.2"]
    assert refuse(wave.description, *names, rows_file=rows_file) == ""
    _, ward = settle_answers(find_indicators(wave.description, names), rows_file)
    # The people of the hidden group are counted, but the group has no coefficient.
    assert ward.variable.categories == ((1, 2), (0,), (3,))
    assert ward.variable.answered == 2
    few = make_rows_file((0, 1, 2), (3,), hidden=(3,))
    assert refuse(wave.description, *names, rows_file=few) == ONE_GROUP.format(number=4)
    without = RowsFile(proposed=[], chosen=[])
    assert refuse(wave.description, *names, rows_file=without) == NOT_IN_ROWS.format(number=4)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["q2.all", "q1"], ONE_ANSWER.format(number=2)),
        (["q1", "q2.all", "q2.1"], SAME_QUESTION),
        (["q1", "q3.all", "q3.points"], SAME_QUESTION),
    ],
)
def test_choices_that_make_no_regression_are_refused(
    wave: Wave, names: list[str], said: str
) -> None:
    assert refuse(wave.description, *names) == said


def test_a_table_has_one_answer_on_each_side(wave: Wave) -> None:
    for names, number in ((["q1", "q2.all"], 2), (["q3.points", "q1"], 3)):
        assert refuse(wave.description, *names, kind=Kind.TABLE) == ONE_ANSWER.format(number=number)


def test_too_many_combinations_are_refused_before_anything_is_queued() -> None:
    survey = make_survey(questions=["Hurt?"])
    for text in ("Where were you?", "Who paid?"):
        options = [f"{text} {number}" for number in range(32)]
        add_question(survey=survey, type=QuestionType.CHOICE, text=text, options=options)
    manifest = open_survey(survey=survey).description
    assert refuse(manifest, "q1", "q2.all", "q3.all") == TOO_LARGE
    assert refuse(manifest, "q1", "q2.all") == ""


@pytest.mark.usefixtures("static_files")
def test_a_regression_on_factors_from_the_menu_to_the_file(wave: Wave) -> None:
    answer(wave, people=30_000)
    wave = finish(wave, ending=Wave.Ending.DATE)
    client, slug = sign_in(wave.survey.owner), wave.survey.slug
    compare = reverse("aggregator:compare", args=[slug])
    menus = client.get(compare).content.decode()
    # Only the six menus of predictors have this option, once each.
    assert menus.count('<option value="q3.points">Q3 · per point</option>') == 6
    chosen = {"predictor_1": "q4.all", "predictor_2": "q2.all", "predictor_3": "q3.points"}
    client.post(compare, {"kind": "regression", "outcome": "q1", **chosen})
    comparison = compute(Comparison.objects.get())
    assert comparison.names == ["q1", "q2.all", "q3.points", "q4.all"]
    assert comparison.result is not None, comparison.problem
    terms = {term["name"]: term for term in comparison.result["terms"]}
    assert list(terms) == [
        "intercept", "q2.all=1-0", "q2.all=2-0", "q3.points", "q4.all=1-0", "q4.all=2-0"
    ]  # fmt: skip
    # The family has five coefficients and two tests of factors as a whole; nobody is in the last
    # ward.
    assert comparison.result["together"] == {"family": 7, "looks": 0}
    tests = {test["indicator"]: test for test in comparison.result["factors"]}
    assert {name: test["degrees_of_freedom"] for name, test in tests.items()} == {
        "q2.all": 2, "q4.all": 2
    }  # fmt: skip
    assert 7 * tests["q2.all"]["p_value"] < 0.001
    for name, truth in (("q2.all=2-0", 2.2), ("q3.points", 0.4), ("q4.all=1-0", 0.0)):
        assert terms[name]["low"] < truth < terms[name]["high"]
    page = client.get(reverse("aggregator:comparison", args=[slug, comparison.pk]))
    words = text_of(page)
    assert "“School” rather than “Home” (Q2) (higher odds)" in words
    assert "Q2 as a whole" in words
    assert "hold at 95 % for all 7 tests of this regression together" in words
    offered = re.findall(r'<option value="(q[24]\.all\.\d)">', page.content.decode())
    assert offered == ["q2.all.0", "q2.all.1", "q2.all.2", "q4.all.0", "q4.all.1", "q4.all.2"]
    file = client.get(reverse("aggregator:comparison_csv", args=[slug, comparison.pk]))
    rows = b"".join(file).decode()
    assert ",factors,ward.all,hurt,ward.all,degrees_of_freedom,2," in rows
    # A different reference changes the contrasts but not the model.
    chosen |= {"predictor_2": "q2.all.2"}
    client.post(compare, {"kind": "regression", "outcome": "q1", **chosen})
    again = compute(Comparison.objects.latest("pk")).result
    assert again is not None
    assert again["log_likelihood"] == pytest.approx(comparison.result["log_likelihood"])
    other = {term["name"]: term for term in again["terms"]}
    assert other["q2.all.2=0-2"]["coefficient"] == pytest.approx(
        -terms["q2.all=2-0"]["coefficient"], abs=1e-6
    )
    assert other["q2.all.2=0-2"]["low"] == pytest.approx(-terms["q2.all=2-0"]["high"], abs=1e-4)


def test_at_looks_a_factor_has_no_test_of_its_own(wave: Wave) -> None:
    indicators = find_indicators(wave.description, ["q1", "q2.all"])
    counts = np.array([[3200, 3000, 2800], [2600, 2800, 3000]])
    result = analyse_regression(indicators=indicators, counts=counts, times=[0.5])
    assert result.together.family == 3
    lines = write_terms(result, wave.description)
    assert [line.sentence for line in lines if "whole" in line.name] == [NOT_AT_LOOKS]
    assert {line.adjusted_p for line in lines} == {"–"}


def test_empty_groups_are_left_out(wave: Wave) -> None:
    indicators = find_indicators(wave.description, ["q1", "q4.all"])
    counts = np.array([[5, 0, 7, 0], [6, 0, 8, 0]])
    _, ward = check_not_empty(counts, indicators)
    assert ward.levels == ((0,), (2,))
    # If the reference group is empty, the next group becomes the reference.
    _, ward = check_not_empty(counts, find_indicators(wave.description, ["q1", "q4.all.1"]))
    assert ward.levels == ((0,), (2,))
    counts[:, 2] = 0
    with pytest.raises(TooFewToShow, match="All people are in one group of Q4"):
        check_not_empty(counts, indicators)


def test_a_reference_that_nobody_chose_leaves_the_other_predictors(wave: Wave) -> None:
    manifest, draw = wave.description, random.Random(3)
    send_rows(
        wave,
        [
            randomize_answers(
                manifest,
                {
                    "q1": draw.randrange(2),
                    "q2": draw.randrange(1, 3),
                    "q3": 1,
                    "q4": 0,
                },
                random_uint32=lambda: draw.getrandbits(32),
            )
            for _ in range(3000)
        ],
    )
    wave = finish(wave, ending=Wave.Ending.DATE)
    found = compute(ask(wave, Kind.REGRESSION, "q1", "q2.all"))
    result = find_standing(found).result
    assert isinstance(result, RegressionResult)
    lines = {line.name: line for line in write_terms(result, wave.description)}
    assert lines["“Work” rather than “Home” (Q2)"].sentence == TOO_FEW
    again = compute(ask(wave, Kind.REGRESSION, "q1", "q2.all.1"))
    other = find_standing(again).result
    assert isinstance(other, RegressionResult)
    lines = {line.name: line for line in write_terms(other, wave.description)}
    assert lines["“School” rather than “Work” (Q2)"].sentence == UNCLEAR
    assert lines["“Home” rather than “Work” (Q2)"].sentence == TOO_FEW
    assert other.log_likelihood == pytest.approx(result.log_likelihood, abs=1e-4)


def test_a_planned_factor_has_the_groups_that_the_rows_could_keep() -> None:
    survey = make_study()
    plan_comparison(survey=survey, names=["q1", "q4.all"])
    wave = open_survey(survey=survey)
    answer(wave, people=1200, wards=4)
    # The third ward is too small to be a level of the rows.
    few = [report for report in RawReport.objects.filter(wave=wave) if report.symbols[3] == 2]
    RawReport.objects.filter(pk__in=[report.pk for report in few[wave.crowd - 1 :]]).delete()
    wave = finish(wave, ending=Wave.Ending.DATE)
    request_planned(wave_id=wave.pk)
    comparison = compute(Comparison.objects.get(planned=True))
    assert comparison.result is not None, comparison.problem
    told = {term["name"] for term in comparison.result["terms"]} - {"intercept"}
    levels = read_background(RowsFile.objects.get().chosen or [])[0].shown
    assert len(told) == len(levels) - 1 < 3
    # The plan counts a test for every ward but one, and a test of the factor as a whole.
    assert comparison.result["together"]["family"] == 4
