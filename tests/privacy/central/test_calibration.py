"""The amount of noise: known values, sums over every outcome, and two other libraries."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, erfc, exp, log, pi, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.central.calibration import (
    TableNoise,
    analytic_gaussian_scale,
    choose_table_noise,
    discrete_gaussian_delta,
    gaussian_rho,
)
from privacy.central.noise import discrete_gaussian_variance, discrete_laplace_variance

LIMITS = [(1, 1e-6), (0.5, 1e-6), (0.5, 1e-9), (2, 1e-6)]


def classical_scale(epsilon: float, delta: float) -> float:
    """Apply the rule of Dwork and Roth (2014), theorem A.1, proven only for epsilon < 1."""
    return sqrt(2 * log(1.25 / delta)) / epsilon


def normal_tail(x: float) -> float:
    return erfc(x / sqrt(2)) / 2


@pytest.mark.parametrize(
    ("limit", "analytic", "classical"),
    [
        (LIMITS[0], "4.224678889", "5.298802527"),
        (LIMITS[1], "8.057618481", "10.597605054"),
        (LIMITS[2], "10.673896815", "12.944932410"),
        (LIMITS[3], "2.230476271", "2.649401263"),
    ],
)
def test_gaussian_scales_have_known_values(
    limit: tuple[float, float], analytic: str, classical: str
) -> None:
    epsilon, delta = limit
    assert f"{analytic_gaussian_scale(epsilon=epsilon, delta=delta):.9f}" == analytic
    assert f"{classical_scale(epsilon, delta):.9f}" == classical


@pytest.mark.parametrize(("epsilon", "delta"), LIMITS)
def test_dp_accounting_finds_the_same_scale(epsilon: float, delta: float) -> None:
    from dp_accounting import gaussian_mechanism

    expected = gaussian_mechanism.get_sigma_gaussian(epsilon, delta)
    assert analytic_gaussian_scale(epsilon=epsilon, delta=delta) == pytest.approx(
        expected, rel=1e-8
    )


@given(st.floats(0.001, 50), st.floats(1e-12, 0.9), st.floats(0.01, 100))
def test_the_scale_meets_delta_and_no_more(
    epsilon: float, delta: float, sensitivity: float
) -> None:
    found = analytic_gaussian_scale(epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    u = sensitivity / found
    # Balle and Wang (2018), theorem 8, as printed. Its terms nearly cancel, which the tolerance
    # allows for.
    upper = normal_tail(epsilon / u - u / 2)
    met = upper - exp(epsilon) * normal_tail(epsilon / u + u / 2)
    assert met == pytest.approx(delta, rel=1e-6, abs=1e-13 * upper + 1e-14)
    assert found == pytest.approx(
        sensitivity * analytic_gaussian_scale(epsilon=epsilon, delta=delta), rel=1e-12
    )


def test_the_classical_rule_wastes_noise_and_then_breaks() -> None:
    # The classical rule adds 25 % too much noise at epsilon = 1, and too little from 8.79 on.
    assert classical_scale(1, 1e-6) / 4.224678889 == pytest.approx(1.254, abs=1e-3)
    for epsilon, private in ((8.78, True), (8.80, False)):
        needed = analytic_gaussian_scale(epsilon=epsilon, delta=1e-6)
        assert (classical_scale(epsilon, 1e-6) >= needed) is private
    sigma = classical_scale(10, 1e-6)
    delta = normal_tail(10 * sigma - 0.5 / sigma) - exp(10) * normal_tail(10 * sigma + 0.5 / sigma)
    assert f"{delta * 1e6:.2f}" == "1.90"


def enumerate_delta(variance: float, cells: int, epsilon: float, reach: int) -> float:
    """Compute delta from every combination of noise in the changed cells, in both directions."""
    one = np.arange(-reach, reach + 1)
    chances = np.exp(-(one**2) / (2 * variance))
    chances /= chances.sum()
    present, absent = np.ones(1), np.ones(1)
    for _ in range(cells):
        # Chances of the same outcome with and without the report, which adds one to each cell.
        present = np.multiply.outer(present, np.append(0, chances)).ravel()
        absent = np.multiply.outer(absent, np.append(chances, 0)).ravel()
    up = np.maximum(present - exp(epsilon) * absent, 0).sum()
    down = np.maximum(absent - exp(epsilon) * present, 0).sum()
    assert up == pytest.approx(down, rel=1e-6, abs=1e-15)
    return float(max(up, down))


@pytest.mark.parametrize("cells", [1, 2, 3])
@pytest.mark.parametrize("variance", [0.3, 1.0, 3.99, 4.01, 9.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.7, 1.5])
def test_delta_agrees_with_listing_every_outcome(
    cells: int, variance: float, epsilon: float
) -> None:
    reach = ceil(9 * sqrt(variance)) + 2
    expected = enumerate_delta(variance, cells, epsilon, reach)
    found = discrete_gaussian_delta(variance=variance, squared_sensitivity=cells, epsilon=epsilon)
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-13)


def convolve_delta(variance: float, cells: int, epsilon: float) -> float:
    """Compute delta from the sum of the changed cells' noise, by convolving cell after cell."""
    reach = ceil(13 * sqrt(variance)) + 2
    one = np.arange(-reach, reach + 1)
    chances = np.exp(-(one**2) / (2 * variance))
    chances /= chances.sum()
    total = np.ones(1)
    for _ in range(cells):
        total = np.convolve(total, chances)
    sums = np.arange(len(total)) - len(total) // 2
    losses = (sums + cells / 2) / variance
    return float((total * -np.expm1(np.minimum(epsilon - losses, 0))).sum())


