"""Looks as a design: published critical values, and how often intervals ever miss at a look."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import fftconvolve
from scipy.special import bdtr, bdtrc, ndtr
from scipy.stats import binom

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.precision import half_width, watched_half_width, watched_level
from privacy.shares import looks
from privacy.shares.conditional import likelihood_ratio_share
from privacy.shares.joint.cells import JointCells
from privacy.shares.joint.likelihood import joint_share
from privacy.shares.looks import critical_values, planned_times, repeated_level, spent_error
from privacy.shares.ratio_cells import scale_cells
from privacy.shares.scales import relaxed_likelihood_interval

TEN = [look / 10 for look in range(1, 11)]
COINS = RandomizedResponse.from_flips(symbols=2, flips=25)


def list_looks(expected: int, smallest: int, *, last: int) -> list[int]:
    """List the number of reports at each look: at least three batches, with a tenth or more new."""
    found, total = [], 0
    while total <= last:
        total += max(smallest, -(-expected // 10), -(-total // 9))
        found.append(total)
    return [total for total in found if 3 * smallest <= total <= last]


# Critical values


def test_ten_looks_and_later_ones_have_the_values_of_the_design() -> None:
    later = [(10 / 9) ** power for power in (1, 2, 3, 7, 14)]
    assert np.round(critical_values(TEN), 3).tolist() == [
        3.540, 3.218, 3.021, 2.869, 2.740, 2.628, 2.527, 2.435, 2.350, 2.270,
    ]  # fmt: skip
    every = critical_values([*TEN, *((10 / 9) ** power for power in range(1, 15))])
    places = [TEN.index(1) + power for power in (1, 2, 3, 7, 14)]
    assert [round(every[place], 3) for place in places] == [2.465, 2.558, 2.636, 2.920, 3.394]
    assert np.diff(later).all()


@pytest.mark.parametrize(
    ("spending", "values"),
    [
        (lambda t: 0.05 * t**2, [3.481, 3.152, 2.951, 2.794, 2.661, 2.545, 2.441, 2.345, 2.257]),
        (lambda t: 0.05 * t, [2.807, 2.740, 2.672, 2.612, 2.558, 2.509, 2.465, 2.424, 2.387]),
        (lambda t: 0.05 * t**3, [4.056, 3.567, 3.264, 3.030, 2.833, 2.660, 2.503, 2.358, 2.222]),
        (
            lambda t: 2 - 2 * ndtr(1.959964 / sqrt(t)),
            [6.198, 4.383, 3.582, 3.119, 2.816, 2.600, 2.437, 2.310, 2.207],
        ),
    ],
    ids=["power 2", "power 1", "power 3", "O'Brien and Fleming"],
)
def test_standard_designs_have_the_values_of_other_programs(
    spending: Callable[[float], float], values: list[float]
) -> None:
    """R's gsDesign, rpact and ldbounds compute the same values."""
    spent = np.diff([spending(time) for time in TEN], prepend=0).tolist()
    found = looks._solve(tuple(TEN), tuple(spent))
    assert np.round(found[:9], 3).tolist() == values


def test_several_figures_share_what_is_spent_not_the_tail() -> None:
    assert critical_values(TEN, error=0.05 / 6)[-1] == pytest.approx(2.941, abs=5e-4)


@given(st.lists(st.floats(0.01, 3), min_size=1, max_size=30), st.floats(1e-4, 0.5))
def test_a_value_depends_on_earlier_looks_only(steps: list[float], error: float) -> None:
    times = np.cumsum(steps).tolist()
    found = critical_values(times, error=error)
    assert found[:-1] == critical_values(times[:-1], error=error)
    assert min(found) > 0
    assert float(spent_error(times[-1])) < 1
    # The first look spends its part of the error; the level of the last is at least 1 - error.
    assert 2 * ndtr(-found[0]) == pytest.approx(error * float(spent_error(times[0])), rel=1e-6)
    level = repeated_level(1 - error, times=times)
    assert level >= 1 - error - 1e-12


def test_small_steps_are_integrated_as_exactly() -> None:
    """Adding many intermediate looks that spend almost nothing does not change a later value."""
    times, spent = [1.0, 2.0], [0.01, 0.01]
    fine = [1 + step / 200 for step in range(201)]
    nothing = [0.01, *[1e-16] * 199, 0.01]
    between = looks._solve(tuple(fine), tuple(nothing))
    assert between[-1] == pytest.approx(looks._solve(tuple(times), tuple(spent))[-1], abs=1e-6)


def test_who_stops_at_a_look_or_else_at_the_fixed_end_misses_in_six_of_a_hundred() -> None:
    paths, missed = looks._Paths(time=0.0, places=np.zeros(1), masses=np.ones(1)), 0.0
    for time, value in list(zip(TEN, critical_values(TEN), strict=True))[:-1]:
        missed += paths.crossing(time, value * sqrt(time))
        paths = paths.inside(time, value * sqrt(time), step=0.1)
    assert missed + paths.crossing(1.0, 1.959964) == pytest.approx(0.060, abs=5e-4)


def test_only_looks_change_the_level() -> None:
    assert repeated_level(0.95, times=[]) == 0.95
    assert repeated_level(0.95, times=[10.0**6]) == pytest.approx(0.95, abs=1e-9)
    assert planned_times(1) == tuple(TEN)
    many = [total / 100 for total in list_looks(100, 10, last=40_000)]  # 40,000 instead of 100
    assert 5 < critical_values(many)[-1] < 6


@pytest.mark.parametrize("times", [[0], [-1], [0.2, 0.1], [0.1, 0.1], [[0.1]], [float("nan")]])
def test_times_that_do_not_ascend_are_refused(times: Any) -> None:
    with pytest.raises(ValueError, match="time"):
        critical_values(times)


