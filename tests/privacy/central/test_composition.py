"""The total loss of releases: the table of the reference, and totals computed by other software."""

from __future__ import annotations

from fractions import Fraction
from math import exp, expm1, inf, log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.central.composition import (
    advanced_sum,
    group_delta,
    parallel_epsilon,
    pure_rho,
    round_up_fraction,
    zcdp_epsilon,
)
from privacy.mechanism.accounting import cumulative_epsilon
from privacy.mechanism.composition_with_delta import (
    advanced_composition,
    exact_composition,
    zcdp_composition,
)


@pytest.mark.parametrize(
    ("count", "epsilon", "delta", "basic", "advanced", "loose", "exact"),
    [
        (200, 0.05, 1e-6, "10.0", "4.229633153", "3.966922189", "3.276336055"),
        (200, 0.05, 1e-9, "10.0", "5.064992352", "4.802281388", "4.162099502"),
        (52, 0.1, 1e-6, "5.2", "4.337420528", "4.050531754", "3.241274274"),
        (1000, 0.01, 1e-6, "10.0", "1.762759807", "1.712258136", "1.365446710"),
        (12, 0.5, 1e-6, "6.0", "12.996890401", "10.604562776", "5.999704381"),
    ],
)
def test_many_small_releases_have_known_sums(
    count: int, epsilon: float, delta: float, basic: str, advanced: str, loose: str, exact: str
) -> None:
    epsilons = [epsilon] * count
    assert f"{cumulative_epsilon(epsilons):.1f}" == basic
    assert f"{advanced_sum(epsilons=epsilons, delta=delta):.9f}" == advanced
    # Bun and Steinke (2016) convert rho to rho + 2 sqrt(rho ln(1 / delta)).
    rho = count * pure_rho(epsilon)
    bun_steinke = rho + 2 * sqrt(rho * log(1 / delta))
    assert f"{bun_steinke:.9f}" == loose
    assert zcdp_composition(epsilons=epsilons, delta=delta) == pytest.approx(bun_steinke)
    assert f"{exact_composition(epsilons=epsilons, delta=delta):.9f}" == exact
    # The conversion that the product uses lies between these two values.
    assert float(exact) < zcdp_epsilon(rho=rho, delta=delta) < bun_steinke


KNOWN_RHO = [
    (0.005, "0.429941469"),
    (0.02, "0.899935268"),
    (0.0625, "1.659979050"),
    (0.1, "2.141938928"),
    (0.5, "5.221534445"),
]


@pytest.mark.parametrize(("rho", "epsilon"), KNOWN_RHO)
def test_rho_converts_to_known_epsilons(rho: float, epsilon: str) -> None:
    assert f"{zcdp_epsilon(rho=rho, delta=1e-6):.9f}" == epsilon


@pytest.mark.parametrize(("rho", "epsilon"), KNOWN_RHO)
def test_opendp_converts_rho_alike(rho: float, epsilon: str) -> None:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    noise: Any = dp.m.make_gaussian(*space, scale=sqrt(0.5 / rho))
    converted: Any = dp.c.make_zCDP_to_approxDP(noise)
    curve = converted.map(1.0)
    assert zcdp_epsilon(rho=rho, delta=1e-6) == pytest.approx(curve.epsilon(delta=1e-6), rel=1e-9)


def bound_at(alpha: float, rho: float, delta: float) -> float:
    """Compute the bound of proposition 12 at one order, as it is printed."""
    rest = log(1 / delta) + (alpha - 1) * log(1 - 1 / alpha) - log(alpha)
    return rho * alpha + rest / (alpha - 1)


@given(st.floats(1e-8, 1e3), st.floats(1e-15, 0.9))
def test_the_conversion_takes_the_best_order(rho: float, delta: float) -> None:
    found = zcdp_epsilon(rho=rho, delta=delta)
    orders = 1 + np.logspace(-4, 6, 400)
    least = min(bound_at(float(alpha), rho, delta) for alpha in orders)
    assert found <= max(least, 0) + 1e-9 * (1 + rho)
    # Neighbouring orders differ by 6 %, so the smallest bound on the grid is close to the minimum.
    assert found >= max(least, 0) * 0.99 - 1e-6


def test_the_conversion_is_never_below_the_exact_gaussian_loss() -> None:
    from privacy.central.calibration import discrete_gaussian_delta

    for rho in (0.005, 0.1, 0.5):
        epsilon = zcdp_epsilon(rho=rho, delta=1e-6)
        variance = 1 / (2 * rho)
        delta = discrete_gaussian_delta(variance=variance, squared_sensitivity=1, epsilon=epsilon)
        assert delta <= 1e-6


