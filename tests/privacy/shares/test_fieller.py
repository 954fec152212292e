"""Fieller's interval: its inequality, exact coverage, and what contradicts the mechanism."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import ceil, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom, chi2

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional import dirichlet_sequence_share, likelihood_ratio_share
from privacy.shares.conditional_cells import ConditionalShare
from privacy.shares.fieller import fieller_share

REFUSAL = RandomizedResponse.from_flips(symbols=3, flips=25)

FOUR = RandomizedResponse.from_flips(symbols=4, flips=25)

LN3 = log(3)

X = float(chi2.ppf(0.95, df=1))

Find = Callable[..., ConditionalShare]

METHODS_OF_SHARES = (fieller_share, likelihood_ratio_share, dirichlet_sequence_share)


@st.composite
def cases(draw: st.DrawFn, *, most: int = 5000) -> dict[str, Any]:
    k = draw(st.integers(3, 8))
    flips = draw(st.integers(2, 45))
    among = draw(st.permutations(range(k)))[: draw(st.integers(2, k - 1))]
    return {
        "mechanism": RandomizedResponse.from_flips(symbols=k, flips=flips),
        "counts": draw(st.lists(st.integers(0, most), min_size=k, max_size=k).filter(any)),
        "among": among,
        "symbol": draw(st.sampled_from(among)),
    }


@st.composite
def likely_cases(draw: st.DrawFn) -> dict[str, Any]:
    """Cases in which no code is reported less often than if it were nobody's true code."""
    case = draw(cases(most=300))
    mechanism = case["mechanism"]
    idle = draw(st.booleans())  # almost nobody was asked
    extra = [
        count // (100 if idle and code in case["among"] else 1)
        for code, count in enumerate(case["counts"])
    ]
    least = ceil(mechanism.other_probability / mechanism.slope * sum(extra)) + 1
    return {**case, "counts": [least + count for count in extra]}


def three_cells(case: dict[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reported shares of the symbol, the other answers and the rest, and their lower limits."""
    counts = np.array(case["counts"]) / sum(case["counts"])
    k, among, c = len(counts), list(case["among"]), case["mechanism"].other_probability
    symbol, answers = counts[case["symbol"]], counts[among].sum()
    floors = c * np.array([1, len(among) - 1, k - len(among)])
    return np.array([symbol, answers - symbol, 1 - answers]), floors


def miss(found: ConditionalShare, truth: float) -> bool:
    return found.contradiction or not found.low <= truth <= found.high


def expected_reports(mechanism: RandomizedResponse, truth: ArrayLike, total: int) -> list[int]:
    return [round(share) for share in mechanism.channel() @ np.asarray(truth) * total]


def hull_of_kept(case: dict[str, Any], grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points of the grid with Z² ≤ x V, each computed from the definition."""
    reported, floors = three_cells(case)
    n = sum(case["counts"])
    scores = np.stack([1 - grid, -grid, 0 * grid])  # 1{j} - q 1{A} in the three cells
    z = (reported - floors) @ scores
    v = (reported @ scores**2 - (reported @ scores) ** 2) / n
    kept: NDArray[np.float64] = grid[z**2 <= X * v]
    return kept


@given(likely_cases())
def test_fieller_s_interval_is_the_hull_of_what_its_inequality_keeps(case: dict[str, Any]) -> None:
    reported, floors = three_cells(case)
    assert (reported >= floors).all()  # so the reported shares are the most likely ones
    found = fieller_share(**case)
    grid = np.linspace(0, 1, 2001)
    kept = hull_of_kept(case, grid)
    if len(kept) == 0:  # everything kept lies between two points of the grid
        assert found.high - found.low <= 1 / 2000
    elif found.share is not None:
        assert found.low <= kept[0] + 1e-12 <= found.low + 1 / 2000 + 2e-12
        assert found.high >= kept[-1] - 1e-12 >= found.high - 1 / 2000 - 2e-12


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ([44, 47, 109], 0, 1),  # everything is kept
        ([201, 227, 572], 0, 0.896469),  # everything but one end
        ([227, 201, 572], 0.103531, 1),
    ],
)
def test_where_nobody_may_have_been_asked_the_kept_shares_lie_outside_the_roots(
    counts: list[int], low: float, high: float
) -> None:
    found = fieller_share(counts=counts, mechanism=REFUSAL, symbol=0, among=(0, 1))
    n, answers = sum(counts), sum(counts[:2]) / sum(counts)
    assert 0 < answers - 0.4 < np.sqrt(X * answers * (1 - answers) / n)  # not significant
    assert [found.low, found.high] == pytest.approx([low, high], abs=1e-6)
    assert not found.contradiction


@cache
def fieller_by_cells(
    total: int, epsilon: float, k: int, answers: int, symbol: int, others: int
) -> ConditionalShare:
    """Put the reports of each of the three cells that matter on one code."""
    counts = [
        symbol,
        others,
        *[0] * (answers - 2),
        total - symbol - others,
        *[0] * (k - answers - 1),
    ]
    return fieller_share(
        counts=counts,
        mechanism=RandomizedResponse.from_epsilon(symbols=k, epsilon=epsilon),
        symbol=0,
        among=range(answers),
    )


