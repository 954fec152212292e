"""Figures of comparisons as rows: their axes and ends, the sizes of groups, and the sentence."""

from __future__ import annotations

from dataclasses import replace
from math import exp, inf, log

import pytest

from aggregator.comparisons.result import RegressionResult, Term, Together, TwoQuestionsResult
from aggregator.comparisons.sentences import UNCLEAR, write_end, write_range
from aggregator.comparisons.words.figure_rows import list_group_rows, list_ratio_rows
from aggregator.comparisons.words.regression_sentences import (
    HIGHER,
    NO_EFFECT,
    NO_EFFECT_OF_ONE,
    summarize_terms,
    write_terms,
)
from aggregator.comparisons.words.two_questions_sentences import (
    describe_difference,
    describe_verdict,
    round_roughly,
    write_difference,
    write_estimates,
)
from aggregator.results.sentences import MAY_BE_ZERO, TOO_FEW
from privacy.associations.contradictions import Contradiction
from privacy.associations.latent_regression import AdjustedShare, AdjustedShares
from privacy.associations.significance import SignificanceTest
from privacy.associations.two_questions import AssociationEstimate
from surveys.authoring.drafts import build_manifest
from surveys.authoring.services import add_question
from surveys.axis import Whisker
from surveys.comparing.indicators import Indicator, list_indicators
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from tests.support.factories import make_survey

pytestmark = pytest.mark.django_db


@pytest.fixture
def manifest() -> Manifest:
    """Make a survey of a yes/no, ward, choice, several, scale, number and follow-up question."""
    survey = make_survey(questions=["Tired?"])
    types = QuestionType
    wards = ["Nursing staff", "Physicians"]
    add_question(survey=survey, text="Ward?", type=types.DECLARED, options=wards, refusal=True)
    add_question(survey=survey, text="Who?", type=types.CHOICE, options=["Nobody", "A" * 200])
    add_question(survey=survey, text="What?", type=types.SEVERAL, options=["Sleep", "Food"])
    add_question(survey=survey, text="How often?", type=types.SCALE, minimum=1, maximum=5)
    add_question(survey=survey, text="Hours?", type=types.NUMBER, minimum=10, maximum=30, unit="h")
    add_question(survey=survey, text="Ever?", type=types.FOLLOW_UP, follow_up="This year?")
    return build_manifest(survey=survey, wave_number=1)


def find(manifest: Manifest, name: str) -> Indicator:
    return next(one for one in list_indicators(manifest) if one.name == name)


def figure(
    estimate: float | None, low: float, high: float, *, design_error: float | None = 0.05
) -> AssociationEstimate:
    return AssociationEstimate(
        raw=estimate,
        standard_error=0.1,
        estimate=estimate,
        low=low,
        high=high,
        level=0.95,
        design_error=design_error,
    )


def make_result(
    *,
    first: AssociationEstimate,
    second: AssociationEstimate,
    difference: AssociationEstimate,
    outcome_range: tuple[int, int] | None = None,
) -> TwoQuestionsResult:
    """Make a result for 1,150 reports that say Yes to the group question, and 850 that say No."""
    nothing = figure(0.0, -1.0, 1.0)
    table = ((0.3, 0.4), (0.1, 0.2))
    return TwoQuestionsResult(
        n=2000,
        together=Together(family=1, looks=0),
        contradiction=Contradiction(after_fixed_end=False, while_watched=False),
        outcome_range=outcome_range,
        counts=((800, 1000), (50, 150)),
        shares=table,
        standard_errors=table,
        joint_shares=((0.31, 0.52), (0.06, 0.11)),
        share_first=first,
        share_second=second,
        difference=difference,
        odds_ratio=nothing,
        log_odds_ratio=nothing,
        phi=nothing,
        test=SignificanceTest(method="pearson", statistic=1.0, degrees_of_freedom=1, p_value=0.03),
    )


STAFF = make_result(
    first=figure(0.15, 0.08, 0.21),
    second=figure(0.04, 0.0, 0.12),
    difference=figure(0.1, 0.01, 0.2),
)


def test_a_difference_is_told_with_both_groups_and_their_intervals(manifest: Manifest) -> None:
    outcome, group = find(manifest, "q1"), find(manifest, "q2.0")
    said = describe_difference(STAFF, outcome, group).replace("\N{NO-BREAK SPACE}", " ")
    assert said == (
        "Nursing staff: 15 % (8–21) said Yes to Q1; everyone else: 4 % (0–12). "
        "Difference 11 points (1–20)."
    )


