"""Estimates in words: whom a share is about, and what is called what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aggregator.results.estimate import QuestionResult
from aggregator.results.estimating import compute_estimates
from aggregator.results.sentences import describe_people, find_effective_size, name_estimand
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.manifest import Manifest
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion, Option, fixed_options
from surveys.manifest.rules import Rule

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
    """Estimate from the counts that people with these true shares send on average."""
    mechanism = question.mechanism
    manifest = Manifest(
        survey="abc",
        wave=1,
        title="On the road",
        introduction="",
        language="en",
        minimum_batch=50,
        display_minimum=100,
        opens=None,
        closes=None,
        cap=None,
        questions=(replace(make_question(QuestionType.YES_NO, answers=2), name="q1"), question),
    )
    counts = [
        round(TOTAL * (mechanism.other_probability + mechanism.slope * share)) for share in shares
    ]
    even = [TOTAL // 2] * 2
    _, found = compute_estimates(manifest=manifest, counts=[even, counts], fixed_end=True)
    return found


def describe(found: QuestionResult) -> dict[str, tuple[str, str]]:
    return {one.estimand.name: describe_people(found, one) for one in found.estimates}


RULE: Rule = {"name": "q1", "is": [1]}


def test_a_share_of_those_who_were_asked_says_about_how_many_that_are() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2, rule=RULE), [0.03, 0.02, 0.95])
    people = describe(found)
    assert people["asked"] == ("", "")
    name, number = people["1"]
    assert name == "Asked"
    asked = next(one for one in found.estimates if one.estimand.name == "asked")
    low, high = round(TOTAL * asked.low), round(TOTAL * asked.high)
    assert low < 500 < high
    assert number == f"≈\N{NO-BREAK SPACE}500 ({low:,}–{high:,})"


def test_a_share_of_those_who_answered_says_about_how_many_that_are() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2, refusal=True), [0.6, 0.3, 0.1])
    people = describe(found)
    assert people["refused"] == ("", "")
    assert people["1"] == people["0"]
    name, number = people["1"]
    assert (name, number.split(" (")[0]) == ("Answered", "≈\N{NO-BREAK SPACE}9,000")


def test_a_follow_up_says_about_how_many_said_yes() -> None:
    found = estimate(make_question(QuestionType.FOLLOW_UP, answers=3), [0.8, 0.15, 0.05])
    people = describe(found)
    assert people["yes"] == ("", "")
    name, number = people["follow_up"]
    assert (name, number.split(" (")[0]) == ("Said Yes", "≈\N{NO-BREAK SPACE}2,000")


def test_shares_of_everyone_name_no_smaller_group() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2), [0.8, 0.2])
    assert set(describe(found).values()) == {("", "")}


def test_a_share_of_some_people_is_worth_so_many_direct_answers_of_them() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2, refusal=True), [0.6, 0.3, 0.1])
    one = next(one for one in found.estimates if one.estimand.name == "1")
    assert one.effective_sample_size is None  # in files, of shares of everyone only
    size = find_effective_size(one)
    assert size is not None
    # As many direct answers have this standard error.
    assert (one.value * (1 - one.value) / size) ** 0.5 == pytest.approx(one.standard_error)  # type: ignore[operator]
    assert size < 9000


def test_what_says_nothing_is_worth_no_answers() -> None:
    found = estimate(make_question(QuestionType.YES_NO, answers=2, rule=RULE), [0.0, 0.0, 1.0])
    one = next(one for one in found.estimates if one.estimand.name == "1")
    assert one.says_nothing
    assert find_effective_size(one) is None


def test_the_ends_of_a_scale_have_their_labels() -> None:
    labels = {"minimum": 1, "maximum": 5, "low_label": "Never", "high_label": "Very often"}
    question = make_question(QuestionType.SCALE, answers=5, **labels)
    found = estimate(question, [0.2] * 5)
    names = [name_estimand(one.estimand) for one in found.shown]
    assert names == ["1 (Never)", "2", "3", "4", "5 (Very often)", "Mean"]
