"""Shares from noisy tables: known values, the formula computed by hand, and simulated coverage."""

from __future__ import annotations

from dataclasses import astuple
from fractions import Fraction
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from privacy.central.calibration import analytic_gaussian_scale, choose_table_noise
from privacy.central.noise import (
    discrete_gaussian_probability,
    discrete_gaussian_variance,
    discrete_laplace_variance,
)
from privacy.central.table import least_people, table_interval, table_standard_error
from privacy.mechanism.mechanisms import RandomizedResponse

Whole = NDArray[np.int64]
COINS: dict[str, Any] = {"other_probability": 0.25, "slope": 0.5}
DECLARED: dict[str, Any] = {"other_probability": 0.0, "slope": 1.0}
Z_SQUARE = 1.959963984540054**2


def channel(symbols: int, epsilon: float | None) -> dict[str, Any]:
    if epsilon is None:
        return DECLARED
    mechanism = RandomizedResponse.from_epsilon(symbols=symbols, epsilon=epsilon)
    return {"other_probability": mechanism.other_probability, "slope": mechanism.slope}


def total_error(noise_variance: float) -> float:
    return table_standard_error(
        share=0.3, people=1000, mechanism_k=2, noise_variance=noise_variance, **COINS
    ).total


def test_the_example_has_known_standard_errors() -> None:
    assert f"{total_error(0):.9f}" == "0.030983867"
    assert f"{total_error(discrete_laplace_variance(scale=2)):.9f}" == "0.031245762"
    # Ten symbols at epsilon 1: Laplace with b = 10, or the analytic Gaussian at delta = 1e-6.
    assert f"{total_error(discrete_laplace_variance(scale=10)):.9f}" == "0.037089803"
    sigma = analytic_gaussian_scale(epsilon=1, delta=1e-6, sensitivity=sqrt(10))
    assert f"{total_error(sigma**2):.9f}" == "0.036486115"
    # With the grid of 1 / 64 and the discrete delta, the error is hardly larger.
    chosen = choose_table_noise(symbols=10, epsilon=1, delta=1e-6)
    assert 0.036486115 < total_error(chosen.variance) < 0.0365


def test_publishing_one_question_costs_less_than_a_percent() -> None:
    assert total_error(discrete_laplace_variance(scale=2)) / total_error(0) == pytest.approx(
        1.0085, abs=1e-4
    )


def test_the_example_has_known_parts() -> None:
    spread = table_standard_error(
        share=0.3,
        people=1000,
        mechanism_k=2,
        noise_variance=discrete_laplace_variance(scale=2),
        **COINS,
    )
    parts = [f"{part:.9f}" for part in astuple(spread)[:3]]
    assert parts == ["0.014491377", "0.027386128", "0.004037032"]


@given(
    st.floats(0, 1),
    st.integers(1, 10**7),
    st.integers(2, 64),
    st.floats(0.01, 6),
    st.floats(0, 1e9),
)
def test_the_squares_of_the_parts_add_up(
    share: float, people: int, k: int, epsilon: float, variance: float
) -> None:
    spread = table_standard_error(
        share=share,
        people=people,
        mechanism_k=k,
        noise_variance=variance,
        **channel(k, epsilon),
    )
    squares = spread.people**2 + spread.scrambling**2 + spread.publication**2
    assert spread.total**2 == pytest.approx(squares, rel=1e-9)
    assert min(astuple(spread)) >= 0


def test_a_declared_answer_is_not_scrambled() -> None:
    for share in (0.0, 0.1, 0.3, 0.7, 1.0):
        spread = table_standard_error(
            share=share, people=777, mechanism_k=3, noise_variance=8.0, **DECLARED
        )
        assert spread.scrambling == 0.0
        assert spread.people == pytest.approx(sqrt(share * (1 - share) / 777))


# Draws of noise, only for simulation.


def draw_laplace(random: np.random.Generator, scale: float, shape: tuple[int, ...]) -> Whole:
    stop = -np.expm1(-1 / scale)
    return random.geometric(stop, shape) - random.geometric(stop, shape)


def draw_gaussian(random: np.random.Generator, sigma: float, shape: tuple[int, ...]) -> Whole:
    values = np.arange(-int(9 * sigma) - 2, int(9 * sigma) + 3)
    chances = discrete_gaussian_probability(values, variance=sigma**2)
    return random.choice(values, size=shape, p=chances / chances.sum())


def draw_tables(
    random: np.random.Generator, *, share: float, people: int, k: int, runs: int, c: float, d: float
) -> Whole:
    """Draw counts of the codes if one answer has this share and the others have equal shares."""
    shown = c + d * share
    rest = (1 - shown) / (k - 1)
    return random.multinomial(people, [shown] + [rest] * (k - 1), size=runs)


