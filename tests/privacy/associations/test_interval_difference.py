"""The interval of a difference covers as often as the two intervals that it combines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.associations.interval_difference import IntervalEstimate, difference_of_intervals
from privacy.associations.known_groups import compare_groups
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional import likelihood_ratio_share
from privacy.shares.intervals import likelihood_ratio

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
LEAST = 0.93
RUNS = 1500


def estimate(value: float, low: float, high: float) -> IntervalEstimate:
    return IntervalEstimate(value=float(value), low=float(low), high=float(high))


@pytest.mark.parametrize(
    ("sizes", "shares"),
    [
        ((100, 900), (0.05, 0.05)),
        ((100, 900), (0.0, 0.1)),
        ((100, 400), (0.3, 0.2)),
        ((250, 250), (0.5, 0.5)),
        ((250, 1000), (0.0, 0.0)),
        ((400, 600), (0.9, 0.6)),
        ((1000, 1000), (0.02, 0.1)),
        ((1000, 5000), (1.0, 0.95)),
    ],
)
def test_shares_after_a_fixed_end_are_covered(
    sizes: tuple[int, int], shares: tuple[float, float]
) -> None:
    draw = np.random.default_rng(20261123)
    covered = 0
    ends = []
    for size, share in zip(sizes, shares, strict=True):
        reported = COINS.other_probability + COINS.slope * share
        counts = draw.binomial(size, reported, RUNS)
        found = likelihood_ratio(
            successes=counts,
            total=size,
            other_probability=COINS.other_probability,
            slope=COINS.slope,
        )
        values = (counts / size - COINS.other_probability) / COINS.slope
        ends.append([estimate(*each) for each in zip(values, found.low, found.high, strict=True)])
    truth = shares[0] - shares[1]
    for first, second in zip(*ends, strict=True):
        found_difference = difference_of_intervals(first=first, second=second)
        covered += found_difference.low - 1e-9 <= truth <= found_difference.high + 1e-9
    assert covered / RUNS >= LEAST


def test_ratios_after_a_fixed_end_are_covered() -> None:
    """The ratios are shares of those who answered, found by the conditional likelihood."""
    mechanism = RandomizedResponse.from_flips(symbols=3, flips=25)
    truths = ((0.3, 0.6, 0.1), (0.15, 0.6, 0.25))
    draw = np.random.default_rng(7)
    runs, covered = 400, 0
    for _ in range(runs):
        found = []
        for size, truth in zip((300, 900), truths, strict=True):
            reported = mechanism.other_probability + mechanism.slope * np.array(truth)
            share = likelihood_ratio_share(
                counts=draw.multinomial(size, reported).tolist(),
                mechanism=mechanism,
                symbol=0,
                among=(0, 1),
            )
            assert share.share is not None
            found.append(estimate(share.share, share.low, share.high))
        difference = difference_of_intervals(first=found[0], second=found[1])
        covered += difference.low <= 0.3 / 0.9 - 0.15 / 0.75 <= difference.high
    assert covered / runs >= LEAST


def test_it_agrees_with_newcombe_where_both_apply() -> None:
    """Newcombe's method starts from Wilson intervals, ours from likelihood-ratio intervals."""
    counts, sizes = np.array([240, 200]), np.array([500, 500])
    newcombe = compare_groups(successes=[240, 200], totals=[500, 500], mechanisms=[COINS, COINS])
    found = likelihood_ratio(
        successes=counts,
        total=sizes,
        other_probability=COINS.other_probability,
        slope=COINS.slope,
    )
    values = (counts / sizes - COINS.other_probability) / COINS.slope
    first, second = (estimate(*each) for each in zip(values, found.low, found.high, strict=True))
    difference = difference_of_intervals(first=first, second=second)
    assert difference.difference == pytest.approx(newcombe.difference)
    assert (difference.low, difference.high) == pytest.approx(
        (newcombe.low, newcombe.high), abs=0.002
    )


def test_ends_by_hand() -> None:
    found = difference_of_intervals(
        first=IntervalEstimate(value=0.5, low=0.2, high=0.9),
        second=IntervalEstimate(value=0.4, low=0.1, high=0.8),
    )
    assert found.difference == pytest.approx(0.1)
    assert found.low == pytest.approx(0.1 - 0.5)  # 0.3 below, 0.4 above
    assert found.high == pytest.approx(0.1 + 0.5)  # 0.4 above, 0.3 below


def test_a_side_that_was_cut_off_is_as_long_as_the_other() -> None:
    cut = IntervalEstimate(value=-0.05, low=0, high=0.1)
    assert [cut.below, cut.above] == pytest.approx([0.15, 0.15])
    assert cut.displayed == 0
    most = IntervalEstimate(value=4.8, low=4.4, high=5, least=1, greatest=5)
    assert [most.below, most.above] == pytest.approx([0.4, 0.4])


@given(st.lists(st.floats(0, 1), min_size=6, max_size=6), st.floats(-0.5, 1.5))
def test_the_difference_lies_in_its_interval_and_both_change_sign_together(
    numbers: list[float], value: float
) -> None:
    one_low, one, one_high = sorted(numbers[:3])
    low, _, high = sorted(numbers[3:])
    first = IntervalEstimate(value=one, low=one_low, high=one_high)
    second = IntervalEstimate(value=value, low=low, high=high)
    found = difference_of_intervals(first=first, second=second)
    turned = difference_of_intervals(first=second, second=first)
    assert -1 <= found.low <= found.difference + 1e-12
    assert found.difference - 1e-12 <= found.high <= 1
    assert (turned.low, turned.difference, turned.high) == pytest.approx(
        (-found.high, -found.difference, -found.low)
    )


@pytest.mark.parametrize("ends", [(0.5, 0.7, 0.6), (0.5, -0.1, 0.7), (float("nan"), 0.6, 0.7)])
def test_an_impossible_interval_is_refused(ends: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="must lie in order"):
        IntervalEstimate(value=ends[0], low=ends[1], high=ends[2])
