"""Where likelihood intervals need a higher level: the limits, and the coverage that they ensure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.joint.cells import JointCells
from privacy.shares.joint.fallback import (
    cautious_level,
    joint_share_covers,
    relaxed_likelihood_covers,
)
from privacy.shares.joint.likelihood import joint_share
from tests.privacy.shares.joint.designs import follow_up

ONE_IN_A_MILLION = 1e-6


@pytest.mark.parametrize(
    ("covers", "flips", "enough"),
    [
        (joint_share_covers, [25], 12),
        (joint_share_covers, [25, 25], 12),
        (joint_share_covers, [5], 60),
        (joint_share_covers, [5, 5], 60),
        (joint_share_covers, [5, 25], 60),
        (joint_share_covers, [1, 25], 300),
        (joint_share_covers, [1, 1], 1500),
        (joint_share_covers, [5, 5, 5], 60),
        (joint_share_covers, [2, 2], 375),
        (partial(relaxed_likelihood_covers, at_looks=False), [25], 32),
        (partial(relaxed_likelihood_covers, at_looks=False), [12, 25], 67),
        (partial(relaxed_likelihood_covers, at_looks=False), [5, 5], 160),
        (partial(relaxed_likelihood_covers, at_looks=True), [5, 5], 400),
    ],
)
def test_the_level_is_higher_where_hardly_any_answer_is_swapped(
    covers: Callable[..., bool], flips: Sequence[int], enough: int
) -> None:
    mechanisms = [RandomizedResponse.from_flips(symbols=3, flips=each) for each in flips]
    assert covers(total=enough, mechanisms=mechanisms)
    assert not covers(total=enough - 1, mechanisms=mechanisms)
    assert not covers(total=0, mechanisms=mechanisms)


@pytest.mark.parametrize("symbols", [2, 3, 7, 64])
def test_the_number_of_codes_makes_no_difference(symbols: int) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=symbols, flips=10)
    assert [joint_share_covers(total=n, mechanisms=[mechanism]) for n in (29, 30)] == [False, True]


def covered(
    *, flips: int, people: int, asked: int, share: float, surveys: int, level: float = 0.95
) -> int:
    """Count how many intervals of simulated surveys contain the truth."""
    channel, event, counted = follow_up(flips)
    among = asked / people
    truth = np.array([1 - among, among * (1 - share), among * share])
    drawn = np.random.default_rng(31).multinomial(people, channel @ truth, size=surveys)
    kept = 0
    # The interval depends only on the counts, so equal counts are computed once.
    for reports, times in zip(*np.unique(drawn, axis=0, return_counts=True), strict=True):
        cells = JointCells(counts=reports, channel=channel, event=event, counted=counted)
        found = joint_share(cells=cells, level=level)
        kept += times * (found.low <= share <= found.high)
    return kept


@pytest.mark.long
@pytest.mark.parametrize(("people", "asked"), [(60, 6), (60, 40), (120, 8), (240, 20)])
def test_within_the_limits_the_joint_likelihood_covers(people: int, asked: int) -> None:
    surveys = 1500
    kept = covered(flips=5, people=people, asked=asked, share=0.5, surveys=surveys)
    assert kept >= binom.ppf(ONE_IN_A_MILLION, surveys, 0.93)


@pytest.mark.long
@pytest.mark.parametrize(("flips", "people", "asked"), [(1, 100, 5), (1, 50, 5), (2, 50, 5)])
def test_beyond_them_it_does_only_at_the_higher_level(flips: int, people: int, asked: int) -> None:
    surveys = 1500
    case: dict[str, Any] = {"flips": flips, "people": people, "asked": asked, "share": 0.5}
    assert covered(**case, surveys=surveys) < binom.isf(ONE_IN_A_MILLION, surveys, 0.93)
    kept = covered(**case, surveys=surveys, level=cautious_level(0.95))
    assert kept >= binom.ppf(ONE_IN_A_MILLION, surveys, 0.975)
