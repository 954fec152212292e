"""Losses are never understated: each is at least its value to fifty digits, and close to it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import (  # type: ignore[import-untyped]
    exp,
    expm1,
    log,
    mp,
    mpf,
    ncdf,
    sqrt,
)

from privacy.central.calibration import analytic_gaussian_scale, gaussian_rho
from privacy.central.composition import advanced_sum, group_delta, pure_rho, zcdp_epsilon
from privacy.central.reader import reader_epsilon, reader_epsilon_by_distance
from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse

EPSILONS = st.floats(1e-12, 30)
DELTAS = st.floats(1e-15, 0.5)


@pytest.fixture(autouse=True, scope="module")
def _fifty_digits() -> Any:
    with mp.workdps(50):
        yield


def check_above(found: float, exact: Any, *, within: float = 1e-9) -> None:
    assert mpf(found) >= exact
    assert mpf(found) <= exact * (1 + within) + mpf(10) ** -300


@given(st.integers(2, 64), st.floats(1e-3, 15), EPSILONS)
def test_the_loss_of_readers(symbols: int, local: float, epsilon: float) -> None:
    mechanism = RandomizedResponse.from_epsilon(symbols=symbols, epsilon=local)
    t = mpf(mechanism.threshold) / SCALE
    c = (1 - t) / (symbols - 1)
    e = exp(mpf(epsilon))
    exact = log((t * e + (symbols - 1) * c) / (c * e + t + (symbols - 2) * c))
    check_above(reader_epsilon(mechanism=mechanism, epsilon=epsilon), exact, within=1e-12)


@given(st.floats(1e-9, 1), EPSILONS)
def test_the_general_bound_for_readers(distance: float, epsilon: float) -> None:
    exact = log(1 + mpf(distance) * expm1(mpf(epsilon)))
    found = reader_epsilon_by_distance(distance=distance, epsilon=epsilon)
    check_above(found, exact, within=1e-12)


@given(st.floats(1e-6, 1e3), DELTAS)
@settings(deadline=None)
def test_the_conversion_of_rho(rho: float, delta: float) -> None:
    found = zcdp_epsilon(rho=rho, delta=delta)
    # Find the best order to fifty digits from the same equation; any order would give a valid
    # bound.
    needed, low, high = -log(mpf(delta)), mpf(0), 1 / mpf(delta)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if rho * middle**2 + log(1 + middle) < needed else (low, middle)
    exact = rho * (1 + high) + (needed - log(1 + high)) / high - log(1 + 1 / high)
    if exact <= 0:
        assert 0 <= found < 1e-12
    else:
        assert mpf(found) >= exact
        assert mpf(found) <= exact * (1 + mpf("1e-9")) + mpf("1e-12")


@given(st.lists(st.floats(1e-6, 5), min_size=1, max_size=30), DELTAS)
def test_the_advanced_sum(epsilons: list[float], delta: float) -> None:
    exact = sqrt(2 * -log(mpf(delta)) * sum(mpf(e) ** 2 for e in epsilons))
    exact += sum(mpf(e) * expm1(mpf(e)) for e in epsilons)
    check_above(advanced_sum(epsilons=epsilons, delta=delta), exact, within=1e-12)


@given(st.floats(1e-9, 5), st.floats(1e-300, 1e-3), st.integers(2, 10**6))
def test_the_delta_of_a_group(epsilon: float, delta: float, people: int) -> None:
    exact = mpf(delta) * expm1(people * mpf(epsilon)) / expm1(mpf(epsilon))
    found = group_delta(epsilon=epsilon, delta=delta, people=people)
    if exact >= 1:
        assert found == 1.0
    else:
        check_above(found, exact)


@given(st.floats(1e-6, 100), st.integers(1, 4096), st.fractions(Fraction(1, 1000), 10**9))
def test_rho(epsilon: float, cells: int, variance: Fraction) -> None:
    assert Fraction(pure_rho(epsilon)) >= Fraction(epsilon) ** 2 / 2
    found = gaussian_rho(variance=variance, squared_sensitivity=cells)
    assert Fraction(found) >= cells / (2 * variance)


@given(st.floats(0.001, 20), st.floats(1e-12, 0.3), st.floats(0.1, 100))
@settings(max_examples=50, deadline=None)
def test_the_scale_of_gaussian_noise(epsilon: float, delta: float, sensitivity: float) -> None:
    sigma = analytic_gaussian_scale(epsilon=epsilon, delta=delta, sensitivity=sensitivity)

    def met(scale: Any) -> Any:
        u, e = mpf(sensitivity) / scale, mpf(epsilon)
        return ncdf(u / 2 - e / u) - exp(e) * ncdf(-u / 2 - e / u)

    # There is enough noise, and no more than needed.
    assert met(mpf(sigma)) <= mpf(delta)
    assert met(mpf(sigma) * (1 - mpf("1e-8"))) > mpf(delta)
