"""Intervals: published values, coverage by exact sums, and what happens while people watch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln
from scipy.stats import binom, chi2

from privacy.intervals import Interval, confidence_sequence, likelihood_ratio_interval
from privacy.mechanisms import RandomizedResponse

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
METHODS = (likelihood_ratio_interval, confidence_sequence)


@st.composite
def data(draw: st.DrawFn) -> tuple[int, int, RandomizedResponse]:
    n = draw(st.integers(1, 10**9))
    k = draw(st.integers(2, 64))
    flips = draw(st.integers(1, 49))
    mechanism = RandomizedResponse.from_flips(symbols=k, flips=flips)
    return draw(st.integers(0, n)), n, mechanism


@pytest.mark.parametrize(
    ("successes", "total", "low", "high"),
    [
        (40, 100, 0.0, 0.631371),
        (198, 500, 0.140810, 0.450158),
        (400, 1000, 0.188930, 0.414617),
    ],
)
def test_the_sequence_has_its_published_values(
    successes: int, total: int, low: float, high: float
) -> None:
    # z_i = 1 iff (7919 i mod 1000) < 400, i = 1..1000
    assert successes == sum(7919 * i % 1000 < 400 for i in range(1, total + 1))
    interval = confidence_sequence(successes=successes, total=total, mechanism=COINS)
    assert interval.low == pytest.approx(low, abs=5e-7)
    assert interval.high == pytest.approx(high, abs=5e-7)
    assert (interval.method, interval.level) == ("confidence_sequence", 0.95)


@pytest.mark.parametrize(("n", "least"), [(50, 0.9350), (200, 0.9413)])
def test_the_likelihood_ratio_interval_covers_as_computed(n: int, least: float) -> None:
    intervals = [
        likelihood_ratio_interval(successes=s, total=n, mechanism=COINS) for s in range(n + 1)
    ]
    lows = np.array([interval.low for interval in intervals])
    highs = np.array([interval.high for interval in intervals])
    assert (highs > lows).all()  # never of zero width
    coverage = []
    for truth in np.arange(0, 0.5005, 0.001):
        weights = binom.pmf(np.arange(n + 1), n, 0.25 + truth / 2)
        coverage.append(weights[(lows <= truth) & (truth <= highs)].sum())
    assert min(coverage) == pytest.approx(least, abs=5e-5)


@pytest.mark.parametrize("find", METHODS)
def test_without_reports_everything_is_possible(find) -> None:  # type: ignore[no-untyped-def]
    interval = find(successes=0, total=0, mechanism=COINS)
    assert (interval.low, interval.high, interval.contradiction) == (0.0, 1.0, False)


@given(data())
def test_the_likelihood_ratio_interval_is_never_empty_nor_of_zero_width(
    case: tuple[int, int, RandomizedResponse],
) -> None:
    successes, total, mechanism = case
    interval = likelihood_ratio_interval(successes=successes, total=total, mechanism=mechanism)
    assert 0 <= interval.low < interval.high <= 1
    share = (successes / total - mechanism.other_probability) / mechanism.slope
    assert interval.low <= min(1, max(0, share)) <= interval.high
    assert not interval.contradiction


@given(data())
def test_the_sequence_is_wider_or_contradicts(
    case: tuple[int, int, RandomizedResponse],
) -> None:
    successes, total, mechanism = case
    ordinary = likelihood_ratio_interval(successes=successes, total=total, mechanism=mechanism)
    sequence = confidence_sequence(successes=successes, total=total, mechanism=mechanism)
    assert 0 <= sequence.low <= sequence.high <= 1
    reported = successes / total
    inside = mechanism.other_probability <= reported <= mechanism.keep_probability
    if inside and 0 < successes < total:
        assert not sequence.contradiction
        assert sequence.high - sequence.low >= (ordinary.high - ordinary.low) * (1 - 1e-6)


@pytest.mark.parametrize("find", METHODS)
@given(case=data())
def test_a_higher_level_gives_a_wider_interval(find, case) -> None:  # type: ignore[no-untyped-def]
    successes, total, mechanism = case
    narrow, wide = (
        find(successes=successes, total=total, mechanism=mechanism, level=level)
        for level in (0.5, 0.95)
    )
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


def test_an_impossible_share_of_codes_is_a_contradiction_not_an_exception() -> None:
    # At two coins between 25 and 75 % of codes are yes; 5 % of 1,000 cannot come from it.
    interval = confidence_sequence(successes=50, total=1000, mechanism=COINS)
    assert interval == Interval(
        low=0.0, high=0.0, level=0.95, method="confidence_sequence", contradiction=True
    )


def test_the_ends_lie_where_the_test_begins_to_reject() -> None:
    interval = likelihood_ratio_interval(successes=400, total=1000, mechanism=COINS)

    def statistic(share: float) -> float:
        reported = 0.25 + share / 2
        return 2 * float(400 * np.log(0.4 / reported) + 600 * np.log(0.6 / (1 - reported)))

    for end in (interval.low, interval.high):
        assert statistic(end) == pytest.approx(chi2.ppf(0.95, df=1), abs=1e-9)


def test_with_hardly_any_noise_the_interval_is_the_classical_one() -> None:
    almost_direct = RandomizedResponse(symbols=2, threshold=2**32 - 1)
    interval = likelihood_ratio_interval(successes=30, total=100, mechanism=almost_direct)
    for end in (interval.low, interval.high):
        statistic = 2 * (30 * np.log(0.3 / end) + 70 * np.log(0.7 / (1 - end)))
        assert statistic == pytest.approx(chi2.ppf(0.95, df=1), abs=1e-6)


def test_a_billion_reports_are_no_trouble() -> None:
    for find in METHODS:
        interval = find(successes=350_000_000, total=10**9, mechanism=COINS)
        assert interval.low < 0.2 < interval.high
        assert interval.high - interval.low < 1e-3


def test_watched_after_every_report_the_sequence_still_holds() -> None:
    # 1,000 surveys of 2,000 people, looked at from the first report on; true share 20 %.
    runs, people, truth = 1000, 2000, 0.2
    generator = np.random.default_rng(1970)
    counts = (generator.random((runs, people)) < 0.25 + truth / 2).cumsum(axis=1)
    n = np.arange(1, people + 1)
    reported = 0.25 + truth / 2
    evidence = (
        betaln(0.5 + counts, 0.5 + n - counts)
        - betaln(0.5, 0.5)
        - counts * np.log(reported)
        - (n - counts) * np.log(1 - reported)
    )
    missed = (evidence >= np.log(20)).any(axis=1)
    # The formula above is the one under test: compare them where they decide.
    for run in range(0, runs, 50):
        look = int(generator.integers(people))
        interval = confidence_sequence(
            successes=int(counts[run, look]), total=look + 1, mechanism=COINS
        )
        assert (interval.low <= truth <= interval.high) == bool(evidence[run, look] < np.log(20))
    k = int(missed.sum())
    limit = binom.isf(1e-6, runs, 0.05)
    print(f"n={runs} k={k} expected at most {0.05 * runs}, accepted up to {limit}")
    assert k <= limit


@pytest.mark.parametrize("find", METHODS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"successes": -1, "total": 5}, "successes must lie from 0 to total = 5, got -1"),
        ({"successes": 6, "total": 5}, "got 6"),
        ({"successes": 1, "total": 5, "level": 0.0}, "level must lie in"),
        ({"successes": 1, "total": 5, "level": 1.0}, "level must lie in"),
    ],
)
def test_what_cannot_be_is_refused(find, arguments, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        find(mechanism=COINS, **arguments)