@pytest.mark.parametrize(
    ("shares", "written"),
    [
        ((0.334, 0.128), "20 points"),  # 33 % and 13 %; the exact difference is 20.6
        ((0.294, 0.296), "\N{MINUS SIGN}1 point"),  # 29 % and 30 %
        ((0.296, 0.304), "0 points"),
        ((0.01, 0.02), "\N{MINUS SIGN}1 point"),
    ],
)
def test_the_difference_is_that_of_the_shares_as_shown(
    shares: tuple[float, float], written: str
) -> None:
    first, second = shares
    one = make_result(
        first=figure(first, 0.0, 0.4),
        second=figure(second, 0.0, 0.4),
        difference=figure(first - second, -0.02, 0.2),
    )
    assert write_difference(one) == f"{written} (\N{MINUS SIGN}2 to 20)"


MINUS = "\N{MINUS SIGN}"
SAY, SHOW = "to say anything.", "to show each share."
WIDE = figure(-0.2, -0.6, 0.5)
OF_DIFFERENCE = f"Difference {MINUS}20 points† ({MINUS}30 to {MINUS}10)."


@pytest.mark.parametrize(
    ("first", "second", "difference", "said", "texts"),
    [
        # The first interval spans every value, although the design would be precise enough.
        (
            figure(0.38, 0.0, 1.0),
            figure(0.1, 0.05, 0.15),
            WIDE,
            f"Too few people said Yes to Q1 (about 1,300) {SAY}",
            (TOO_FEW, "10 % (5–15)", TOO_FEW),
        ),
        # The design is not precise enough, whatever the reports say.
        (
            figure(0.1, 0.0, 0.2),
            figure(0.0, 0.0, 0.2, design_error=0.2),
            figure(-0.2, -0.3, 0.1, design_error=0.3),
            f"Too few people said No to Q1 (about 740) {SAY}",
            ("10 % (0–20)", TOO_FEW, TOO_FEW),
        ),
        (
            figure(0.1, 0.0, 0.9),
            figure(0.0, 0.0, 0.9),
            WIDE,
            f"Too few people took part (2,000) {SAY}",
            (TOO_FEW, TOO_FEW, TOO_FEW),
        ),
        # The difference may be precise enough even if the shares are not.
        (
            figure(0.9, 0.4, 1.0),
            figure(0.2, 0.0, 0.52),
            figure(0.7, 0.2, 1.0),
            f"Too few people took part (2,000) {SHOW} Difference 70 points (20–100).",
            (TOO_FEW, TOO_FEW, "70 points (20–100)"),
        ),
        (
            figure(0.1, 0.0, 0.3, design_error=0.1),
            figure(0.3, 0.2, 0.4),
            figure(-0.2, -0.3, -0.1, design_error=0.2),
            f"Yes to Q1: 10 %† (0–30) chose “Nobody” (Q3); No to Q1: 30 % (20–40). {OF_DIFFERENCE}",
            ("10 %† (0–30)", "30 % (20–40)", f"{MINUS}20 points† ({MINUS}30 to {MINUS}10)"),
        ),
    ],
)
def test_figures_have_the_classes_of_the_results_page(
    manifest: Manifest,
    first: AssociationEstimate,
    second: AssociationEstimate,
    difference: AssociationEstimate,
    said: str,
    texts: tuple[str, ...],
) -> None:
    result = make_result(first=first, second=second, difference=difference)
    outcome, group = find(manifest, "q3.0"), find(manifest, "q1")
    rows = list_group_rows(result, outcome, group)
    assert tuple(row.text.replace("\N{NO-BREAK SPACE}", " ") for row in rows) == texts
    assert [row.whisker is None for row in rows] == [text == TOO_FEW for text in texts]
    assert describe_difference(result, outcome, group).replace("\N{NO-BREAK SPACE}", " ") == said
    if texts[2] == TOO_FEW:
        assert (describe_verdict(result), write_estimates(result, outcome, group)) == ("", [])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("q1", "said No to Q1"),
        ("q2.1", "are outside “Physicians” (Q2)"),
        ("q3.0", "did not choose “Nobody” (Q3)"),
    ],
)
def test_the_group_that_is_too_small_is_named(manifest: Manifest, name: str, said: str) -> None:
    result = make_result(
        first=figure(0.1, 0.0, 0.2), second=figure(0.5, 0.0, 1.0), difference=figure(0, -1.0, 1.0)
    )
    sentence = describe_difference(result, find(manifest, "q5.2"), find(manifest, name))
    assert sentence.startswith(f"Too few people {said} (")


