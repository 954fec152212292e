"""Integer noise: known values, plain sums, the accuracy that a library states, and simulation."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, fsum, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from privacy.central.noise import (
    discrete_gaussian_probability,
    discrete_gaussian_tail,
    discrete_gaussian_variance,
    discrete_laplace_bound,
    discrete_laplace_probability,
    discrete_laplace_tail,
    discrete_laplace_variance,
    simultaneous_bound,
)

SCALES = st.floats(0.05, 1e4)
VARIANCES = st.floats(0.05, 1e4)


def plain_gaussian(variance: float, values: range) -> list[float]:
    """Compute probabilities from a sum of all terms, by definition."""
    reach = ceil(40 * sqrt(variance)) + 2
    total = fsum(exp(-z * z / (2 * variance)) for z in range(-reach, reach + 1))
    return [exp(-z * z / (2 * variance)) / total for z in values]


# These were computed with mpmath at 30 digits: P(0), P(1), P(5), the variance, P(|Z| >= 10), and
# the least z with P(|Z| >= z) <= .05.
@pytest.mark.parametrize(
    ("scale", "chances", "variance", "tail", "bound"),
    [
        (1, ".462117157260 .170003401569 .00311372091299", "1.84134718842", 6.63800162e-5, 4),
        (2, ".244918662404 .148550677884 .0201041480664", "7.83539617807", 0.00838819596545, 7),
        (4, ".124353001772 .096846215157 .0356277315115", "31.8338528777", 0.0922925146032, 13),
        (10, ".0499583749579 .0452042070062 .0303012861214", "199.833416634", 0.386258100233, 31),
        (20, ".0249947929684 .0237757825309 .0194659643365", "799.833354165", 0.621690767981, 61),
    ],
)
def test_discrete_laplace_has_known_values(
    scale: int, chances: str, variance: str, tail: float, bound: int
) -> None:
    found = discrete_laplace_probability([0, 1, 5], scale=scale)
    for one, printed in zip(found, chances.split(), strict=True):
        assert f"{one:.{len(printed) - 1}f}" == "0" + printed
    assert f"{discrete_laplace_variance(scale=scale):.12g}" == variance
    assert float(discrete_laplace_tail(10, scale=scale)) == pytest.approx(tail, rel=1e-9)
    assert discrete_laplace_bound(scale=scale) == bound


def test_discrete_gaussian_has_known_values() -> None:
    narrow = discrete_gaussian_probability([0, 1], variance=1)
    assert [f"{one:.12f}" for one in narrow] == ["0.398942278267", "0.241970723224"]
    assert f"{discrete_gaussian_variance(variance=1):.12f}" == "0.999999788768"
    wide = discrete_gaussian_probability([0, 1], variance=16)
    assert [f"{one:.13f}" for one in wide] == ["0.0997355701004", "0.0966670292007"]


@given(SCALES)
def test_the_laplace_formulas_agree_with_plain_sums(scale: float) -> None:
    reach = ceil(40 * scale) + 2
    values = np.arange(-reach, reach + 1)
    chances = discrete_laplace_probability(values, scale=scale)
    assert chances.sum() == pytest.approx(1, rel=1e-12)
    variance = (values**2 * chances).sum()
    assert discrete_laplace_variance(scale=scale) == pytest.approx(variance, rel=1e-9)
    z = np.array([0, 1, 2, reach // 7])
    tails = [chances[np.abs(values) >= one].sum() for one in z]
    assert discrete_laplace_tail(z, scale=scale) == pytest.approx(tails, rel=1e-9)


@given(VARIANCES)
def test_the_gaussian_formulas_agree_with_plain_sums(variance: float) -> None:
    reach = ceil(9 * sqrt(variance)) + 2
    values = range(-reach, reach + 1)
    plain = np.array(plain_gaussian(variance, values))
    chances = discrete_gaussian_probability(values, variance=variance)
    assert chances == pytest.approx(plain, rel=1e-11, abs=1e-300)
    spread = (np.array(values) ** 2 * plain).sum()
    assert discrete_gaussian_variance(variance=variance) == pytest.approx(spread, rel=1e-9)
    z = np.array([0, 1, 2, reach // 3])
    tails = [plain[np.abs(np.array(values)) >= one].sum() for one in z]
    assert discrete_gaussian_tail(z, variance=variance) == pytest.approx(tails, rel=1e-9)


@given(SCALES, st.floats(0.01, 0.999))
def test_the_bound_is_the_least_distance_that_is_rare(scale: float, level: float) -> None:
    z = discrete_laplace_bound(scale=scale, level=level)
    assert float(discrete_laplace_tail(z, scale=scale)) <= 1 - level
    assert z == 1 or float(discrete_laplace_tail(z - 1, scale=scale)) > 1 - level


def test_the_noise_is_less_spread_than_continuous_noise() -> None:
    for scale in (0.1, 1, 7.5, 1000):
        assert discrete_laplace_variance(scale=scale) < 2 * scale**2
    assert discrete_laplace_variance(scale=1000) == pytest.approx(2e6 - 1 / 6, rel=1e-12)
    for variance in (0.01, 0.3, 0.99, 1, 1.01):
        assert discrete_gaussian_variance(variance=variance) < variance


def test_the_sum_changes_its_formula_without_a_jump() -> None:
    # Below a variance of 1, the terms are added up; otherwise, Poisson's formula is used.
    below, above = 1 - 2**-53, 1.0
    for value in (0, 1, 9):
        first = float(discrete_gaussian_probability(value, variance=below))
        second = float(discrete_gaussian_probability(value, variance=above))
        assert first == pytest.approx(second, rel=1e-14)
    assert discrete_gaussian_variance(variance=below) == pytest.approx(
        discrete_gaussian_variance(variance=above), rel=1e-14
    )


def test_one_report_changes_a_laplace_probability_by_epsilon_at_most() -> None:
    scale = 4.0
    chances = discrete_laplace_probability(np.arange(-200, 201), scale=scale)
    ratios = np.abs(np.diff(np.log(chances)))
    assert ratios.max() == pytest.approx(1 / scale, rel=1e-9)


def test_all_cells_together_stay_within_the_bound_rounded_up() -> None:
    bound = simultaneous_bound(scale=10, cells=10)
    assert f"{bound:.6f}" == "52.983174"
    assert bound == pytest.approx(10 * log(10 / 0.05), rel=1e-14)
    for scale in (0.3, 1, 2, 10, 37.5):
        for cells in (1, 4, 10, 20, 300):
            whole = ceil(simultaneous_bound(scale=scale, cells=cells))
            beyond = float(discrete_laplace_tail(whole + 1, scale=scale))
            assert cells * beyond <= 0.05


def test_the_bound_that_is_not_rounded_up_is_missed_more_often() -> None:
    # b = 1, K = 1: the bound is 2.996, and the noise is 3 or more in .073 of all draws.
    bound = simultaneous_bound(scale=1, cells=1)
    assert bound < 3
    assert float(discrete_laplace_tail(3, scale=1)) == pytest.approx(0.0728, abs=1e-4)


def test_a_simulated_table_meets_the_simultaneous_bound() -> None:
    random = np.random.default_rng(20)
    runs, cells, scale = 20_000, 10, 10.0
    # A difference of two geometric numbers is discrete Laplace.
    stop = -np.expm1(-1 / scale)
    noise = random.geometric(stop, (runs, cells)) - random.geometric(stop, (runs, cells))
    misses = int((np.abs(noise).max(axis=1) > ceil(52.983174)).sum())
    print(f"{misses} of {runs} tables beyond the bound, at most {0.05 * runs:.0f} expected")
    assert binom.sf(misses - 1, runs, 0.05) > 1e-6
    # The union bound is close: 1 - (1 - P(|Z| >= 54))**10 = .0464.
    assert binom.cdf(misses, runs, 0.0464) > 1e-6


def test_the_bound_agrees_with_opendp() -> None:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    # OpenDP states its accuracy as a real number a with P(|Z| >= a) = alpha; our bound is a,
    # rounded up.
    for scale in (1.0, 2.0, 4.0, 10.0, 20.0):
        accuracy = dp.discrete_laplacian_scale_to_accuracy(scale=scale, alpha=0.05)
        assert discrete_laplace_bound(scale=scale) == ceil(accuracy)


def test_extreme_scales_give_no_nonsense() -> None:
    for scale in (1e-320, 1e-3, Fraction(1, 1000)):
        assert discrete_laplace_probability([0, 1], scale=scale).tolist() == [1.0, 0.0]
        assert discrete_laplace_tail([0, 1], scale=scale).tolist() == [1.0, 0.0]
        assert discrete_laplace_variance(scale=scale) == 0.0
        assert discrete_laplace_bound(scale=scale) == 1
    assert discrete_laplace_variance(scale=1e6) == pytest.approx(2e12, rel=1e-12)
    assert float(discrete_laplace_probability(0, scale=1e6)) == pytest.approx(5e-7, rel=1e-12)
    assert discrete_laplace_bound(scale=1e6) == ceil(1e6 * log(20))
    assert discrete_gaussian_probability([0, 1], variance=1e-6).tolist() == [1.0, 0.0]
    assert discrete_gaussian_variance(variance=1e-6) == 0.0
    assert discrete_gaussian_tail([0, 1], variance=1e-320).tolist() == [1.0, 0.0]
    assert discrete_gaussian_variance(variance=1e300) == 1e300
    # With a standard deviation of a million, the tail is that of the continuous distribution half a
    # count earlier.
    tail = float(discrete_gaussian_tail(1_000_000, variance=10**12))
    assert tail == pytest.approx(0.317310508 + 0.5e-6 * 2 * 0.2419707, abs=1e-9)


def test_tails_are_never_too_small() -> None:
    for variance in (0.3, 1.0, 17.8, 1000.0):
        plain = plain_gaussian(variance, range(400))
        for z in (1, 2, 5):
            exact = 2 * fsum(plain[z:])
            assert exact <= float(discrete_gaussian_tail(z, variance=variance))
    assert float(discrete_gaussian_tail(0, variance=1)) == 1.0


def test_arrays_keep_their_shape() -> None:
    values = [[0, 1, 2], [3, 4, 5]]
    assert discrete_laplace_probability(values, scale=2).shape == (2, 3)
    assert discrete_laplace_tail(values, scale=2).shape == (2, 3)
    assert discrete_gaussian_probability(values, variance=2).shape == (2, 3)
    assert discrete_gaussian_tail(values, variance=2).shape == (2, 3)


def test_numbers_too_large_or_too_small_for_a_float_are_refused() -> None:
    for scale in (10**400, Fraction(1, 10**400), Fraction(10**400, 3), inf):
        with pytest.raises(ValueError, match="scale must be positive and finite"):
            discrete_laplace_variance(scale=scale)