def test_the_standard_error_is_that_of_simulated_tables() -> None:
    random = np.random.default_rng(11)
    runs, k, people, scale, share = 40_000, 3, 400, 8.0, 0.3
    c, d = channel(k, log(3)).values()
    cells = draw_tables(random, share=share, people=people, k=k, runs=runs, c=c, d=d)
    cells = cells + draw_laplace(random, scale, (runs, k))
    estimates = (cells[:, 0] / cells.sum(axis=1) - c) / d
    spread = table_standard_error(
        share=share,
        people=people,
        mechanism_k=k,
        other_probability=c,
        slope=d,
        noise_variance=discrete_laplace_variance(scale=scale),
    )
    # The formula is a first-order approximation. A simulated spread has a relative error of about
    # .0035.
    print(f"expected {spread.total:.6f}, observed {estimates.std():.6f} in {runs} runs")
    assert estimates.std() == pytest.approx(spread.total, rel=0.025)
    assert estimates.mean() == pytest.approx(share, abs=6 * spread.total / sqrt(runs) + 1e-3)


def test_the_example_has_a_known_interval() -> None:
    found = table_interval(
        count=[598, 405],
        people=598 + 405,
        codes=2,
        noise_variance=discrete_laplace_variance(scale=2),
        **COINS,
    )
    assert f"{found.share[1]:.9f}" == "0.307577268"
    assert f"{found.low[1]:.9f}" == "0.247171858"
    assert f"{found.high[1]:.9f}" == "0.369428146"
    # The intervals of two codes are mirror images.
    assert found.low[0] == pytest.approx(1 - found.high[1], abs=1e-12)
    assert found.high[0] == pytest.approx(1 - found.low[1], abs=1e-12)


@given(st.integers(-5, 305), st.integers(2, 6), st.floats(0.2, 4), st.floats(0, 200))
def test_an_interval_holds_what_the_score_test_keeps(
    count: int, k: int, epsilon: float, v: float
) -> None:
    people = 300
    c, d = channel(k, epsilon).values()
    found = table_interval(
        count=count, people=people, codes=k, other_probability=c, slope=d, noise_variance=v
    )
    shares = np.linspace(0, 1, 501)
    shown = c + d * shares
    spread = shown * (1 - shown) / people
    spread += v * ((1 - shown) ** 2 + (k - 1) * shown**2) / people**2
    excess = (count / people - shown) ** 2 - Z_SQUARE * spread
    inside = (found.low - 1e-9 <= shares) & (shares <= found.high + 1e-9) & ~found.contradiction
    clear = np.abs(excess) > 1e-12
    assert (inside == (excess <= 0))[clear].all()


def test_without_noise_it_is_wilsons_interval() -> None:
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(400, 1000, method="wilson")
    found = table_interval(count=400, people=1000, codes=2, noise_variance=0, **COINS)
    assert float(found.low) == pytest.approx((low - 0.25) / 0.5, rel=1e-9)
    assert float(found.high) == pytest.approx((high - 0.25) / 0.5, rel=1e-9)
    # The interval of a declared question is half a count wider at each end.
    low, _ = proportion_confint(399.5, 1000, method="wilson")
    _, high = proportion_confint(400.5, 1000, method="wilson")
    found = table_interval(count=400, people=1000, codes=2, noise_variance=0, **DECLARED)
    assert float(found.low) == pytest.approx(low, rel=1e-9)
    assert float(found.high) == pytest.approx(high, rel=1e-9)


def test_an_interval_is_cut_and_says_when_nothing_is_plausible() -> None:
    found = table_interval(
        count=[-900, 100, 1900], people=1000, codes=2, noise_variance=8.0, **COINS
    )
    assert found.contradiction.tolist() == [True, True, True]
    assert found.low.tolist() == found.high.tolist() == [0.0, 0.0, 1.0]
    assert found.share.tolist() == pytest.approx([-2.3, -0.3, 3.3])
    declared = table_interval(
        count=[-3, 0, 1000, 1002], people=1000, codes=2, noise_variance=8.0, **DECLARED
    )
    assert not declared.contradiction.any()
    assert declared.low[:2].tolist() == [0.0, 0.0]
    assert declared.high[2:].tolist() == [1.0, 1.0]
    assert (declared.low < declared.high).all()


def test_noise_that_hides_how_many_there_are_leaves_every_share_plausible() -> None:
    found = table_interval(
        count=20, people=50, codes=2, noise_variance=discrete_laplace_variance(scale=20), **COINS
    )
    assert (float(found.low), float(found.high)) == (0.0, 1.0)
    many = table_interval(
        count=[10] * 64, people=640, codes=64, noise_variance=8000.0, **channel(64, 2.0)
    )
    assert (many.low == 0).all()
    assert (many.high == 1).all()