@pytest.mark.parametrize(
    ("name", "yes", "no", "said"),
    [
        ("q1", "Yes to Q1", "No to Q1", "said Yes to Q1"),
        ("q3.0", "“Nobody” (Q3)", "other answers to Q3", "chose “Nobody” (Q3)"),
        ("q4.1", "“Sleep” (Q4)", "not “Sleep” (Q4)", "chose “Sleep” (Q4)"),
        ("q5.2", "“3 or more” (Q5)", "lower answers to Q5", "chose “3 or more” (Q5)"),
        (
            "q7.follow_up",
            "Yes to the follow-up of Q7",
            "No to the follow-up of Q7",
            "said Yes to the follow-up of Q7",
        ),
        (
            "q2.1",
            "“Physicians” (Q2)",
            "everyone else (Q2)",
            "are in “Physicians” (Q2)",
        ),
    ],
)
def test_answers_are_named_as_people_say_them(
    manifest: Manifest, name: str, yes: str, no: str, said: str
) -> None:
    indicator = find(manifest, name)
    assert (indicator.yes_text, indicator.no_text, indicator.said_text) == (yes, no, said)


def test_a_long_answer_is_cut_in_sentences_and_menus(manifest: Manifest) -> None:
    indicator = find(manifest, "q3.1")
    assert indicator.choice_text == f"Q3 · {'A' * 59}…"
    assert len(indicator.label) < 70


def test_sizes_of_declared_groups_are_counted_and_others_estimated(manifest: Manifest) -> None:
    rows = list_group_rows(STAFF, find(manifest, "q1"), find(manifest, "q2.0"))
    assert [row.detail for row in rows] == ["n = 1,150", "n = 850", ""]
    rows = list_group_rows(STAFF, find(manifest, "q2.0"), find(manifest, "q1"))
    # 63 % of 2,000 people said Yes, and 37 % said No.
    assert [row.detail for row in rows] == ["about 1,300 people", "about 740 people", ""]
    assert [row.label for row in rows] == ["Yes to Q1", "No to Q1", "Difference"]


@pytest.mark.parametrize(
    ("number", "written"), [(0.2, 0), (9.6, 10), (63.4, 63), (639, 640), (2108, 2100)]
)
def test_estimated_sizes_have_two_digits(number: float, written: int) -> None:
    assert round_roughly(number) == written


def test_shares_and_their_difference_have_axes_of_their_own(manifest: Manifest) -> None:
    first, second, difference = list_group_rows(STAFF, find(manifest, "q1"), find(manifest, "q2.0"))
    assert (first.whisker, first.reference) == (Whisker(low=0.08, value=0.15, high=0.21), "")
    assert second.axis == first.axis
    # The axis runs from -20 to 20 points: 0 is in the middle, and 10 is three quarters along.
    assert (difference.axis.least, difference.axis.greatest) == (-0.2, 0.2)
    assert difference.reference == "50.00%"
    assert difference.whisker == Whisker(low=0.525, value=0.75, high=1)


def test_the_mean_of_a_number_is_on_the_range_of_its_question(manifest: Manifest) -> None:
    result = make_result(
        first=figure(0.5, 0.4, 0.6),
        second=figure(0.4, 0.3, 0.5),
        difference=figure(0.1, -0.05, 0.25),
        outcome_range=(10, 30),
    )
    outcome, group = find(manifest, "q6"), find(manifest, "q1")
    first, _, difference = list_group_rows(result, outcome, group)
    assert (first.text, first.axis.ends) == ("20.0 (18.0–22.0)", ("10 h", "30 h"))
    assert first.whisker == Whisker(low=0.4, value=0.5, high=0.6)
    assert difference.text == "2.0 (\N{MINUS SIGN}1.0 to 5.0)"
    assert describe_difference(result, outcome, group) == (
        "Mean of Q6: Yes to Q1 20.0 (18.0–22.0); No to Q1 18.0 (16.0–20.0). "
        f"Difference 2.0 (\N{MINUS SIGN}1.0 to 5.0). {MAY_BE_ZERO}"
    )