@pytest.mark.parametrize(
    ("variance", "cells", "epsilon"),
    [
        (0.5, 40, 60.0), (1.7, 25, 20.0), (3.9, 64, 30.0), (3.9, 7, 2.0), (4.0, 2, 1.0),
        (4.0, 64, 30.0), (17.8, 1, 1.0), (17.8, 10, 3.0), (160.0, 9, 1.0), (500.0, 30, 0.5),
    ],
)  # fmt: skip
def test_delta_agrees_with_convolution(variance: float, cells: int, epsilon: float) -> None:
    expected = convolve_delta(variance, cells, epsilon)
    assert expected > 1e-12
    found = discrete_gaussian_delta(variance=variance, squared_sensitivity=cells, epsilon=epsilon)
    assert found == pytest.approx(expected, rel=1e-8)
    assert found >= expected * (1 - 1e-11)


@pytest.mark.parametrize(("sigma", "epsilon"), [(0.7, 2.0), (1.0, 1.0), (4.0, 1.0), (13.0, 0.2)])
def test_dp_accounting_finds_the_same_delta(sigma: float, epsilon: float) -> None:
    from dp_accounting.pld.privacy_loss_mechanism import DiscreteGaussianPrivacyLoss

    expected = DiscreteGaussianPrivacyLoss(sigma=sigma, sensitivity=1).get_delta_for_epsilon(
        epsilon
    )
    found = discrete_gaussian_delta(variance=sigma**2, squared_sensitivity=1, epsilon=epsilon)
    assert found == pytest.approx(expected, rel=1e-7)


def test_a_replaced_code_changes_two_cells_in_opposite_directions() -> None:
    # All outcomes are listed: one cell gains one, and another loses one.
    variance, epsilon = 6.0, 0.8
    one = np.arange(-30, 31)
    chances = np.exp(-(one**2) / (2 * variance))
    chances /= chances.sum()
    before = np.multiply.outer(np.append(0, chances), np.append(chances, 0))
    after = np.multiply.outer(np.append(chances, 0), np.append(0, chances))
    expected = np.maximum(before - exp(epsilon) * after, 0).sum()
    found = discrete_gaussian_delta(variance=variance, squared_sensitivity=2, epsilon=epsilon)
    assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("scale", [1.0, 4.0, 12.5])
def test_opendp_maps_gaussian_noise_to_the_same_rho(scale: float) -> None:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    noise: Any = dp.m.make_gaussian(*space, scale=scale)
    for cells in (1, 2, 10):
        found = gaussian_rho(variance=scale**2, squared_sensitivity=cells)
        assert found == pytest.approx(noise.map(sqrt(cells)), rel=1e-12)


def test_rho_is_exact_or_rounded_up() -> None:
    assert gaussian_rho(variance=Fraction(16), squared_sensitivity=2) == 0.0625
    for variance in (Fraction(7921, 25), 3.3, 178.48):
        exact = 10 / (2 * Fraction(variance))
        found = Fraction(gaussian_rho(variance=variance, squared_sensitivity=10))
        assert exact <= found <= exact * (1 + Fraction(1, 2**52))


def test_laplace_noise_is_chosen_up_to_eight_symbols_and_gaussian_from_nine_on() -> None:
    kinds = [choose_table_noise(symbols=s, epsilon=1, delta=1e-6).mechanism for s in range(1, 21)]
    assert kinds == ["laplace"] * 8 + ["gaussian"] * 12
    # By the classical rule, Gaussian noise would be smaller only from 15 symbols on.
    variances = [(s * classical_scale(1, 1e-6) ** 2, 2 * s**2) for s in (14, 15)]
    assert [gaussian < laplace for gaussian, laplace in variances] == [False, True]


def test_delta_is_added_to_the_chance_and_is_not_how_often_the_factor_is_exceeded() -> None:
    """In a table of nine symbols, one more person adds one to nine cells, and nine to their sum."""
    noise = choose_table_noise(symbols=9, epsilon=1, delta=1e-6)
    cell = np.arange(-200, 201)
    weights = np.exp(-(cell**2) / (2 * noise.variance))
    chances = np.ones(1)
    for _ in range(9):
        chances = np.convolve(chances, weights / weights.sum())
    total = np.arange(len(chances)) - 9 * 200
    loss = (2 * total + 9) / (2 * noise.variance)
    exceeded = float(chances[loss > 1].sum())
    assert 19e-6 < exceeded < 20e-6  # "except with a probability of 10⁻⁶" is false
    beyond = float((chances * np.clip(1 - np.exp(1 - loss), 0, None)).sum())
    assert beyond <= noise.delta == 1e-6  # P <= e P' + δ holds for every set of tables


