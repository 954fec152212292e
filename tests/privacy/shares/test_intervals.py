"""Intervals: known values, independent computations, properties, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import bdtr, bdtrc
from scipy.stats import beta, binom, binomtest, chi2

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.intervals import (
    METHODS,
    Intervals,
    Method,
    clopper_pearson,
    likelihood_ratio,
    simultaneous_level,
)

COINS: dict[str, Any] = {"other_probability": 0.25, "slope": 0.5}
LEVELS = (0.5, 0.8, 0.95)
Find = Callable[..., Intervals]
every_method = pytest.mark.parametrize("find", METHODS.values(), ids=METHODS)


def channel(mechanism: RandomizedResponse) -> dict[str, Any]:
    return {"other_probability": mechanism.other_probability, "slope": mechanism.slope}


@st.composite
def data(draw: st.DrawFn, *, symbols: tuple[int, int] = (2, 64)) -> dict[str, Any]:
    n = draw(st.one_of(st.integers(1, 60), st.integers(1, 10**9)))
    mechanism = RandomizedResponse.from_flips(
        symbols=draw(st.integers(*symbols)), flips=draw(st.integers(1, 49))
    )
    return {"successes": draw(st.integers(0, n)), "total": n, **channel(mechanism)}


def raw_share(case: dict[str, Any]) -> float:
    return float((case["successes"] / case["total"] - case["other_probability"]) / case["slope"])


# Known values


def test_at_a_thousand_reports_our_intervals_are_close_to_wald_s() -> None:
    wald = 0.3 + np.array([-1, 1]) * 1.959963984540054 * np.sqrt(0.4 * 0.6 / 1000) / 0.5
    assert wald == pytest.approx([0.239273, 0.360727], abs=5e-7)
    for find in (likelihood_ratio, clopper_pearson):
        found = find(successes=400, total=1000, **COINS)
        assert [found.low, found.high] == pytest.approx(wald, abs=0.002)


# Independent computations


@pytest.mark.parametrize(
    ("successes", "total"), [(0, 20), (1, 20), (7, 20), (20, 20), (30, 100), (999, 1000)]
)
@pytest.mark.parametrize(
    "mechanism",
    [
        RandomizedResponse.from_flips(symbols=2, flips=25),
        RandomizedResponse.from_flips(symbols=5, flips=10),
        RandomizedResponse.from_flips(symbols=2, flips=45),
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_the_guaranteed_interval_is_scipy_s_exact_interval_mapped_to_shares(
    successes: int, total: int, mechanism: RandomizedResponse, level: float
) -> None:
    exact = binomtest(successes, total).proportion_ci(confidence_level=level, method="exact")
    ends = (np.array([exact.low, exact.high]) - mechanism.other_probability) / mechanism.slope
    found = clopper_pearson(successes=successes, total=total, level=level, **channel(mechanism))
    assert [found.low, found.high] == pytest.approx(np.clip(ends, 0, 1), abs=1e-8)
    assert bool(found.contradiction) == bool(ends[1] < 0 or ends[0] > 1)


@given(data())
def test_at_each_end_of_the_guaranteed_interval_a_tail_is_half_the_allowed_error(
    case: dict[str, Any],
) -> None:
    found = clopper_pearson(**case)
    low, high = (case["other_probability"] + case["slope"] * e for e in (found.low, found.high))
    successes, total = int(case["successes"]), int(case["total"])
    if found.low > 0 and not found.contradiction:
        assert bdtrc(successes - 1, total, low) == pytest.approx(0.025, rel=1e-4)
    if found.high < 1 and not found.contradiction:
        assert bdtr(successes, total, high) == pytest.approx(0.025, rel=1e-4)


def test_effective_counts_need_not_be_whole() -> None:
    # Weights give fractional counts; the beta quantile is also defined for counts below one.
    direct = {"other_probability": 1e-9, "slope": 1 - 2e-9}
    few = clopper_pearson(successes=0.4, total=20.5, effective=True, **direct)
    assert few.low == pytest.approx(beta.ppf(0.025, 0.4, 21.1), abs=1e-8)
    many = clopper_pearson(successes=20.1, total=20.5, effective=True, **direct)
    assert many.high == pytest.approx(beta.ppf(0.975, 21.1, 0.4), abs=1e-8)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("successes", "total"), [(0, 20), (1, 20), (30, 100), (20, 20)])
def test_with_hardly_any_noise_the_likelihood_ratio_interval_is_the_classical_one(
    successes: int, total: int, level: float
) -> None:
    almost_direct = RandomizedResponse(symbols=2, threshold=2**32 - 1)
    found = likelihood_ratio(
        successes=successes, total=total, level=level, **channel(almost_direct)
    )
    best = successes / total

    def excess(share: float) -> float:
        yes = successes * log(best / share) if successes else 0.0
        no = (total - successes) * log((1 - best) / (1 - share)) if successes < total else 0.0
        return float(2 * (yes + no) - chi2.ppf(level, df=1))

    low = brentq(excess, 1e-12, best, xtol=1e-13) if successes else 0.0
    high = brentq(excess, best, 1 - 1e-12, xtol=1e-13) if successes < total else 1.0
    assert [found.low, found.high] == pytest.approx([low, high], abs=1e-8)
    if successes == 0:
        assert found.high == pytest.approx(1 - exp(-chi2.ppf(level, df=1) / 40), abs=1e-8)


def test_the_likelihood_ratio_interval_ends_where_the_test_begins_to_reject() -> None:
    found = likelihood_ratio(successes=400, total=1000, level=np.array(LEVELS), **COINS)
    for ends in (found.low, found.high):
        reported = 0.25 + ends / 2
        statistic = 2 * (400 * np.log(0.4 / reported) + 600 * np.log(0.6 / (1 - reported)))
        assert statistic == pytest.approx(chi2.ppf(LEVELS, df=1), abs=1e-9)


# Properties


@given(data())
def test_the_likelihood_ratio_interval_is_never_empty_and_never_has_zero_width(
    case: dict[str, Any],
) -> None:
    found = likelihood_ratio(**case)
    assert 0 <= found.low < found.high <= 1
    assert found.low <= min(1, max(0, raw_share(case))) <= found.high
    assert not found.contradiction


@given(data())
def test_the_guaranteed_interval_is_not_empty_or_contradicts(case: dict[str, Any]) -> None:
    found = clopper_pearson(**case)
    assert 0 <= found.low <= found.high <= 1
    if found.contradiction:
        assert not 0 < raw_share(case) < 1
        assert found.low == found.high == round(min(1, max(0, raw_share(case))))


@every_method
@given(case=data())
def test_intervals_of_higher_levels_contain_those_of_lower_ones(
    find: Find, case: dict[str, Any]
) -> None:
    found = find(**case, level=np.array(LEVELS))
    assert (np.diff(found.low) <= 1e-14).all()
    assert (np.diff(found.high) >= -1e-14).all()
    assert found.level.tolist() == list(LEVELS)


@every_method
@given(case=data(symbols=(2, 2)))
def test_calling_yes_no_and_no_yes_mirrors_the_interval(find: Find, case: dict[str, Any]) -> None:
    found = find(**case)
    mirrored = find(**{**case, "successes": case["total"] - case["successes"]})
    assert mirrored.low == pytest.approx(1 - found.high, abs=1e-8)
    assert mirrored.high == pytest.approx(1 - found.low, abs=1e-8)
    assert mirrored.contradiction == found.contradiction


@pytest.mark.parametrize(("method", "find"), METHODS.items(), ids=METHODS)
def test_many_intervals_in_one_call_equal_those_of_single_calls(method: Method, find: Find) -> None:
    generator = np.random.default_rng(5)
    mechanisms = [RandomizedResponse.from_flips(symbols=k, flips=k * 3) for k in (2, 3, 5, 9)]
    total = generator.integers(0, 2000, size=(6, 1))
    successes = generator.integers(0, total + 1, size=(6, 4))
    c = np.array([mechanism.other_probability for mechanism in mechanisms])
    d = np.array([mechanism.slope for mechanism in mechanisms])
    level = np.array(LEVELS)[:, None, None]
    found = find(successes=successes, total=total, other_probability=c, slope=d, level=level)
    assert found.low.shape == found.contradiction.shape == found.level.shape == (3, 6, 4)
    assert found.method == method
    for place in np.ndindex(3, 6, 4):
        one = find(
            successes=int(successes[place[1:]]),
            total=int(total[place[1], 0]),
            other_probability=float(c[place[2]]),
            slope=float(d[place[2]]),
            level=LEVELS[place[0]],
        )
        assert [one.low, one.high] == pytest.approx(
            [found.low[place], found.high[place]], abs=1e-11
        )
        assert one.contradiction == found.contradiction[place]


@every_method
def test_without_reports_everything_is_possible(find: Find) -> None:
    found = find(successes=[0, 0], total=0, **COINS)
    assert (found.low.tolist(), found.high.tolist()) == ([0, 0], [1, 1])
    assert not found.contradiction.any()


@every_method
def test_a_billion_reports_are_handled(find: Find) -> None:
    found = find(successes=350_000_000, total=10**9, **COINS)
    assert found.low < 0.2 < found.high
    assert found.high - found.low < 1e-3


def test_an_impossible_share_of_codes_is_a_contradiction_not_an_exception() -> None:
    # With two coins, about 25 to 75 % of codes are yes; 5 or 95 % of 1,000 is implausible.
    found = clopper_pearson(successes=[50, 400, 950], total=1000, **COINS)
    assert found.contradiction.tolist() == [True, False, True]
    assert found.low[[0, 2]].tolist() == found.high[[0, 2]].tolist() == [0, 1]
    assert not likelihood_ratio(successes=[50, 950], total=1000, **COINS).contradiction.any()


# Several intervals at once


def test_the_level_of_each_interval_follows_bonferroni() -> None:
    assert simultaneous_level(0.95, shares=5) == pytest.approx(0.99, abs=1e-15)
    assert simultaneous_level(0.95, shares=1) == pytest.approx(0.95, abs=1e-15)
    for shares in (2, 10, 64):
        assert shares * (1 - simultaneous_level(0.9, shares=shares)) == pytest.approx(0.1)
        assert simultaneous_level(0.9, shares=shares) > 0.9 ** (1 / shares)  # Šidák's level


def test_at_that_level_all_five_intervals_of_a_question_hold_simultaneously() -> None:
    runs, truth = 20_000, np.array([0.4, 0.3, 0.2, 0.1, 0.0])
    five = RandomizedResponse.from_flips(symbols=5, flips=25)
    counts = np.random.default_rng(31).multinomial(200, five.channel() @ truth, size=runs)
    level = simultaneous_level(0.95, shares=5)
    found = clopper_pearson(successes=counts, total=200, level=level, **channel(five))
    held = (found.low <= truth) & (truth <= found.high) & ~found.contradiction
    k = int(held.all(axis=1).sum())
    limit = binom.ppf(1e-6, runs, 0.95)
    print(f"n={runs} k={k} accepted from {limit}")
    assert k >= limit


@pytest.mark.parametrize(
    ("level", "shares", "message"),
    [
        (0.0, 2, "level must lie in (0, 1), got 0.0"),
        (1.0, 2, "level must lie in (0, 1), got 1.0"),
        (0.95, 0, "shares must be at least 1, got 0"),
    ],
)
def test_a_simultaneous_level_for_no_intervals_is_rejected(
    level: float, shares: int, message: str
) -> None:
    with pytest.raises(ValueError) as refused:
        simultaneous_level(level, shares=shares)
    assert str(refused.value) == message


# Bad input


@every_method
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"successes": -1}, "successes must be whole and not negative, got -1"),
        ({"successes": 6}, "successes must be from 0 to total, got 6"),
        ({"successes": [1, 6]}, "successes must be from 0 to total, got [1, 6]"),
        ({"successes": float("nan")}, "successes must be whole and not negative, got nan"),
        ({"successes": 0, "total": -1}, "total must be whole and not negative, got -1"),
        ({"total": float("inf")}, "total must be whole and not negative, got inf"),
        ({"other_probability": 0.0}, "other_probability must lie in (0, 1), got 0.0"),
        ({"other_probability": 1.0}, "other_probability must lie in (0, 1), got 1.0"),
        ({"slope": 0.0}, "slope must be positive, with c + d below 1, got 0.0"),
        ({"slope": 0.75}, "slope must be positive, with c + d below 1, got 0.75"),
        ({"level": 0.0}, "level must lie in (0, 1), got 0.0"),
        ({"level": [0.5, 1.0]}, "level must lie in (0, 1), got [0.5, 1.0]"),
    ],
)
def test_impossible_arguments_are_rejected(
    find: Find, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError) as refused:
        find(**{"successes": 1, "total": 5, **COINS, **arguments})
    assert str(refused.value) == message