# How wide


@pytest.mark.parametrize(
    ("expected", "widths"),
    [
        (500, {100: 30.7, 250: 16.5, 500: 9.7, 760: 9.4, 1290: 8.1, 2185: 6.9}),
        (1750, {175: 25.5, 700: 10.3, 1750: 5.2, 2667: 5.0, 5018: 4.2}),
        (3392, {339: 18.3, 1696: 6.3, 3392: 3.7, 7091: 3.3, 16474: 2.6}),
    ],
)
def test_half_widths_are_those_of_the_design(expected: int, widths: dict[int, float]) -> None:
    for people, points in widths.items():
        level = watched_level(time=people / expected)
        score = half_width(share=0.2, people=people, mechanism=COINS, level=level)
        assert round(100 * score, 1) == points
        shown = watched_half_width(share=0.2, people=people, mechanism=COINS, expected=expected)
        assert score < shown < 1.03 * score


# How often a share ever misses, exactly


def ever_missed(reported: float, *, expected: int, smallest: int) -> float:
    """Sum the probability of all paths that leave the Clopper-Pearson interval at any look."""
    totals = list_looks(expected, smallest, last=2 * expected)
    alive, missed, before = np.ones(1), 0.0, 0
    for place, total in enumerate(totals):
        alive = np.maximum(
            fftconvolve(alive, binom.pmf(np.arange(total - before + 1), total - before, reported)),
            0.0,
        )
        level = repeated_level(0.95, times=[n / expected for n in totals[: place + 1]])
        counts = np.arange(total + 1.0)
        below = bdtr(np.minimum(counts, total - 1), total, reported)
        above = bdtrc(np.maximum(counts - 1, 0), total, reported)
        low, high = counts < total, counts > 0
        gone = (low & (below < (1 - level) / 2)) | (high & (above < (1 - level) / 2))
        missed += float(alive[gone].sum())
        alive, before = np.where(gone, 0.0, alive), total
    return missed


@pytest.mark.parametrize(
    "expected", [100, 300, 1000, *(pytest.param(n, marks=pytest.mark.long) for n in (3000, 10_000))]
)
@pytest.mark.parametrize("smallest", [10, 50, 100])
def test_a_share_misses_at_any_look_in_at_most_five_of_a_hundred_surveys(
    smallest: int, expected: int
) -> None:
    shares = {
        mechanism.other_probability + mechanism.slope * share
        for mechanism in (
            RandomizedResponse.from_flips(symbols=k, flips=flips)
            for flips in (40, 33, 25, 20, 12, 5)
            for k in ((2, 16) if expected < 3000 else (2,))
        )
        for share in (0.0, 0.02, 0.2, 0.5, 1.0)
    }
    most = max(ever_missed(share, expected=expected, smallest=smallest) for share in shares)
    print(f"E = {expected}, K = {smallest}: {most:.4f}")
    assert most <= 0.05


# How often a ratio ever misses, in simulated surveys

FOUR, FIVE = (RandomizedResponse.from_flips(symbols=k, flips=25) for k in (4, 5))
THREE = RandomizedResponse.from_flips(symbols=3, flips=25)
# The combinations that are possible behind a parent: not asked, asked and no, asked and yes.
BEHIND = np.stack(
    [np.kron(COINS.channel()[:, i], THREE.channel()[:, j]) for i, j in ((0, 2), (1, 0), (1, 1))], 1
)
Ends = Callable[[Any, float], tuple[float, float]]


def conditional(counts: Any, level: float) -> tuple[float, float]:
    found = likelihood_ratio_share(
        counts=counts, mechanism=FOUR, symbol=0, among=(0, 1), level=level
    )
    return found.low, found.high


def joint(counts: Any, level: float) -> tuple[float, float]:
    cells = JointCells(
        counts=np.array(counts),
        channel=BEHIND,
        event=np.array([False, False, True]),
        counted=np.array([False, True, True]),
    )
    found = joint_share(cells=cells, level=level)
    return found.low, found.high


def mean(counts: Any, level: float) -> tuple[float, float]:
    cells = scale_cells(counts=counts, mechanism=FIVE, points=range(5))
    found = relaxed_likelihood_interval(cells=cells, level=level)
    return found.low, found.high


@pytest.mark.parametrize(
    ("ends", "channel", "truth", "ratio"),
    [
        (conditional, FOUR.channel(), (0.1, 0.4, 0.2, 0.3), 0.2),
        (joint, BEHIND, (0.6, 0.3, 0.1), 0.25),
        (mean, FIVE.channel(), (0.1, 0.2, 0.4, 0.2, 0.1), 0.5),
    ],
    ids=["conditional", "joint", "mean"],
)
@pytest.mark.parametrize("expected", [300, pytest.param(2000, marks=pytest.mark.long)])
def test_a_ratio_misses_at_looks_about_as_seldom(
    ends: Ends, channel: Any, truth: tuple[float, ...], ratio: float, expected: int
) -> None:
    runs = 150
    generator = np.random.default_rng(1987)
    totals = list_looks(expected, 50, last=2 * expected)
    values = critical_values([total / expected for total in totals])
    steps = np.diff(totals, prepend=0)
    missed = 0
    for _ in range(runs):
        counts = generator.multinomial(steps, channel @ truth).cumsum(axis=0)
        for look, value in zip(counts.tolist(), values, strict=True):
            low, high = ends(look, 1 - 2 * float(ndtr(-value)))
            if not low <= ratio <= high:
                missed += 1
                break
    limit = binom.isf(1e-6, runs, 0.055)
    print(f"n={runs} k={missed} expected about {0.0475 * runs}, accepted up to {limit}")
    assert missed <= limit
