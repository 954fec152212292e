"""Bets on ratios: their wealth from the definition, how often they miss, and their width."""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from scipy.stats import binom

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.bets import RatioInterval, bet_width, betting_sequence
from privacy.shares.conditional import likelihood_ratio_share
from privacy.shares.intervals import confidence_sequence
from privacy.shares.ratio_cells import RatioCells, conditional_cells, scale_cells

Floats = NDArray[np.float64]
THREE = RandomizedResponse.from_flips(symbols=3, flips=25)
FOUR = RandomizedResponse.from_flips(symbols=4, flips=25)
SIX = RandomizedResponse.from_flips(symbols=6, flips=25)
LOG_ODDS = np.linspace(-120, 120, 60_001)


@st.composite
def cells_of_reports(draw: st.DrawFn) -> RatioCells:
    k = draw(st.integers(3, 8))
    mechanism = RandomizedResponse.from_flips(symbols=k, flips=draw(st.integers(2, 45)))
    counts = draw(st.lists(st.integers(0, 2000), min_size=k, max_size=k).filter(any))
    among = range(draw(st.integers(2, k)))
    if draw(st.booleans()):
        return scale_cells(counts=counts, mechanism=mechanism, points=among)
    return conditional_cells(counts=counts, mechanism=mechanism, event=[0], among=among)


def log_wealth(cells: RatioCells, ratio: float) -> float:
    """From the definition, with nodes everywhere instead of around the peak."""
    h = cells.numerator - ratio * cells.denominator
    z = (h - h.min()) / (h.max() - h.min())
    m = -h.min() / (h.max() - h.min())
    log_u, log_rest = -np.logaddexp(0, -LOG_ODDS), -np.logaddexp(0, LOG_ODDS)
    product = np.zeros_like(LOG_ODDS)
    with np.errstate(divide="ignore"):
        for count, value in zip(cells.counts, z, strict=True):
            one, other = np.log((1 - value) / (1 - m)) + log_rest, np.log(value / m) + log_u
            product += count * np.logaddexp(one, other)
    mass = logsumexp(product + (log_u + log_rest) / 2) + log(LOG_ODDS[1] - LOG_ODDS[0])
    return float(mass - log(pi))


def expected_reports(mechanism: RandomizedResponse, truth: ArrayLike, total: int) -> list[int]:
    return [round(share) for share in mechanism.channel() @ np.asarray(truth) * total]


def miss(found: RatioInterval, truth: float) -> bool:
    return found.contradiction or not found.low <= truth <= found.high


# From the definition


@pytest.mark.slow
@settings(deadline=None)
@given(
    cells_of_reports(),
    st.sampled_from([0.5, 0.95, 0.999]),
)
def test_at_the_ends_bets_reach_the_limit_of_the_level(cells: RatioCells, level: float) -> None:
    assume(cells.ratio is not None)
    found = betting_sequence(cells=cells, level=level)
    limit = -log(1 - level)
    for end, open_end in ((found.low, 0.0), (found.high, 1.0)):
        excess = log_wealth(cells, end) - limit
        if found.contradiction:
            assert excess > -1e-6
        elif end == open_end:
            assert excess < 1e-6
        else:
            assert excess == pytest.approx(0, abs=1e-5)


@pytest.mark.slow
@settings(deadline=None)
@given(cells_of_reports(), st.integers(0, 200))
def test_every_ratio_outside_the_interval_is_rejected(cells: RatioCells, place: int) -> None:
    assume(cells.ratio is not None)
    found = betting_sequence(cells=cells, level=0.95)
    ratio = place / 200
    if found.contradiction or not found.low <= ratio <= found.high:
        assert log_wealth(cells, ratio) > log(20) - 1e-9


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.integers(0, 400),
    st.integers(1, 400),
    st.integers(2, 45),
)
def test_a_share_that_everybody_answers_has_the_confidence_sequence(
    yes: int, no: int, flips: int
) -> None:
    coins = RandomizedResponse.from_flips(symbols=2, flips=flips)
    cells = scale_cells(counts=[no, yes], mechanism=coins, points=[0, 1])
    found = betting_sequence(cells=cells, level=0.95)
    expected = confidence_sequence(
        successes=yes,
        total=yes + no,
        other_probability=coins.other_probability,
        slope=coins.slope,
    )
    assert [found.low, found.high] == pytest.approx(
        [float(expected.low), float(expected.high)], abs=1e-8
    )
    assert found.contradiction == bool(expected.contradiction)


@pytest.mark.slow
@settings(deadline=None)
@given(cells_of_reports())
def test_the_remaining_answers_have_the_mirrored_interval(cells: RatioCells) -> None:
    one = betting_sequence(cells=cells, level=0.95)
    other = betting_sequence(cells=cells.turned(), level=0.95)
    assert [other.low, other.high] == pytest.approx([1 - one.high, 1 - one.low], abs=1e-8)
    assert other.contradiction == one.contradiction


@pytest.mark.parametrize("total", [10, 1000, 10**7, 10**9])
def test_any_number_of_reports_is_handled(total: int) -> None:
    counts = expected_reports(FOUR, (0.2, 0.2, 0.2, 0.4), total)
    cells = conditional_cells(counts=counts, mechanism=FOUR, event=[0], among=range(3))
    found = betting_sequence(cells=cells, level=0.95)
    assert cells.ratio is not None
    assert cells.standard_error is not None
    assert found.low <= min(max(cells.ratio, 0), 1) <= found.high
    assert found.high - found.low < 11 * cells.standard_error