def exact_fieller(
    *, total: int, epsilon: float, k: int, answers: int, asked: float, truth: float
) -> tuple[float, float]:
    """Probability that the interval holds the truth, and that it reports a contradiction."""
    mechanism = RandomizedResponse.from_epsilon(symbols=k, epsilon=epsilon)
    c, d = mechanism.other_probability, mechanism.slope
    first = c + d * asked * truth
    second = (answers - 1) * c + d * asked * (1 - truth)
    held = contradicted = left_out = 0.0
    counts = np.arange(total + 1)
    for symbol, weight in enumerate(binom.pmf(counts, total, first)):
        rest = counts[: total - symbol + 1]
        weights = weight * binom.pmf(rest, total - symbol, second / (1 - first))
        likely = np.flatnonzero(weights > 1e-7)
        left_out += float(weight - weights[likely].sum())
        for others in likely.tolist():
            found = fieller_by_cells(total, epsilon, k, answers, symbol, others)
            held += weights[others] * (not miss(found, truth))
            contradicted += weights[others] * found.contradiction
    assert left_out < 1e-3
    return held, contradicted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "least"), [(0.5, 0.94), (LN3, 0.94), (2.0, 0.935), (4.0, 0.90)]
)
@pytest.mark.parametrize(("k", "answers"), [(3, 2), (6, 4)])
def test_fieller_s_interval_covers_at_two_hundred_reports(
    epsilon: float, least: float, k: int, answers: int
) -> None:
    fieller_by_cells.cache_clear()
    for asked in (0.3, 1.0):
        for truth in (0.0, 0.02, 0.1, 0.5, 1.0):
            held, contradicted = exact_fieller(
                total=200, epsilon=epsilon, k=k, answers=answers, asked=asked, truth=truth
            )
            print(f"{epsilon=:.2f} {k=} {asked=} {truth=}: {held:.4f} {contradicted:.4f}")
            assert held >= least
            assert contradicted <= 0.03


@pytest.mark.slow
@pytest.mark.parametrize("total", [500, 2000])
@pytest.mark.parametrize(("k", "answers", "epsilon"), [(4, 2, LN3), (4, 3, 1.0), (10, 8, 2.0)])
def test_fieller_s_interval_covers_simulated_surveys(
    total: int, k: int, answers: int, epsilon: float
) -> None:
    runs, generator = 1500, np.random.default_rng([total, k])
    mechanism = RandomizedResponse.from_epsilon(symbols=k, epsilon=epsilon)
    for asked, truth in ((0.1, 0.3), (0.3, 0.05), (0.6, 0.5), (0.9, 0.95)):
        latent = np.zeros(k)
        latent[:answers] = asked * (1 - truth) / (answers - 1)
        latent[0], latent[answers:] = asked * truth, (1 - asked) / (k - answers)
        drawn = generator.multinomial(total, mechanism.channel() @ latent, size=runs)
        missed = sum(
            miss(
                fieller_share(
                    counts=counts.tolist(), mechanism=mechanism, symbol=0, among=range(answers)
                ),
                truth,
            )
            for counts in drawn
        )
        low, high = binom.ppf(5e-7, runs, 0.04), binom.isf(5e-7, runs, 0.07)
        print(f"{total=} {k=} {asked=} {truth=}: {runs=} {missed=} accepted={low:.0f}..{high:.0f}")
        assert low <= missed <= high


def test_an_empty_cell_is_no_contradiction_where_few_reports_are_swapped() -> None:
    hardly_any = RandomizedResponse.from_epsilon(symbols=3, epsilon=4)
    for counts, truth in (([50, 0, 0], 1.0), ([0, 50, 0], 0.0), ([0, 30, 20], 0.0)):
        for find in METHODS_OF_SHARES:
            found = find(counts=counts, mechanism=hardly_any, symbol=0, among=(0, 1))
            assert not miss(found, truth)
            assert 0 < found.high - found.low < 1


@pytest.mark.parametrize("find", [fieller_share, dirichlet_sequence_share])
@pytest.mark.parametrize(
    "counts",
    [
        [50, 1000, 950],  # 2.5 % send a code that at least 20 % must send
        [1500, 300, 200],  # 75 % send a code that at most 60 % can send
        [100, 100, 1800],  # fewer answers than if nobody had answered
    ],
)
def test_counts_that_the_mechanism_cannot_produce_are_a_contradiction(
    find: Find, counts: list[int]
) -> None:
    found = find(counts=counts, mechanism=REFUSAL, symbol=0, among=(0, 1))
    assert found.contradiction
    assert 0 <= found.low == found.high <= 1


@pytest.mark.parametrize("truth", [0.2, 1 / 3])
def test_a_follow_up_asked_of_30_percent_is_known_to_within_16_points(truth: float) -> None:
    # k = 4: three answers and not asked; epsilon ln 3, 2,000 reports.
    latent = (0.3 * truth, 0.15 * (1 - truth), 0.15 * (1 - truth), 0.7)
    found = fieller_share(
        counts=expected_reports(FOUR, latent, 2000), mechanism=FOUR, symbol=0, among=(0, 1, 2)
    )
    assert round(100 * (found.high - found.low) / 2) == 16