@given(st.floats(0.001, 0.9), st.floats(0.91, 0.9999))
def test_a_higher_level_is_wider(level: float, higher: float) -> None:
    rules: dict[str, Any] = {"count": 405, "people": 1003, "codes": 2, "noise_variance": 7.8}
    narrow = table_interval(**rules, **COINS, level=level)
    wide = table_interval(**rules, **COINS, level=higher)
    assert wide.low < narrow.low < narrow.high < wide.high


SHARES = (0.0, 0.01, 0.05, 0.2, 0.5, 0.95, 1.0)


def covers(
    random: np.random.Generator,
    *,
    k: int,
    epsilon: float | None,
    share: float,
    people: int,
    noise: Whole,
    variance: float,
    needed: int,
) -> tuple[int, int]:
    """Count how many intervals are published, and how many of these cover the true share."""
    c, d = channel(k, epsilon).values()
    cells = draw_tables(random, share=share, people=people, k=k, runs=len(noise), c=c, d=d) + noise
    cells = cells[cells.sum(axis=1) >= needed]
    found = table_interval(
        count=cells[:, 0],
        people=cells.sum(axis=1),
        codes=k,
        other_probability=c,
        slope=d,
        noise_variance=variance,
    )
    hits = (found.low <= share + 1e-12) & (share <= found.high + 1e-12)
    return len(cells), int(hits.sum())


def lowest_allowed(runs: int) -> float:
    """Return the limit below which one cell in a million estimates a true coverage of .93."""
    return 0.93 - 4.9 * sqrt(0.93 * 0.07 / runs)


@pytest.mark.parametrize("scale", [1 / 3, 1.0, 2.0, 10.0, 20.0])
@pytest.mark.parametrize("epsilon", [0.5, log(3), 2.0, 2.94, None])
def test_intervals_with_laplace_noise_cover_the_true_share(
    scale: float, epsilon: float | None
) -> None:
    random = np.random.default_rng(20)
    needed, runs = least_people(scale=scale), 6000
    for k in (2, 3, 5):
        noise = draw_laplace(random, scale, (runs, k))
        for share in SHARES:
            for people in (max(needed, 20), max(2 * needed, 40), 5 * max(needed, 20)):
                shown, hits = covers(
                    random, k=k, epsilon=epsilon, share=share, people=people, noise=noise,
                    variance=discrete_laplace_variance(scale=scale), needed=needed,
                )  # fmt: skip
                print(f"k={k} share={share} n={people}: {hits} of {shown}")
                assert shown > runs / 3
                assert hits / shown > lowest_allowed(shown)


@pytest.mark.parametrize("symbols", [9, 30])
@pytest.mark.parametrize("epsilon", [0.5, log(3), 2.94, None])
def test_intervals_with_gaussian_noise_cover_the_true_share(
    symbols: int, epsilon: float | None
) -> None:
    random = np.random.default_rng(30)
    chosen = choose_table_noise(symbols=symbols, epsilon=1, delta=1e-6)
    assert chosen.mechanism == "gaussian"
    needed, runs = least_people(scale=chosen.scale, mechanism="gaussian"), 6000
    for k in (2, 3, 5):
        noise = draw_gaussian(random, float(chosen.scale), (runs, k))
        for share in SHARES:
            for people in (needed, 2 * needed, 5 * needed):
                shown, hits = covers(
                    random, k=k, epsilon=epsilon, share=share, people=people, noise=noise,
                    variance=chosen.variance, needed=needed,
                )  # fmt: skip
                print(f"k={k} share={share} n={people}: {hits} of {shown}")
                assert hits / shown > lowest_allowed(shown)


def highest_allowed(runs: int) -> float:
    """Return the limit above which one cell in a million estimates a true rate of .04."""
    return 0.04 + 4.9 * sqrt(0.04 * 0.96 / runs)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 10.0, 20.0])
