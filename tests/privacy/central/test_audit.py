"""The audit: no mechanism loses more than it promises, and faulty builds are caught.

All draws are seeded. tests/aggregator/releases/audit/test_losses.py audits what the product draws.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest

from privacy.central.audit import audited_epsilon
from privacy.central.calibration import discrete_gaussian_delta
from privacy.central.median import scaled_scores, scaled_sensitivity
from privacy.central.selection import selection_rate
from tests.support.sampling.audits import LEVEL, RUNS, measure_loss
from tests.support.sampling.integer_sampler import IntegerSampler

EPSILON = 0.5
HALF = Fraction(1, 2)
SEVENTH = Fraction(1, 7)
# For these neighbouring tables, permute-and-flip uses most of its allowed loss: with one more
# report of the lowest point, the highest point is chosen less often.
TABLE, MORE = (2, 4, 4), (3, 4, 4)

Draws = NDArray[np.int64]


@pytest.fixture
def sampler() -> IntegerSampler:
    return IntegerSampler(random.Random(20))


def repeat(draw: Callable[[], int], runs: int = RUNS) -> Draws:
    return np.array([draw() for _ in range(runs)])


# The bound


# The hits are 100,000 times P(Z >= 0) and P(Z >= 1), for discrete Laplace noise with b = 2.
def test_the_bound_of_a_known_mechanism() -> None:
    found = audited_epsilon(hits=62_246, other_hits=37_754, runs=100_000)
    assert found == pytest.approx(0.487201231, abs=5e-10)


@pytest.mark.parametrize(("hits", "other_hits"), [(60, 20), (100, 1), (100, 0), (7, 0), (31, 3)])
@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_the_bound_compares_the_limits_of_clopper_and_pearson(
    hits: int, other_hits: int, delta: float
) -> None:
    low = binomtest(hits, 100).proportion_ci(0.95, method="exact").low
    high = binomtest(other_hits, 100).proportion_ci(0.95, method="exact").high
    expected = max(np.log((low - delta) / high), 0)
    found = audited_epsilon(hits=hits, other_hits=other_hits, runs=100, delta=delta)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("hits", "other_hits", "delta"), [(0, 0, 0.0), (50, 50, 0.0), (40, 60, 0.0), (60, 0, 0.6)]
)
def test_nothing_is_measured_where_nothing_is_sure(
    hits: int, other_hits: int, delta: float
) -> None:
    assert audited_epsilon(hits=hits, other_hits=other_hits, runs=100, delta=delta) == 0


def test_more_confidence_measures_less() -> None:
    levels = (0.5, 0.9, 0.975, 0.999, LEVEL)
    found = [audited_epsilon(hits=600, other_hits=200, runs=1000, level=level) for level in levels]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found)


def test_the_bound_is_above_the_true_loss_as_rarely_as_stated() -> None:
    generator = np.random.default_rng(3)
    hits, other_hits = (generator.binomial(500, p, size=4000) for p in (0.6, 0.3))
    above = sum(
        audited_epsilon(hits=one, other_hits=other, runs=500, level=0.9) > np.log(2)
        for one, other in zip(hits.tolist(), other_hits.tolist(), strict=True)
    )
    print(f"{above=} of 4000, at most 800 expected")
    assert 0 < above < 800


# Correct mechanisms. Each loses most of what it may, so the audit would notice a larger loss.


def test_a_count_with_laplace_noise_keeps_its_promise(sampler: IntegerSampler) -> None:
    fewer, more = (repeat(lambda: sampler.discrete_laplace(Fraction(2))) for _ in range(2))
    measured = measure_loss(more + 1 >= 1, fewer >= 1)
    assert 0.9 * EPSILON < measured <= EPSILON


@pytest.mark.parametrize("delta", [1e-6, 1e-2])
def test_a_count_with_gaussian_noise_keeps_its_promise(
    sampler: IntegerSampler, delta: float
) -> None:
    variance = Fraction(18) if delta == 1e-6 else Fraction(7, 2)
    assert discrete_gaussian_delta(variance=variance, squared_sensitivity=1, epsilon=1) <= delta
    fewer, more = (repeat(lambda: sampler.discrete_gaussian(variance)) for _ in range(2))
    event = 9 if delta == 1e-6 else 4
    measured = measure_loss(more + 1 >= event, fewer >= event, delta=delta)
    assert 0.3 < measured <= 1


def test_a_leader_keeps_its_promise(sampler: IntegerSampler) -> None:
    rate = selection_rate(epsilon=HALF, monotone=True)
    tie, led = (
        repeat(lambda: sampler.permute_and_flip(counts, rate))  # noqa: B023
        for counts in ((7, 7), (8, 7))
    )
    measured = measure_loss(tie == 1, led == 1)
    assert 0.9 * EPSILON < measured <= EPSILON


def median(sampler: IntegerSampler, *, monotone: bool) -> tuple[Draws, Draws]:
    sensitivity = scaled_sensitivity(3, other_probability=SEVENTH)
    rate = selection_rate(epsilon=HALF, sensitivity=sensitivity, monotone=monotone)
    scores = [scaled_scores(counts, other_probability=SEVENTH) for counts in ((2, 2, 3), (3, 2, 3))]
    fewer, more = (
        repeat(lambda: sampler.permute_and_flip(one, rate))  # noqa: B023
        for one in scores
    )
    return fewer, more


def test_a_median_keeps_its_promise(sampler: IntegerSampler) -> None:
    fewer, more = median(sampler, monotone=False)
    measured = measure_loss(more == 0, fewer == 0)
    assert 0.55 * EPSILON < measured <= EPSILON


def table_of_two(sampler: IntegerSampler, scale: Fraction) -> tuple[NDArray[np.bool_], ...]:
    """Draw the event for a table with one report of the first code, then with one of the second."""
    event = []
    for counts in ((1, 0), (0, 1)):
        first, second = (
            count + repeat(lambda: sampler.discrete_laplace(scale)) for count in counts
        )
        event.append((first >= 1) & (second <= 0))
    return tuple(event)


def test_a_table_loses_twice_as_much_if_a_report_is_replaced(sampler: IntegerSampler) -> None:
    one, other = table_of_two(sampler, Fraction(2))
    assert 0.9 * 2 * EPSILON < measure_loss(one, other) <= 2 * EPSILON


# Faulty builds, each of which promises epsilon = .5


def test_a_sensitivity_of_one_for_replaced_reports_is_caught(sampler: IntegerSampler) -> None:
    """Draws like those above are claimed to be .5-private for replaced reports."""
    assert measure_loss(*table_of_two(sampler, Fraction(2))) > EPSILON


@pytest.mark.parametrize("scale", [HALF, Fraction(1)], ids=["upside-down", "half"])
def test_a_wrong_scale_is_caught(sampler: IntegerSampler, scale: Fraction) -> None:
    fewer, more = (repeat(lambda: sampler.discrete_laplace(scale)) for _ in range(2))
    assert measure_loss(more + 1 >= 1, fewer >= 1) > EPSILON


def test_scores_that_may_fall_at_the_rate_of_counts_are_caught(sampler: IntegerSampler) -> None:
    fewer, more = median(sampler, monotone=True)
    assert measure_loss(more == 0, fewer == 0) > EPSILON


def test_noise_that_is_drawn_for_each_view_is_caught(sampler: IntegerSampler) -> None:
    """The mean of 25 views breaks the promise; one view of the same draws keeps it."""
    fewer, more = (
        count + repeat(lambda: sampler.discrete_laplace(Fraction(2))).reshape(-1, 25)
        for count in (0, 1)
    )
    assert measure_loss(more[:, 0] >= 1, fewer[:, 0] >= 1) <= EPSILON
    assert measure_loss(more.mean(axis=1) > 0.5, fewer.mean(axis=1) > 0.5) > EPSILON


PEOPLE, DECIMALS = 1000, 17
STEPS = 2.0**53  # a uniform float is a multiple of 1 / STEPS


def float_share(count: int, steps: NDArray[np.float64], sign: float) -> NDArray[np.float64]:
    """A share with textbook Laplace noise, drawn from a uniform float, then rounded."""
    noise = sign * -2 / PEOPLE * np.log(steps / STEPS)
    return np.asarray(np.round(count / PEOPLE + noise, DECIMALS))


def can_come_from(count: int, shares: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return, for each share, whether some uniform float gives exactly this share.

    The check tries the 129 floats around the noise in question. Where floats lie far apart,
    rounding cannot have moved the noise further; where they lie close together, one always fits.
    """
    noise = np.abs(shares - count / PEOPLE)
    middle = np.rint(np.exp(-noise * PEOPLE / 2) * STEPS)
    found = np.zeros(len(shares), dtype=np.bool_)
    for offset in range(-64, 65):
        steps = np.clip(middle + offset, 1, STEPS - 1)
        for sign in (-1.0, 1.0):
            found |= float_share(count, steps, sign) == shares
    return found


@pytest.mark.parametrize("count", [0, 400])
def test_noise_in_floats_is_caught_even_if_it_is_rounded_afterwards(count: int) -> None:
    """The event is a share that noise on the neighbouring count cannot give."""
    generator = np.random.default_rng(20)
    drawn = []
    for one in (count, count + 1):
        steps = generator.integers(1, 2**53, RUNS).astype(np.float64)
        sign = generator.choice((-1.0, 1.0), RUNS)
        drawn.append(np.where(sign > 0, float_share(one, steps, 1), float_share(one, steps, -1)))
    fewer, more = drawn
    assert can_come_from(count, fewer).mean() > 0.9999  # all, unless log() rounds inconsistently
    assert measure_loss(~can_come_from(count + 1, fewer), ~can_come_from(count + 1, more)) > 1
    assert measure_loss(~can_come_from(count, more), ~can_come_from(count, fewer)) > 1
