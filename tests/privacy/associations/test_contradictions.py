"""Tables of reports that no true answers can explain: known values and false alarms on honest data.

The chance of a false alarm is simulated, or summed over all tables. The true shares are those for
which this chance is greatest: everybody is in one cell, or people are divided between a few cells.
Each test maximizes over shares that include the true ones, so tables whose ratio against the truth
is small need no search.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import chdtrc, gammaln, xlogy
from scipy.stats import binom

from privacy.associations.contradictions import Contradiction, find_contradiction
from privacy.associations.tables import Variable, kronecker
from privacy.mechanism.mechanisms import RandomizedResponse

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
COINS = Variable.plain(RandomizedResponse.from_flips(symbols=2, flips=25))
FINE = Contradiction(while_watched=False, after_fixed_end=False)
FIXED = Contradiction(while_watched=False, after_fixed_end=True)
NEVER = 1e-6
BOTH = Contradiction(while_watched=True, after_fixed_end=True)


def of(symbols: int, epsilon: float) -> Variable:
    return Variable.plain(RandomizedResponse.from_epsilon(symbols=symbols, epsilon=epsilon))


# Known values


def test_after_a_fixed_end_one_look_finds_what_a_bound_for_every_look_misses() -> None:
    reports = np.array([400, 150, 150, 300])
    channel = kronecker([COINS.channel()] * 2)

    def fall_short(shares: Floats) -> float:
        return float(-xlogy(reports, channel @ shares).sum())

    most = minimize(
        fall_short,
        np.full(4, 0.25),
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda shares: shares.sum() - 1},
        options={"ftol": 1e-12},
    )
    ratio = 2 * (xlogy(reports, reports / 1000).sum() + most.fun)
    assert ratio == pytest.approx(24.77, abs=0.01)
    significance = float(chdtrc(3, ratio))
    for factor, expected in ((1.001, FIXED), (0.999, FINE)):
        found = find_contradiction(
            counts=reports.reshape(2, 2),
            variables=[COINS, COINS],
            level=1 - factor * significance,
        )
        assert found == expected


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([[30, 20], [20, 30]], FINE),
        ([[400, 150], [150, 300]], FIXED),
        ([[0, 100], [100, 0]], BOTH),
        # With fewer than 20 reports, the test that holds at every look replaces the test after a
        # fixed end.
        ([[1, 9], [10, 0]], FIXED),
        ([[0, 9], [10, 0]], FINE),
    ],
)
def test_each_test_has_its_own_answer(counts: list[list[int]], expected: Contradiction) -> None:
    assert find_contradiction(counts=counts, variables=[COINS, COINS]) == expected


def test_the_test_that_is_valid_depends_on_the_end() -> None:
    assert FIXED.applies(fixed_end=True)
    assert not FIXED.applies(fixed_end=False)
    assert Contradiction.of_any([FINE, FIXED]) == FIXED
    assert Contradiction.of_any([]) == FINE


# Chances of false alarms with honest data


def compare_with_truth(tables: Counts, reported: Floats) -> Floats:
    """Compute the likelihood ratio of the reported shares themselves against the true shares."""
    total = tables.sum(axis=1, keepdims=True)
    ratios: Floats = 2 * (xlogy(tables, tables / total) - xlogy(tables, reported)).sum(axis=1)
    return ratios


def find_at_end(tables: Counts, variables: Sequence[Variable], reported: Floats) -> Counts:
    """Return the indices of tables that contradict the design after a fixed end."""
    shape = tuple(variable.size for variable in variables)
    freedom = len(reported) - 1
    likely = np.flatnonzero(chdtrc(freedom, compare_with_truth(tables, reported)) <= 0.01)
    found = [
        find_contradiction(counts=tables[place].reshape(shape), variables=variables)
        for place in likely
    ]
    return likely[[each.after_fixed_end for each in found]]


def list_tables(total: int) -> Counts:
    """Return every table of four cells with this total."""
    first, second, third = np.indices((total + 1,) * 3).reshape(3, -1)
    fourth = total - first - second - third
    return np.column_stack([first, second, third, fourth])[fourth >= 0]


@pytest.mark.parametrize(
    ("total", "epsilon"),
    [
        (20, log(3)),
        pytest.param(30, 0.5, marks=pytest.mark.long),
    ],
)
def test_after_a_fixed_end_chance_contradicts_at_most_1_of_100_small_tables(
    total: int, epsilon: float
) -> None:
    variables, tables = [of(2, epsilon)] * 2, list_tables(total)
    for truth in ([1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0, 0, 0.5], [0.9, 0.1, 0, 0]):
        reported = kronecker([variable.channel() for variable in variables]) @ truth
        ways = gammaln(total + 1) - gammaln(tables + 1).sum(axis=1)
        weights = np.exp(ways + xlogy(tables, reported).sum(axis=1))
        # Tables that hardly ever occur are counted as contradictions without a search.
        likely = weights > NEVER
        found = find_at_end(tables[likely], variables, reported)
        chance = weights[likely][found].sum() + weights[~likely].sum()
        print(f"n={total} epsilon={epsilon:.2f} {truth}: {chance:.4f}")
        assert chance <= 0.01


def accept(k: int, *, runs: int, expected: float) -> None:
    limit = binom.isf(1e-6, runs, expected)
    print(f"n={runs} k={k} expected at most {expected * runs}, accepted up to {limit}")
    assert k <= limit


# At epsilon = .5, true shares can explain the fewest tables, so reports contradict by chance most
# often.
@pytest.mark.parametrize(
    ("sizes", "total"),
    [
        ((2, 2, 2), 40),
        ((3, 3), 45),
        pytest.param((3, 3, 3), 150, marks=pytest.mark.long),
        pytest.param((2,) * 8, 4096, marks=pytest.mark.long),
    ],
)
def test_after_a_fixed_end_chance_contradicts_at_most_1_of_100_large_tables(
    sizes: tuple[int, ...], total: int
) -> None:
    runs, variables = 4000, [of(size, 0.5) for size in sizes]
    reported = kronecker([variable.channel() for variable in variables])[:, 0]
    tables = np.random.default_rng(1938).multinomial(total, reported, size=runs)
    accept(len(find_at_end(tables, variables, reported)), runs=runs, expected=0.01)


def test_while_watched_chance_contradicts_at_most_1_of_100_tables() -> None:
    runs, looks = 1000, 20
    reported = kronecker([COINS.channel()] * 2)[:, 0]
    batches = np.random.default_rng(1970).multinomial(50, reported, size=(runs, looks))
    tables = batches.cumsum(axis=1)
    # Only these tables can contradict, because the mixture is below the likelihood of the reported
    # shares.
    likely = compare_with_truth(tables.reshape(-1, 4), reported) >= 2 * log(100)
    ever = {
        run
        for run, look in np.argwhere(likely.reshape(runs, looks)).tolist()
        if find_contradiction(
            counts=tables[run, look].reshape(2, 2), variables=[COINS, COINS]
        ).while_watched
    }
    accept(len(ever), runs=runs, expected=0.01)
