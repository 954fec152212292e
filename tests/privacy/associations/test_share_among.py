"""A share among some people from several questions: precision, coverage, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from privacy.associations.share_among import ShareAmong, share_among
from privacy.associations.tables import Variable, kronecker
from privacy.mechanism.mechanisms import RandomizedResponse

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)

PLAIN = Variable.plain(COINS)

THREE = RandomizedResponse.from_flips(symbols=3, flips=25)

REFUSABLE = Variable(mechanism=THREE, categories=((0,), (1,), (2,)), answered=2)

ONE_IN_A_MILLION = 1e-6


def is_possible(cell: tuple[int, ...]) -> bool:
    """A child (no, yes, not asked) is asked if and only if its parent is yes."""
    return (cell[0] == 1) == (cell[1] < 2)


def follow_up(*, share: float, asked: float, people: int) -> NDArray[np.int64]:
    """Expected reports of parent and child."""
    truth = np.array([0, 0, 1 - asked, asked * (1 - share), asked * share, 0])
    reported = kronecker([PLAIN.channel(), REFUSABLE.channel()]) @ truth
    counts: NDArray[np.int64] = np.round(reported * people).astype(np.int64).reshape(2, 3)
    return counts


def share_of_yes(
    counts: NDArray[np.int64],
    variables: list[Variable],
    *,
    possible: Callable[[tuple[int, ...]], bool] | None = None,
) -> ShareAmong:
    return share_among(
        counts=counts,
        variables=variables,
        event=lambda cell: cell[-1] == 1,
        among=lambda cell: cell[-1] < 2,
        possible=possible,
    )


def test_excluding_impossible_cells_makes_a_follow_up_more_precise() -> None:
    # 2,000 people, 30 in 100 asked, each question at ln 3: the standard error falls from .070 to
    # .059.
    counts = follow_up(share=0.3, asked=0.3, people=2000)
    child = share_of_yes(counts.sum(axis=0), [REFUSABLE])
    free = share_of_yes(counts, [PLAIN, REFUSABLE])
    joint = share_of_yes(counts, [PLAIN, REFUSABLE], possible=is_possible)
    for found in (child, free, joint):
        assert found.estimate == pytest.approx(0.3, abs=2e-3)
    z = NormalDist().inv_cdf(0.975)
    errors = [(found.high - found.low) / (2 * z) for found in (child, free, joint)]
    assert errors[0] == pytest.approx(0.070, abs=0.001)
    assert errors[2] == pytest.approx(0.059, abs=0.0005)
    # Without the rule, the parent helps only as far as the reports show it.
    assert errors[2] < errors[1] < errors[0]


@pytest.mark.slow
def test_a_conditional_share_covers_the_truth() -> None:
    surveys, share = 120, 0.3
    truth = follow_up(share=share, asked=0.3, people=10**7).ravel() / 10**7
    random = np.random.default_rng(24)
    covered = 0
    for reports in random.multinomial(2000, truth / truth.sum(), size=surveys):
        found = share_of_yes(reports.reshape(2, 3), [PLAIN, REFUSABLE], possible=is_possible)
        covered += found.low <= share <= found.high
    assert covered >= binom.ppf(ONE_IN_A_MILLION, surveys, 0.93)


def test_where_nobody_may_have_been_asked_the_share_can_be_anything() -> None:
    counts = follow_up(share=0.3, asked=0.02, people=500)
    found = share_of_yes(counts, [PLAIN, REFUSABLE], possible=is_possible)
    assert (found.low, found.high) == (0, 1)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"among": lambda cell: False}, "among must count at least one possible cell"),
        ({"possible": lambda cell: False}, "among must count at least one possible cell"),
        ({"event": lambda cell: False}, "event must hold for a cell"),
        ({"event": lambda cell: True}, "event must hold for a cell, and only for cells that"),
        ({"level": 0.0}, r"level must lie in \(0, 1\), got 0.0"),
        ({"counts": np.ones((2, 2))}, r"counts must have the shape \(2, 3\)"),
    ],
)
def test_impossible_shares_are_rejected(where: dict[str, object], message: str) -> None:
    usual = {
        "counts": np.ones((2, 3)),
        "variables": [PLAIN, REFUSABLE],
        "event": lambda cell: cell == (1, 1),
        "among": lambda cell: cell[1] < 2,
    }
    with pytest.raises(ValueError, match=message):
        share_among(**(usual | where))  # type: ignore[arg-type]
