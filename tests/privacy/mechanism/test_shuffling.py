"""Shuffling: known values, all neighbouring crowds, and bounds that are never too small."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations_with_replacement
from math import exp, inf, log, nan, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from privacy.mechanism import shuffling
from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.mechanism.shuffling import shuffle_delta, shuffle_epsilon, shuffle_epsilon_closed_form

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
THREE = RandomizedResponse.from_flips(symbols=3, flips=25)
Histogram = tuple[int, ...]


@st.composite
def mechanisms(draw: st.DrawFn) -> RandomizedResponse:
    flips = draw(st.integers(2, 45))
    return RandomizedResponse.from_flips(symbols=draw(st.integers(2, 64)), flips=flips)


def histograms(mechanism: RandomizedResponse, crowd: Sequence[int]) -> dict[Histogram, float]:
    """Return the distribution of counts that a crowd with these true symbols reports."""
    channel = mechanism.channel()
    chances: dict[Histogram, float] = {(0,) * mechanism.symbols: 1.0}
    for true in crowd:
        grown: dict[Histogram, float] = defaultdict(float)
        for histogram, chance in chances.items():
            for j in range(mechanism.symbols):
                larger = (*histogram[:j], histogram[j] + 1, *histogram[j + 1 :])
                grown[larger] += chance * channel[j, true]
        chances = grown
    return chances


def true_delta(mechanism: RandomizedResponse, people: int, epsilon: float) -> float:
    """Return the worst case over all true symbols of the others; symbols are interchangeable."""
    worst = 0.0
    for others in combinations_with_replacement(range(mechanism.symbols), people - 1):
        first = histograms(mechanism, [0, *others])
        second = histograms(mechanism, [1, *others])
        worst = max(worst, sum(max(0.0, p - exp(epsilon) * second[h]) for h, p in first.items()))
    return worst


def pair_delta(mechanism: RandomizedResponse, people: int, epsilon: float) -> float:
    """Compare the counts of two symbols only, if all others send each of them with chance c."""
    t, c = mechanism.keep_probability, mechanism.other_probability
    first: dict[Histogram, float] = defaultdict(float)
    second: dict[Histogram, float] = defaultdict(float)
    for both in range(people):
        for a in range(both + 1):
            chance = binom.pmf(both, people - 1, 2 * c) * binom.pmf(a, both, 0.5)
            for counts, p, q in (
                ((a + 1, both - a), t, c),
                ((a, both - a + 1), c, t),
                ((a, both - a), 1 - t - c, 1 - t - c),
            ):
                first[counts] += chance * p
                second[counts] += chance * q
    return sum(max(0.0, p - exp(epsilon) * second[h]) for h, p in first.items())


@pytest.mark.parametrize(("people", "epsilon"), [(1000, 0.1682828), (10_000, 0.0489149)])
def test_two_coins_give_known_values(people: int, epsilon: float) -> None:
    bound = shuffle_epsilon(mechanism=COINS, people=people, delta=1e-6)
    assert bound == pytest.approx(epsilon, abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("people", [1, 2, 5, 40])
@pytest.mark.parametrize("flips", [10, 25, 40])
def test_with_two_symbols_the_bound_equals_the_comparison_of_their_counts(
    people: int, flips: int, epsilon: float
) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    if epsilon < mechanism.epsilon:
        bound = shuffle_delta(mechanism=mechanism, people=people, epsilon=epsilon)
        expected = pair_delta(mechanism, people, epsilon)
        assert bound == pytest.approx(expected, rel=1e-6, abs=1e-14)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("flips", [12, 25])
@pytest.mark.parametrize(("symbols", "people"), [(2, 5), (2, 8), (3, 4), (4, 4), (5, 3)])
def test_the_bound_holds_for_every_neighbouring_crowd(
    symbols: int, people: int, flips: int, epsilon: float
) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=symbols, flips=flips)
    true = true_delta(mechanism, people, epsilon)
    bound = shuffle_delta(mechanism=mechanism, people=people, epsilon=epsilon)
    print(f"k={symbols} n={people} epsilon={epsilon} true={true:.6g} bound={bound:.6g}")
    assert true <= bound <= 1.25 * true + 1e-12


def test_two_symbols_out_of_three_must_not_be_compared_alone() -> None:
    true = true_delta(THREE, 3, 1.0)
    assert true == pytest.approx(0.0203, abs=5e-5)
    assert pair_delta(THREE, 3, 1.0) == pytest.approx(0.0023, abs=5e-5)
    assert shuffle_delta(mechanism=THREE, people=3, epsilon=1.0) >= true


def test_a_simulation_of_the_blanket_agrees() -> None:
    # Simulate the expectation in the docstring of `shuffle_delta`: n = 300, k = 4, 10**6 draws.
    mechanism = RandomizedResponse.from_flips(symbols=4, flips=25)
    people, epsilon, draws = 300, 0.1, 10**6
    t, c = mechanism.keep_probability, mechanism.other_probability
    cells = np.random.default_rng(2019).multinomial(people, [c, c, 2 * c, 1 - 4 * c], size=draws)
    e = exp(epsilon)
    terms = np.maximum(cells[:, :3] @ [t - c * e, c - t * e, c * (1 - e)], 0) / (c * people)
    expected = shuffle_delta(mechanism=mechanism, people=people, epsilon=epsilon)
    deviation = terms.std() / sqrt(draws)
    print(f"n={people} observed={terms.mean()} expected={expected} sd={deviation}")
    assert abs(terms.mean() - expected) < 4.9 * deviation  # one in a million


@pytest.mark.parametrize("symbols", [3, 5, 64])
def test_using_few_points_raises_the_bound_only_slightly(symbols: int) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=symbols, flips=25)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuffling, "_CELLS", 2**20)
        every_count = shuffle_epsilon(mechanism=mechanism, people=3000, delta=1e-6)
        patch.setattr(shuffling, "_CELLS", 1)
        few = shuffle_epsilon(mechanism=mechanism, people=3000, delta=1e-6)
    assert every_count * (1 - 1e-9) <= few <= every_count * (1 + 1e-4)


@pytest.mark.parametrize("mechanism", [COINS, THREE], ids=["k2", "k3"])
def test_a_million_people_take_seconds(mechanism: RandomizedResponse) -> None:
    started = time.process_time()
    bound = shuffle_epsilon(mechanism=mechanism, people=10**6, delta=1e-6)
    spent = time.process_time() - started
    print(f"k={mechanism.symbols} epsilon={bound} seconds={spent:.2f}")
    # The bound falls as 1 / sqrt(n), or slightly faster at the same delta.
    thousand = shuffle_epsilon(mechanism=mechanism, people=1000, delta=1e-6)
    assert thousand / 50 < bound < thousand / sqrt(1000)
    assert spent < 30


@given(mechanisms(), st.integers(1, 3000), st.floats(1e-12, 0.1))
@settings(deadline=None, max_examples=25)
def test_shuffling_never_costs_more_and_meets_delta(
    mechanism: RandomizedResponse, people: int, delta: float
) -> None:
    epsilon = shuffle_epsilon(mechanism=mechanism, people=people, delta=delta)
    assert 0 <= epsilon <= mechanism.epsilon
    assert shuffle_delta(mechanism=mechanism, people=people, epsilon=epsilon) <= delta
    if epsilon > 1e-6:
        lower = shuffle_delta(mechanism=mechanism, people=people, epsilon=epsilon - 1e-6)
        assert lower > delta


@given(mechanisms(), st.integers(1, 1000), st.integers(1, 1000), st.floats(0, 3))
@settings(deadline=None, max_examples=50)
def test_more_people_mean_less_delta(
    mechanism: RandomizedResponse, people: int, more: int, epsilon: float
) -> None:
    few = shuffle_delta(mechanism=mechanism, people=people, epsilon=epsilon)
    many = shuffle_delta(mechanism=mechanism, people=people + more, epsilon=epsilon)
    # Both are upper bounds: far below any useful delta, they may exceed the truth by different
    # amounts.
    assert many <= few * (1 + 1e-6) + 1e-12


@given(mechanisms(), st.integers(1, 1000), st.floats(0, 3), st.floats(0, 1))
@settings(deadline=None, max_examples=50)
def test_a_larger_epsilon_needs_a_smaller_delta(
    mechanism: RandomizedResponse, people: int, epsilon: float, more: float
) -> None:
    first = shuffle_delta(mechanism=mechanism, people=people, epsilon=epsilon)
    second = shuffle_delta(mechanism=mechanism, people=people, epsilon=epsilon + more)
    assert 0 <= second <= first * (1 + 1e-6) + 1e-18
    assert first <= 1


@pytest.mark.parametrize("symbols", [2, 3, 10])
def test_more_noise_means_less_epsilon(symbols: int) -> None:
    bounds = [
        shuffle_epsilon(
            mechanism=RandomizedResponse.from_flips(symbols=symbols, flips=flips),
            people=500,
            delta=1e-6,
        )
        for flips in (5, 12, 25, 40, 49)
    ]
    assert bounds == sorted(bounds, reverse=True)


def test_one_person_alone_keeps_the_local_delta() -> None:
    # 3/4 - e/4 at epsilon = 1/2
    expected = 0.75 - exp(0.5) / 4
    bound = shuffle_delta(mechanism=COINS, people=1, epsilon=0.5)
    assert bound == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("people", [1, 10, 1000])
def test_delta_is_zero_at_or_above_the_local_epsilon(people: int) -> None:
    for epsilon in (COINS.epsilon, 2.0, 100.0):
        assert shuffle_delta(mechanism=COINS, people=people, epsilon=epsilon) == 0
    assert shuffle_epsilon(mechanism=COINS, people=people, delta=1e-30) == COINS.epsilon


@pytest.mark.parametrize("threshold", [SCALE // 2 + 1, SCALE - 1])
def test_the_weakest_and_the_strongest_mechanism_are_computed(threshold: int) -> None:
    mechanism = RandomizedResponse(symbols=2, threshold=threshold)
    epsilon = shuffle_epsilon(mechanism=mechanism, people=100, delta=1e-15)
    assert 0 < epsilon <= mechanism.epsilon


def test_the_closed_form_matches_the_published_formula() -> None:
    # Feldman, McMillan and Talwar 2021, theorem 3.1, with e**epsilon = 3 and n = 10**4:
    # ln(1 + 1/2 (8 sqrt(3 ln(4e6) / 10**4) + 24 / 10**4))
    expected = log(1 + (8 * sqrt(3 * log(4e6) / 10**4) + 24 / 10**4) / 2)
    bound = shuffle_epsilon_closed_form(mechanism=COINS, people=10**4, delta=1e-6)
    assert bound == pytest.approx(expected, rel=1e-12)


@given(mechanisms(), st.integers(1000, 100_000))
@settings(deadline=None, max_examples=10)
def test_the_closed_form_is_never_below_the_numeric_bound(
    mechanism: RandomizedResponse, people: int
) -> None:
    if mechanism.epsilon <= log(people / (16 * log(2e6))):
        loose = shuffle_epsilon_closed_form(mechanism=mechanism, people=people, delta=1e-6)
        assert loose >= shuffle_epsilon(mechanism=mechanism, people=people, delta=1e-6)


def test_the_closed_form_rejects_values_outside_its_condition() -> None:
    # ln 3 <= ln(n / (16 ln(2e6))) if n >= 48 ln(2e6) = 696.4
    assert shuffle_epsilon_closed_form(mechanism=COINS, people=697, delta=1e-6) < COINS.epsilon
    with pytest.raises(ValueError, match=r"mechanism must have an epsilon of at most 1\.098"):
        shuffle_epsilon_closed_form(mechanism=COINS, people=696, delta=1e-6)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-6, inf, nan])
def test_a_delta_out_of_range_is_rejected(delta: float) -> None:
    for bound in (shuffle_epsilon, shuffle_epsilon_closed_form):
        with pytest.raises(ValueError, match=r"delta must lie in \(0, 1\), got"):
            bound(mechanism=COINS, people=10_000, delta=delta)


@pytest.mark.parametrize("epsilon", [-0.1, inf, nan])
def test_an_epsilon_out_of_range_is_rejected(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon must be at least 0 and finite, got"):
        shuffle_delta(mechanism=COINS, people=10, epsilon=epsilon)


def test_an_impossible_number_of_people_is_rejected() -> None:
    calls: list[Any] = [
        lambda people: shuffle_delta(mechanism=COINS, people=people, epsilon=0.1),
        lambda people: shuffle_epsilon(mechanism=COINS, people=people, delta=0.1),
        lambda people: shuffle_epsilon_closed_form(mechanism=COINS, people=people, delta=0.1),
    ]
    for call in calls:
        for people in (0, -5):
            with pytest.raises(ValueError, match=f"people must be at least 1, got {people}"):
                call(people)
        for wrong in (10.0, "10", True):
            with pytest.raises(ValueError, match="people must be a whole number"):
                call(wrong)
