"""How differences between groups are written on the page."""

from __future__ import annotations

import pytest

from aggregator.comparisons.breakdown.blocks import write_difference
from aggregator.comparisons.breakdown.result import GroupDifference
from aggregator.results.estimands import Estimand, estimands_of
from surveys.manifest.question_types import QuestionType
from surveys.manifest.questions import ManifestQuestion
from tests.support.factories import YES_NO

SHARE = ManifestQuestion(
    name="q1", type=QuestionType.YES_NO, text="Ill?", options=YES_NO, flips=25, threshold=3 * 2**30
)
DAYS = ManifestQuestion(
    name="q2",
    type=QuestionType.NUMBER,
    text="Days?",
    minimum=0,
    maximum=30,
    unit="days",
    flips=25,
    threshold=3 * 2**30,
)


def shown_of(question: ManifestQuestion) -> Estimand:
    return next(one for one in estimands_of(question) if one.shown)


@pytest.mark.parametrize(
    ("question", "numbers", "text"),
    [
        (SHARE, (0.1, 0.01, 0.2), "+10 points (1 to 20)"),
        (SHARE, (0.012, -0.03, 0.05), "+1 point (−3 to 5)"),
        (SHARE, (-0.012, -0.03, 0.05), "−1 point (−3 to 5)"),
        (SHARE, (0.001, -0.03, 0.05), "0 points (−3 to 5)"),
        (SHARE, (0.004, -0.006, 0.014), "+0.4 points (−0.6 to 1.4)"),
        (DAYS, (-0.42, -0.94, 0.1), "−0.4 days (−0.9 to 0.1)"),
        (DAYS, (0.05, -0.05, 0.15), "+0.05 days (−0.05 to 0.15)"),
    ],
)
def test_differences_are_written_with_sign_and_unit(
    question: ManifestQuestion, numbers: tuple[float, float, float], text: str
) -> None:
    difference, low, high = numbers
    estimand = shown_of(question)
    found = GroupDifference(
        question=question.name,
        estimand=estimand.name,
        group=0,
        difference=difference,
        low=low,
        high=high,
        level=0.95,
        method="mover",
    )
    assert write_difference(found, estimand) == text
    assert found.may_be_zero == (low <= 0)


@pytest.mark.parametrize(
    ("question", "shown", "text"),
    [
        (SHARE, (0.334, 0.128), "+20 points (10 to 30)"),
        (SHARE, (0.294, 0.296), "−1 point (10 to 30)"),
        (DAYS, (2.34, 1.26), "+1.0 days (0.1 to 0.5)"),
    ],
)
def test_the_difference_of_two_groups_is_that_of_their_figures_as_shown(
    question: ManifestQuestion, shown: tuple[float, float], text: str
) -> None:
    estimand = shown_of(question)
    found = GroupDifference(
        question=question.name,
        estimand=estimand.name,
        group=0,
        difference=shown[0] - shown[1],
        low=0.1,
        high=0.3 if question is SHARE else 0.5,
        level=0.95,
        method="mover",
    )
    assert write_difference(found, estimand, shown=shown) == text
