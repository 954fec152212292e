"""Estimates in sentences: whom a share describes, how things are named, and what is not said."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from aggregator.results.estimate import Estimate, Interval, Intervals, QuestionResult
from aggregator.results.estimating import compute_estimates
from aggregator.results.people import find_effective_size, find_people
from aggregator.results.reliability import Reliability
from aggregator.results.sentences import (
    TOO_FEW_ANSWERS,
    Details,
    describe_caution,
    describe_details,
    describe_estimate,
    describe_information,
    describe_people,
    name_estimand,
    summarize,
)
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option, fixed_options
from surveys.manifest.rules import Rule
from tests.support.manifests import make_manifest

TOTAL = 10_000


def make_question(type_: QuestionType, *, answers: int, **content: object) -> ManifestQuestion:
    extras = bool(content.get("refusal")) + (content.get("rule") is not None)
    mechanism = RandomizedResponse.from_flips(symbols=answers + extras, flips=25)
    options = fixed_options(type_) or tuple(
        Option(code=code, text=str(code + 1)) for code in range(answers)
    )
    return ManifestQuestion(
        name="q2",
        type=type_,
        text="How often?",
        flips=25,
        threshold=mechanism.threshold,
        options=options,
        **content,  # type: ignore[arg-type]
    )


def estimate(question: ManifestQuestion, shares: list[float]) -> QuestionResult:
    """Compute estimates from the counts expected if people have these true shares.

    If the question has a rule, the people who say Yes to the first question are asked.
    """
    first = replace(make_question(QuestionType.YES_NO, answers=2), name="q1")
    manifest = make_manifest(first, question, minimum_batch=50, display_minimum=100)
    decides = [code != question.not_asked_code for code in range(question.k)]
    latent = np.zeros((2, question.k))
    latent[np.array(decides, dtype=int), range(question.k)] = shares
    table = TOTAL * first.mechanism.channel() @ latent @ question.mechanism.channel().T
    _, found = compute_estimates(
        manifest=manifest,
        counts=[np.rint(table.sum(axis=axis)).astype(int).tolist() for axis in (1, 0)],
        tables=[np.rint(table).astype(int).ravel().tolist()] if question.rule else [],
        shown_at=(),
        told=(),
    )
    return found


def describe(found: QuestionResult) -> dict[str, tuple[str, str] | None]:
    return {
        one.estimand.name: (people.heading, people.number) if people else None
        for one in found.estimates
        for people in [find_people(found, one)]
    }


def find(found: QuestionResult, name: str) -> Estimate:
    return next(one for one in found.estimates if one.estimand.name == name)


RULE: Rule = {"name": "q1", "is": [1]}


def test_a_share_of_those_who_were_asked_says_about_how_many_that_are() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2, rule=RULE), [0.03, 0.02, 0.95])
    people = describe(found)
    assert people["asked"] is None
    asked = find(found, "asked")
    low, high = round(TOTAL * asked.low), round(TOTAL * asked.high)
    assert low < 500 < high
    assert people["1"] == ("Asked", f"500 ({low:,}–{high:,})")


def test_a_share_of_those_who_answered_says_about_how_many_that_are() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2, refusal=True), [0.6, 0.3, 0.1])
    people = describe(found)
    assert people["refused"] is None
    assert people["1"] == people["0"]
    name, number = people["1"] or ("", "")
    assert (name, number.split(" (")[0]) == ("Answered", "9,000")


def test_a_follow_up_says_about_how_many_said_yes() -> None:
    found = estimate(make_question(QuestionType.FOLLOW_UP, answers=3), [0.8, 0.15, 0.05])
    people = describe(found)
    assert people["yes"] is None
    name, number = people["follow_up"] or ("", "")
    assert (name, number.split(" (")[0]) == ("Said Yes", "2,000")


def test_shares_of_everyone_name_no_smaller_group() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2), [0.8, 0.2])
    assert set(describe(found).values()) == {None}


def test_a_share_of_some_people_is_worth_so_many_direct_answers_of_them() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2, refusal=True), [0.6, 0.3, 0.1])
    one = next(one for one in found.estimates if one.estimand.name == "1")
    assert one.effective_sample_size is None  # in files, only shares of everyone have one
    size = find_effective_size(one)
    assert size is not None
    # This many direct answers have the same standard error.
    assert (one.value * (1 - one.value) / size) ** 0.5 == pytest.approx(one.standard_error)  # type: ignore[operator]
    assert size < 9000


def test_of_too_few_people_only_their_number_is_said() -> None:
    """There is no value, no interval, and no equivalent number of direct answers."""
    found = estimate(make_question(QuestionType.YES_NO, answers=2, rule=RULE), [0.006, 0.004, 0.99])
    one = find(found, "1")
    assert one.reliability is Reliability.NOT_SHOWN
    assert find_effective_size(one) is None
    assert (summarize(one), describe_estimate(one)) == ("too few answers", TOO_FEW_ANSWERS)
    details = read_details(found)
    assert {
        cell
        for (name, _), cell in details.items()
        if name == "Yes"
        and cell not in (f"{one.count:,}", f"{100 * one.raw_share:.1f}\N{NO-BREAK SPACE}%")
    } == {"–"}
    assert details["Yes", "Codes"] == f"{one.count:,}"


FAKE = "If up to 2\N{NO-BREAK SPACE}% of reports were fake"
HEADINGS = {
    "Codes",
    "Raw share",
    "Standard error",
    "Effective sample size",
    "80 % interval",
    "50 % interval",
    "95 % for all figures at once",
    FAKE,
}


def describe_all(found: QuestionResult) -> Details:
    return describe_details(found, truth={}, fixed_end=True, uses_own_codes=False)


def read_details(found: QuestionResult) -> dict[tuple[str, str], str]:
    """Return the cells of the table, keyed by the texts of their row and column."""
    details = describe_all(found)
    return {
        (row.label, heading.text): cell
        for row in details.rows
        for heading, cell in zip(details.headings, row.cells, strict=True)
    }


def test_the_details_have_everything_that_a_row_leaves_out() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2), [0.8, 0.2])
    details, one = read_details(found), find(found, "1")
    assert {heading for _, heading in details} == HEADINGS
    assert details["Yes", "Codes"] == f"{one.count:,}"
    assert details["Yes", "Raw share"] == "35.0\N{NO-BREAK SPACE}%"
    assert one.standard_error is not None
    assert details["Yes", "Standard error"] == f"{100 * one.standard_error:.1f} points"
    assert details["Yes", "80 % interval"].endswith("\N{NO-BREAK SPACE}%")
    # With 2 % invented reports, a share of 20 % could be 4 points lower or higher.
    low, high = re.findall(r"[\d.]+", details["Yes", FAKE])
    assert float(low) < 100 * one.low < 100 * one.high < float(high)
    size = round(one.effective_sample_size or 0)
    assert describe_all(found).sentences == (
        "10,000 reports.",
        f"As informative as about {size:,} direct answers.",
    )


def test_an_estimate_outside_what_is_possible_is_in_the_details_only() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2), [0.8, 0.2])
    below = replace(find(found, "1"), value=-0.02)
    outside = replace(found, estimates=(below,))
    assert read_details(outside)["Yes", "Unclipped"] == "−2\N{NO-BREAK SPACE}%"


def test_where_the_people_cannot_be_counted_there_are_too_few_answers() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2), [0.8, 0.2])
    vague = replace(find(found, "1"), design_error=0.2)
    assert vague.reliability is Reliability.NOT_SHOWN
    assert (summarize(vague), describe_information(vague)) == ("too few answers", "")


def test_an_estimate_that_needs_caution_has_a_mark() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2), [0.8, 0.2])
    good = find(found, "1")
    vague = replace(good, design_error=0.09)
    assert vague.reliability is Reliability.CAUTION
    assert summarize(vague) == summarize(good).replace("%", "%†", 1)
    assert describe_caution([good]) == ""
    assert describe_caution([good, vague]).startswith("† ")


def test_the_ends_of_a_scale_have_their_labels() -> None:
    labels = {"minimum": 1, "maximum": 5, "low_label": "Never", "high_label": "Very often"}
    question = make_question(QuestionType.SCALE, answers=5, **labels)
    found = estimate(question, [0.2] * 5)
    names = [name_estimand(one.estimand) for one in found.shown]
    assert names == ["1 (Never)", "2", "3", "4", "5 (Very often)", "Mean"]


@pytest.mark.parametrize(
    ("method", "critical", "said_at_fixed_end"),
    [
        ("likelihood_ratio_joint", 1.96, False),
        ("likelihood_ratio_joint", 2.576, True),
        ("clopper_pearson", 1.96, True),
    ],
)
def test_only_a_wider_interval_than_those_of_others_is_explained_by_itself(
    method: str, critical: float, said_at_fixed_end: bool
) -> None:
    """At looks, every interval holds for all looks together."""
    found = estimate(make_question(QuestionType.YES_NO, answers=2), [0.8, 0.2])
    one = find(found, "1")
    main = replace(one.intervals.main, method=method, critical_value=critical)
    of_kind = replace(one, intervals=replace(one.intervals, main=main))
    changed = replace(found, estimates=(of_kind,))
    for fixed_end in (True, False):
        details = describe_details(changed, truth={}, fixed_end=fixed_end, uses_own_codes=False)
        is_said = "guaranteed" in " ".join(details.sentences)
        assert is_said == (fixed_end and said_at_fixed_end)


def test_a_counted_share_has_no_interval() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2), [0.8, 0.2])
    counted = Interval(low=0.2, high=0.2, level=0.95, method="exact", critical_value=1.96)
    exact = replace(
        find(found, "1"),
        value=0.2,
        standard_error=0.0,
        design_error=0.0,
        intervals=Intervals(main=counted, inner=(), simultaneous=counted),
    )
    assert summarize(exact) == "20.0\N{NO-BREAK SPACE}% (counted)"
    counted_only = replace(found, estimates=(exact,))
    assert "not scrambled" in describe_all(counted_only).sentences[-1]
    headings = {heading for _, heading in read_details(counted_only)}
    assert headings <= {"Codes", "Raw share", "Effective sample size"}


def test_people_who_are_counted_are_not_about_so_many() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2, rule=RULE), [0.03, 0.02, 0.95])
    asked = find(found, "asked")
    counted = Interval(low=0.05, high=0.05, level=0.95, method="exact")
    exact = replace(
        asked,
        value=0.05,
        standard_error=0.0,
        intervals=Intervals(main=counted, inner=(), simultaneous=counted),
    )
    others = tuple(one for one in found.estimates if one is not asked)
    known = replace(found, estimates=(*others, exact))
    assert describe_people(known, find(found, "1")) == "Asked: 500 people."
    assert describe_people(found, find(found, "1")).startswith("Asked: about 500 (")