@pytest.mark.parametrize("epsilon", [0.5, log(3), 2.94, None])
def test_with_fewer_people_a_share_is_seldom_both_published_and_wrong(
    scale: float, epsilon: float | None
) -> None:
    random = np.random.default_rng(21)
    needed, runs = least_people(scale=scale), 20_000
    for k in (2, 5):
        noise = draw_laplace(random, scale, (runs, k))
        for share in (0.0, 0.02, 0.1, 0.5, 1.0):
            for people in {needed * 6 // 10, needed * 8 // 10, needed * 9 // 10, needed - 1}:
                shown, hits = covers(
                    random, k=k, epsilon=epsilon, share=share, people=people, noise=noise,
                    variance=discrete_laplace_variance(scale=scale), needed=needed,
                )  # fmt: skip
                print(f"k={k} share={share} n={people}: {hits} of {shown}")
                assert (shown - hits) / runs < highest_allowed(runs)


def test_with_too_few_people_only_luck_publishes_and_those_intervals_mislead() -> None:
    random = np.random.default_rng(22)
    needed, runs = least_people(scale=20), 200_000
    shown, hits = covers(
        random, k=2, epsilon=None, share=0.0, people=120, needed=needed,
        noise=draw_laplace(random, 20.0, (runs, 2)), variance=discrete_laplace_variance(scale=20),
    )  # fmt: skip
    assert shown / runs == pytest.approx(0.028, abs=0.002)
    assert hits / shown == pytest.approx(0.55, abs=0.04)


def test_below_the_least_people_an_interval_says_nothing_or_misleads() -> None:
    random = np.random.default_rng(50)
    people, scale, runs = 50, 20.0, 20_000
    assert people < least_people(scale=scale)
    c, d = COINS.values()
    cells = draw_tables(random, share=0.2, people=people, k=2, runs=runs, c=c, d=d)
    cells = cells + draw_laplace(random, scale, (runs, 2))
    count, noisy = cells[:, 0], cells.sum(axis=1)
    shown = noisy >= 1
    variance = discrete_laplace_variance(scale=scale)
    found = table_interval(
        count=count[shown], people=noisy[shown], codes=2, noise_variance=variance, **COINS
    )
    empty = (found.low == 0) & (found.high == 1)
    covered = (found.low <= 0.2) & (found.high >= 0.2)
    assert empty.mean() > 0.85
    assert covered[~empty].mean() < 0.85
    # If the sign of `a` is not checked, the roots of the quadratic hardly ever cover the share as
    # ends.
    ratio, w = count[shown] / noisy[shown], variance / noisy[shown] ** 2
    a = 1 + Z_SQUARE * (1 / noisy[shown] - 2 * w)
    b = ratio + Z_SQUARE * (0.5 / noisy[shown] - w)
    root = np.sqrt(np.maximum(b * b - a * (ratio**2 - Z_SQUARE * w), 0))
    true = c + d * 0.2
    assert (((b - root) / a <= true) & (true <= (b + root) / a)).mean() < 0.35


def test_a_declared_share_of_one_needs_the_half_count() -> None:
    # Three codes, b = 1/3, all answers equally frequent: without the half count, the interval
    # covers in .82 of all cases.
    random = np.random.default_rng(51)
    cells = np.array([60, 0, 0]) + draw_laplace(random, 1 / 3, (20_000, 3))
    n = cells.sum(axis=1)
    variance = discrete_laplace_variance(scale=1 / 3)
    found = table_interval(
        count=cells[:, 0], people=n, codes=3, noise_variance=variance, **DECLARED
    )
    assert (found.high == 1).mean() > 0.93
    without = np.abs(cells[:, 0] / n - 1) <= np.sqrt(Z_SQUARE * 2 * variance) / n
    assert without.mean() == pytest.approx(0.82, abs=0.015)


def test_a_release_needs_ten_scales_of_people() -> None:
    assert least_people(scale=2) == 20
    assert least_people(scale=Fraction(10, 3)) == 34
    assert least_people(scale=0.3) == 3
    # Ten times 2.3 is more than 23 in floats but not in decimals.
    assert least_people(scale=2.3) == 23
    for scale in (0.5, 2.0, 13.7, 1000.0):
        sigma = sqrt(discrete_laplace_variance(scale=scale))
        assert least_people(scale=sigma, mechanism="gaussian") in (
            least_people(scale=scale),
            least_people(scale=scale) + 1,
        )
    chosen = choose_table_noise(symbols=10, epsilon=1, delta=1e-6)
    needed = least_people(scale=chosen.scale, mechanism="gaussian")
    assert needed == pytest.approx(
        10 * sqrt(discrete_gaussian_variance(variance=chosen.scale**2) / 2), abs=1
    )


def test_extremes_give_no_nonsense() -> None:
    for people in (1, 10**7):
        for k in (2, 64):
            for variance in (0.0, 1e-9, 2e12):
                rules: dict[str, Any] = {"noise_variance": variance, **channel(k, 1.0)}
                spread = table_standard_error(share=0.3, people=people, mechanism_k=k, **rules)
                assert all(0 <= part < 1e9 for part in astuple(spread))
                found = table_interval(
                    count=[0, people // 2, people, -(10**6), 10**9], people=people, codes=k, **rules
                )
                assert ((found.low >= 0) & (found.high <= 1) & (found.low <= found.high)).all()
    assert least_people(scale=1e6) == 10**7
    assert least_people(scale=1e-3) == 1
    assert least_people(scale=1e-3, mechanism="gaussian") == 1