def test_without_a_delta_the_noise_is_laplace() -> None:
    assert choose_table_noise(symbols=10, epsilon=Fraction(1, 2), delta=0.0) == TableNoise(
        mechanism="laplace",
        scale=Fraction(20),
        variance=discrete_laplace_variance(scale=20),
        epsilon=0.5,
        delta=0.0,
        rho=0.125,
    )


def test_the_scale_is_exact() -> None:
    assert choose_table_noise(symbols=1, epsilon=Fraction(30, 100)).scale == Fraction(10, 3)
    # A float is read as the decimal that Python prints, not as its binary value.
    assert choose_table_noise(symbols=1, epsilon=0.3).scale == Fraction(10, 3)
    assert choose_table_noise(symbols=1, epsilon=np.float64(0.3)).scale == Fraction(10, 3)
    gaussian = choose_table_noise(symbols=30, epsilon=1, delta=1e-6)
    assert gaussian.mechanism == "gaussian"
    assert Fraction(float(gaussian.scale)) == gaussian.scale


@pytest.mark.parametrize("symbols", [9, 10, 30, 100, 1000])
@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.1, 1e-9), (3, 1e-6), (0.5, 1e-7)])
def test_gaussian_noise_keeps_its_delta_and_is_hardly_wider_than_needed(
    symbols: int, epsilon: float, delta: float
) -> None:
    noise = choose_table_noise(symbols=symbols, epsilon=epsilon, delta=delta)
    if noise.mechanism == "laplace":
        sigma = analytic_gaussian_scale(epsilon=epsilon, delta=delta, sensitivity=sqrt(symbols))
        assert noise.variance <= (sigma + 1 / 64) ** 2
        return
    variance = noise.scale**2
    rules: dict[str, Any] = {"squared_sensitivity": symbols, "epsilon": epsilon}
    assert discrete_gaussian_delta(variance=variance, **rules) <= delta
    narrower = (noise.scale - Fraction(1, 64)) ** 2
    assert discrete_gaussian_delta(variance=narrower, **rules) > delta
    assert noise.variance == discrete_gaussian_variance(variance=variance)
    assert noise.variance < discrete_laplace_variance(scale=Fraction(symbols) / Fraction(epsilon))
    assert noise.rho == gaussian_rho(variance=variance, squared_sensitivity=symbols)
    # An epsilon converted from the rho of the noise would be larger than the intended one.
    assert (noise.epsilon, noise.delta) == (epsilon, delta)


@given(st.integers(1, 40), st.integers(10, 300), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_the_chosen_noise_has_the_smaller_variance(
    symbols: int, hundredths: int, nanos: int
) -> None:
    epsilon = Fraction(hundredths, 100)
    noise = choose_table_noise(symbols=symbols, epsilon=epsilon, delta=nanos / 1e9)
    assert noise.variance <= discrete_laplace_variance(scale=symbols / epsilon)
    assert Fraction(noise.epsilon) >= epsilon
    assert noise.delta in (0.0, nanos / 1e9)


def test_extreme_noise_gives_no_nonsense() -> None:
    most: dict[str, Any] = {"squared_sensitivity": 64, "epsilon": 1e-4}
    assert discrete_gaussian_delta(variance=10**12, **most) < 1e-12
    # With so little noise, the report is almost certainly revealed.
    assert discrete_gaussian_delta(variance=1e-3, squared_sensitivity=1, epsilon=1) == (
        pytest.approx(1)
    )
    assert discrete_gaussian_delta(variance=1e-3, squared_sensitivity=4096, epsilon=1) == (
        pytest.approx(1)
    )
    assert discrete_gaussian_delta(variance=16, squared_sensitivity=1, epsilon=1e6) < 1e-300
    # With u = 1 / sigma tiny, delta is u phi(epsilon / u) - epsilon Phi(-epsilon / u).
    u = 1 / analytic_gaussian_scale(epsilon=1e-6, delta=1e-9)
    density = exp(-((1e-6 / u) ** 2) / 2) / sqrt(2 * pi)
    assert u * density - 1e-6 * normal_tail(1e-6 / u) == pytest.approx(1e-9, rel=1e-5)
    assert analytic_gaussian_scale(epsilon=1000, delta=1e-9) < 0.1
    assert analytic_gaussian_scale(epsilon=1, delta=1 - 1e-9) < 0.1
    noise = choose_table_noise(symbols=4096, epsilon=Fraction(1, 10), delta=1e-9)
    assert noise.mechanism == "gaussian"
    assert choose_table_noise(symbols=1, epsilon=Fraction(300), delta=1e-9).variance < 1e-100