# While watching


def watch(
    cells_of: Any, reported: Floats, truth: float, *, runs: int, people: int, seed: int
) -> int:
    """Count the runs that reject the true ratio at the look where its bets have paid most."""
    empty = cells_of(np.ones(len(reported), dtype=int).tolist())
    h = empty.numerator - truth * empty.denominator
    z, m = (h - h.min()) / (h.max() - h.min()), -h.min() / (h.max() - h.min())
    drawn = np.random.default_rng(seed).choice(len(reported), p=reported, size=(runs, people))
    # Wealth at every look, for the stakes at the nodes.
    log_u, log_rest = -np.logaddexp(0, -LOG_ODDS[::240]), -np.logaddexp(0, LOG_ODDS[::240])
    with np.errstate(divide="ignore"):
        bets = np.logaddexp(
            np.log((1 - z) / (1 - m))[:, None] + log_rest, np.log(z / m)[:, None] + log_u
        )
    spread = (log_u + log_rest) / 2 - log(pi) + log(LOG_ODDS[240] - LOG_ODDS[0])
    broke = 0
    for run, codes in enumerate(drawn):
        wealth = logsumexp(bets[codes].cumsum(axis=0) + spread, axis=1)
        look = int(wealth.argmax())
        rejected = bool(wealth[look] >= log(20))
        broke += rejected
        if rejected or run % 20 == 0:
            counts = np.bincount(codes[: look + 1], minlength=len(reported)).tolist()
            found = betting_sequence(cells=cells_of(counts), level=0.95)
            # The hull may hold a share that is rejected, never miss one that is not.
            assert rejected or not miss(found, truth)
    return broke


SHARE: dict[str, Any] = {"mechanism": FOUR, "event": [0], "among": (0, 1, 2)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cells_of", "reported", "truth"),
    [
        pytest.param(
            lambda counts: conditional_cells(counts=counts, **SHARE),
            FOUR.channel() @ [0.06, 0.12, 0.12, 0.7],
            0.2,
            id="share",
        ),
        pytest.param(
            lambda counts: conditional_cells(counts=counts, **SHARE),
            FOUR.channel() @ [0.0, 0.5, 0.5, 0.0],
            0.0,
            id="nobody",
            marks=pytest.mark.long,
        ),
        pytest.param(
            lambda counts: scale_cells(counts=counts, mechanism=SIX, points=range(5)),
            SIX.channel() @ [0.1, 0.2, 0.1, 0.2, 0.0, 0.4],
            (0.05 + 0.05 + 0.15) / 0.6,
            id="scale",
        ),
    ],
)
def test_watched_after_every_report_bets_still_hold(
    cells_of: Any, reported: Floats, truth: float
) -> None:
    runs = 400
    broke = watch(cells_of, reported, truth, runs=runs, people=1000, seed=1939)
    limit = binom.isf(1e-6, runs, 0.05)
    print(f"n={runs} k={broke} expected at most {0.05 * runs}, accepted up to {limit}")
    assert broke <= limit


def test_over_twenty_looks_the_likelihood_ratio_fails_but_bets_hold() -> None:
    runs, truth = 120, 2 / 7
    latent = FOUR.channel() @ np.array([0.2, 0.3, 0.2, 0.3])
    surveys = np.random.default_rng(20).multinomial(100, latent, size=(runs, 20)).cumsum(axis=1)
    one_look, watched = 0, 0
    for survey in surveys.tolist():
        wrong = []
        for look in survey:
            found = likelihood_ratio_share(counts=look, mechanism=FOUR, symbol=0, among=(0, 1, 2))
            if not found.low <= truth <= found.high:
                wrong.append(look)
        one_look += bool(wrong)
        watched += any(
            miss(
                betting_sequence(
                    cells=conditional_cells(counts=look, **SHARE),
                    level=0.95,
                ),
                truth,
            )
            for look in wrong
        )
    print(f"n={runs} likelihood_ratio={one_look} bets={watched}")
    assert one_look > binom.isf(1e-6, runs, 0.05) >= watched


# Width


@pytest.mark.parametrize("total", [1000, 100_000])
def test_the_width_depends_on_the_design_as_stated(total: int) -> None:
    for k in (2, 5, 7):
        mechanism = RandomizedResponse.from_flips(symbols=k, flips=25)
        truth = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
        counts = expected_reports(mechanism, truth, total)
        cells = scale_cells(counts=counts, mechanism=mechanism, points=range(k))
        found = betting_sequence(cells=cells, level=0.95)
        assert cells.standard_error is not None
        length = (found.high - found.low) / 2 / cells.standard_error
        assert length == pytest.approx(bet_width(total=total, level=0.95), rel=0.12)


# Cells


def test_cells_with_the_same_functions_are_one() -> None:
    cells = conditional_cells(
        counts=[5, 6, 7, 8, 9], mechanism=RandomizedResponse.from_flips(symbols=5, flips=25),
        event=[0], among=[0, 1, 2],
    )  # fmt: skip
    merged = cells.merged()
    assert sorted(merged.counts.tolist()) == [5, 13, 17]
    assert merged.ratio == pytest.approx(cells.ratio)
    assert merged.standard_error == pytest.approx(cells.standard_error)