def test_extreme_rho_gives_no_nonsense() -> None:
    assert zcdp_epsilon(rho=0, delta=1e-6) == 0.0
    # A delta of .9 covers a tiny loss entirely.
    assert zcdp_epsilon(rho=1e-9, delta=0.9) == 0.0
    assert zcdp_epsilon(rho=1e-30, delta=1e-9) == 0.0
    assert 0 < zcdp_epsilon(rho=1e-12, delta=1e-9) < 1e-5
    assert zcdp_epsilon(rho=1e6, delta=1e-9) == pytest.approx(1e6 + 2 * sqrt(1e6 * 20.7), rel=1e-3)
    assert zcdp_epsilon(rho=1e300, delta=1e-9) == pytest.approx(1e300)


def test_pure_rho_is_half_the_square_and_never_less() -> None:
    assert pure_rho(1) == 0.5
    assert pure_rho(0.5) == 0.125
    for epsilon in (0.1, 0.3, 1 / 3, 2.94, Fraction(1, 3)):
        assert Fraction(pure_rho(epsilon)) >= Fraction(epsilon) ** 2 / 2
        assert pure_rho(epsilon) == pytest.approx(float(epsilon) ** 2 / 2, rel=1e-15)


@given(st.floats(0.001, 2), st.integers(1, 500), st.floats(1e-12, 0.5))
def test_equal_releases_have_the_advanced_bound_of_the_theorem(
    epsilon: float, count: int, delta: float
) -> None:
    expected = advanced_composition(epsilon=epsilon, count=count, delta=delta)
    found = advanced_sum(epsilons=[epsilon] * count, delta=delta)
    assert found == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=8), st.floats(1e-9, 0.1))
def test_the_advanced_bound_of_unequal_releases_is_valid(
    epsilons: list[float], delta: float
) -> None:
    bound = advanced_sum(epsilons=epsilons, delta=delta)
    assert exact_composition(epsilons=epsilons, delta=delta) <= bound


def test_advanced_sums_too_large_for_a_float_are_infinite() -> None:
    assert advanced_sum(epsilons=[1e300], delta=0.1) == inf
    assert advanced_sum(epsilons=[400.0, 0.1], delta=0.1) == inf


def test_releases_about_disjoint_people_cost_the_largest() -> None:
    assert parallel_epsilon(epsilons=[0.5, 1.0, 0.25]) == 1.0


def test_a_group_has_a_known_delta() -> None:
    found = group_delta(epsilon=0.5, delta=1e-6, people=3)
    assert f"{found * 1e6:.9f}" == "5.367003099"
    # In a chain of three neighbours, each step is weighted with the epsilons of the steps before
    # it.
    chain = 1e-6 * (1 + exp(0.5) + exp(1.0))
    assert found == pytest.approx(chain, rel=1e-11)
    # The bound g exp(g epsilon) delta is valid too, but 2.5 times looser.
    assert 3 * 1e-6 * exp(1.5) / found == pytest.approx(2.505, abs=1e-3)


def test_a_group_bound_holds_for_the_gaussian() -> None:
    from privacy.central.calibration import discrete_gaussian_delta

    # Three people in one cell change its count by three. A sensitivity of 3 is like a step of 1
    # with variance / 9.
    single = discrete_gaussian_delta(variance=64, squared_sensitivity=1, epsilon=0.5)
    values = np.arange(-400, 401)
    chances = np.exp(-(values**2) / 128.0)
    chances /= chances.sum()
    three = np.maximum(chances[3:] - exp(1.5) * chances[:-3], 0).sum()
    assert 0 < three <= group_delta(epsilon=0.5, delta=single, people=3)


def test_group_delta_at_the_edges() -> None:
    assert group_delta(epsilon=0.5, delta=0.0, people=10**9) == 0.0
    assert group_delta(epsilon=0.5, delta=1e-6, people=1) == 1e-6
    assert group_delta(epsilon=0.5, delta=1e-6, people=10**9) == 1.0
    assert group_delta(epsilon=1e-12, delta=1e-9, people=5) == pytest.approx(5e-9, rel=1e-9)
    large = group_delta(epsilon=1000, delta=1e-300, people=1)
    assert large == 1e-300
    # The two groups lie on either side of the point where exp(g epsilon) no longer fits into a
    # float.
    near = [group_delta(epsilon=0.7, delta=1e-305, people=people) for people in (1000, 1001)]
    assert near[1] / near[0] == pytest.approx(exp(0.7), rel=1e-6)
    assert near[0] == pytest.approx(1e-305 * (expm1(700.0) / expm1(0.7)), rel=1e-9)


def test_fractions_are_rounded_up_to_floats() -> None:
    for value in (Fraction(1, 3), Fraction(10, 3), Fraction(1, 10), Fraction(1, 4), Fraction(0)):
        found = round_up_fraction("epsilon", value)
        assert Fraction(found) >= value
        assert found == pytest.approx(float(value), rel=1e-15)
    assert round_up_fraction("epsilon", Fraction(1, 4)) == 0.25
    with pytest.raises(ValueError, match="epsilon is too large"):
        round_up_fraction("epsilon", Fraction(10**400))