def test_a_group_that_may_be_empty_has_no_dot(manifest: Manifest) -> None:
    unknown = figure(None, 0.0, 1.0)
    result = make_result(
        first=unknown, second=figure(0.4, 0.3, 0.5), difference=figure(None, -1.0, 1.0)
    )
    rows = list_group_rows(result, find(manifest, "q1"), find(manifest, "q3.0"))
    assert [bool(row.whisker) for row in rows] == [False, True, False]
    assert rows[0].text == TOO_FEW


def make_term(
    name: str, coefficient: float, low: float, high: float, *, share_high: float = 0.5
) -> Term:
    share = AdjustedShare(estimate=0.4, low=0.3, high=share_high)
    return Term(
        name=name,
        coefficient=coefficient,
        standard_error=0.1,
        low=low,
        high=high,
        odds_ratio=exp(coefficient),
        odds_ratio_low=exp(low),
        odds_ratio_high=inf if high == inf else exp(high),
        adjusted=AdjustedShares(
            name=name,
            share=share,
            reference=replace(share, estimate=0.2),
            difference=AdjustedShare(estimate=0.2, low=0.1, high=0.3),
        ),
        statistic=1.0,
        p_value=0.01,
    )


def test_odds_ratios_are_on_a_logarithmic_axis_around_one(manifest: Manifest) -> None:
    result = RegressionResult(
        n=100,
        together=Together(family=4, looks=0),
        contradiction=Contradiction(after_fixed_end=False, while_watched=False),
        cells=8,
        log_likelihood=-1.0,
        level=0.95,
        terms=(
            replace(make_term("intercept", 9.0, 8.0, 10.0), adjusted=None),
            make_term("q1=1", log(2), log(1.5), log(3)),
            make_term("q3.0=1", log(2), -inf, inf),
            make_term("q4.1=1", log(2), log(0.5), log(4), share_high=0.7),
            make_term("q4.2=1", log(12), log(1.1), log(60)),
        ),
        factors=(),
    )
    # The rows leave out the base odds.
    first, second, third, fourth = list_ratio_rows(result, manifest)
    assert (first.label, first.text, first.axis.ends) == (
        "Yes to Q1",
        "2.00 (1.50–3.00)",
        ("1/5", "5"),
    )
    assert first.reference == "50.00%"
    # log 2, log 1.5 and log 3, on an axis from -log 5 to log 5.
    assert first.whisker == Whisker(low=0.626, value=0.7153, high=0.8413)
    # An interval wider than a factor of 50 is not shown, so the question is not called related
    # either.
    assert [row.whisker for row in (second, fourth)] == [None, None]
    assert [row.text for row in (second, fourth)] == [TOO_FEW, TOO_FEW]
    assert third.text == "2.00† (0.50–4.00)"
    lines = write_terms(result, manifest)
    assert [line.sentence for line in lines] == [HIGHER, TOO_FEW, UNCLEAR, TOO_FEW]
    assert lines[0].difference == "20 points (10–30)"
    assert lines[0].adjusted_p == "0.040"
    assert summarize_terms(lines) == (
        "Related to the outcome, while the other answers stay the same: Yes to Q1 (higher odds)."
    )
    assert summarize_terms(lines[1:]) == NO_EFFECT
    assert summarize_terms(lines[2:3]) == NO_EFFECT_OF_ONE


@pytest.mark.parametrize(
    ("value", "digits", "beside", "written"),
    [
        (13.4, 0, 0, "13"),
        (0.0, 0, 0, "0"),
        (0.4, 0, 0, "0.4"),  # an interval that excludes 0 never seems to include it
        (-0.004, 0, 0, f"{MINUS}0.004"),
        (1.002, 2, 1, "1.002"),
        (0.9999, 2, 1, "0.9999"),
        (1.0, 2, 1, "1.00"),
        (inf, 2, 1, "no upper limit"),
    ],
)
def test_an_end_is_never_rounded_to_no_difference(
    value: float, digits: int, beside: float, written: str
) -> None:
    assert write_end(value, digits=digits, beside=beside) == written


@pytest.mark.parametrize(
    ("low", "high", "written"),
    [
        ("8", "21", "8–21"),
        ("\N{MINUS SIGN}8", "21", "\N{MINUS SIGN}8 to 21"),
        ("1", "no upper limit", "1 to no upper limit"),
    ],
)
def test_a_dash_joins_only_plain_numbers(low: str, high: str, written: str) -> None:
    assert write_range(low, high) == written
