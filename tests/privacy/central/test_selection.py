"""Choices by scores: known tables, privacy over all neighbours, and accuracy."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import exp, inf, log, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import binom

from privacy.central.selection import (
    exponential_mechanism_probabilities,
    permute_and_flip_probabilities,
    selection_bound,
    selection_rate,
)
from tests.support.sampling.integer_sampler import IntegerSampler

Choice = Callable[..., NDArray[np.float64]]
MECHANISMS = [permute_and_flip_probabilities, exponential_mechanism_probabilities]
COUNTS = (52, 50, 45, 40)
HALF = Fraction(1, 2)
# For a scale with 5 points and c = 1/7: counts (15, 20, 25, 25, 15).
TYPICAL = [Fraction(n, 7) for n in (-195, -150, -35, -115, -195)]

score_lists = st.lists(st.integers(-30, 30), min_size=1, max_size=6)
rates = st.floats(0.01, 3)


def enumerate_orders(scores: Sequence[int], rate: float) -> list[float]:
    """Compute permute-and-flip by trying every order."""
    chances = [exp(-rate * (max(scores) - score)) for score in scores]
    orders = list(permutations(range(len(scores))))
    found = [0.0] * len(scores)
    for order in orders:
        reached = 1 / len(orders)
        for option in order:
            found[option] += reached * chances[option]
            reached *= 1 - chances[option]
    return found


@cache
def exact_choice(scores: tuple[int, ...]) -> list[Fraction]:
    """Compute permute-and-flip at rate ln 2, where all probabilities are rational."""
    chances = [Fraction(1, 2 ** (max(scores) - score)) for score in scores]
    found = []
    for option, chance in enumerate(chances):
        powers = [Fraction(1)]  # coefficients of the product of (1 - x q)
        for other in chances[:option] + chances[option + 1 :]:
            shifted = [Fraction(0), *(-other * one for one in powers)]
            powers = [a + b for a, b in zip([*powers, Fraction(0)], shifted, strict=True)]
        found.append(chance * sum((one / (n + 1) for n, one in enumerate(powers)), Fraction(0)))
    return found


def largest_ratio(options: int, changes: Sequence[int], top: int) -> Fraction:
    """Compare all scores from 0 to `top` with all their neighbours, in both directions."""
    largest = Fraction(0)
    for scores in product(range(top + 1), repeat=options):
        for change in product(changes, repeat=options):
            neighbour = tuple(a + b for a, b in zip(scores, change, strict=True))
            for one, other in zip(exact_choice(scores), exact_choice(neighbour), strict=True):
                largest = max(largest, one / other, other / one)
    return largest


# Known tables


# The second row by hand: 1 / (1 + e^-1 + e^-3.5 + e^-6) = 1 / 1.400555468 = .714002369. All rows
# were computed with 30 digits, the first row over all orders of the options. A table whose first
# column begins with .803747241, .714002367 and .546420717 is wrong in the last digits: its first
# row adds up to 1.000000008.
@pytest.mark.parametrize(
    ("choose", "monotone", "expected"),
    [
        (MECHANISMS[0], True, [0.803747238, 0.181938536, 0.013237012, 0.001077215]),
        (MECHANISMS[1], True, [0.714002369, 0.262666793, 0.021561003, 0.001769835]),
        (MECHANISMS[1], False, [0.546420715, 0.331420917, 0.094953682, 0.027204686]),
    ],
)
def test_the_chances_that_each_option_is_published_as_the_leader(
    choose: Choice, monotone: bool, expected: list[float]
) -> None:
    rate = selection_rate(epsilon=HALF, monotone=monotone)
    assert choose(COUNTS, rate=rate).round(9).tolist() == expected
    assert sum(expected) == pytest.approx(1, abs=2e-9)


def test_permute_and_flip_names_the_leader_more_often_than_noisy_counts_do() -> None:
    """Noisy counts have discrete Laplace noise with b = 2; among equal ones, the first is named."""
    a, reach = exp(-1 / 2), 200
    values = np.arange(-reach, max(COUNTS) + reach)
    tail = [np.where(values > n, a ** (values - n), 0) / (1 + a) for n in COUNTS]  # P(N + Z >= v)
    at_least = [
        np.where(values > n, t, 1 - a ** (n - values + 1.0).clip(0) / (1 + a))
        for n, t in zip(COUNTS, tail, strict=True)
    ]
    chance = [(1 - a) / (1 + a) * a ** np.abs(values - n) for n in COUNTS]
    below = [1 - one for one in at_least]
    up_to = [b + c for b, c in zip(below, chance, strict=True)]
    noisy = [
        float((chance[j] * prod(below[:j], start=1.0) * prod(up_to[j + 1 :], start=1.0)).sum())
        for j in range(4)
    ]
    assert sum(noisy) == pytest.approx(1)
    assert noisy == pytest.approx([0.760668377, 0.223704790, 0.014475441, 0.001151392], abs=5.1e-10)
    assert permute_and_flip_probabilities(COUNTS, rate=HALF)[0] > noisy[0]


@pytest.mark.parametrize(
    ("choose", "expected"),
    [
        (MECHANISMS[1], [0.010012945, 0.034948613, 0.852627897, 0.092397600, 0.010012945]),
        (MECHANISMS[0], [0.005562529, 0.019603004, 0.916242550, 0.053029388, 0.005562529]),
    ],
)
def test_the_chances_that_each_point_is_published_as_typical(
    choose: Choice, expected: list[float]
) -> None:
    rate = selection_rate(epsilon=HALF, sensitivity=Fraction(9, 7))
    assert rate == Fraction(7, 36)
    assert choose(TYPICAL, rate=rate).round(9).tolist() == expected


# Probabilities


@given(score_lists, rates)
def test_every_order_of_the_options_together_gives_the_integral(
    scores: list[int], rate: float
) -> None:
    found = permute_and_flip_probabilities(scores, rate=rate)
    assert found == pytest.approx(enumerate_orders(scores, rate), rel=1e-11)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6))
def test_at_rate_ln_2_the_chances_are_the_rational_ones(scores: list[int]) -> None:
    exact = exact_choice(tuple(scores))
    assert sum(exact) == 1
    found = permute_and_flip_probabilities(scores, rate=log(2))
    assert found == pytest.approx([float(one) for one in exact], rel=1e-12)


def test_permute_and_flip_is_the_highest_score_with_exponential_noise() -> None:
    def density(x: float, option: int) -> float:
        others = (1 - exp(-(x - n) / 2) if x > n else 0.0 for n in rest[option])
        return exp(-(x - COUNTS[option]) / 2) / 2 * prod(others)

    rest = [COUNTS[:j] + COUNTS[j + 1 :] for j in range(4)]
    noisy = [quad(density, max(COUNTS), inf, args=(j,), epsabs=1e-13)[0] for j in range(4)]
    found = permute_and_flip_probabilities(COUNTS, rate=HALF)
    assert found == pytest.approx(noisy, abs=1e-9)


@pytest.mark.parametrize("choose", MECHANISMS)
@given(score_lists, rates, st.randoms(use_true_random=False))
def test_only_gaps_between_scores_matter_and_options_keep_their_chances_in_any_order(
    choose: Choice, scores: list[int], rate: float, source: random.Random
) -> None:
    found = choose(scores, rate=rate)
    assert found.sum() == pytest.approx(1)
    moved = [score + Fraction(10**17 + 1, 3) for score in scores]
    assert choose(moved, rate=rate).tolist() == found.tolist()
    order = source.sample(range(len(scores)), len(scores))
    shuffled = choose([scores[option] for option in order], rate=rate)
    assert shuffled == pytest.approx([found[option] for option in order], rel=1e-12)


@pytest.mark.parametrize("choose", MECHANISMS)
def test_many_options_far_apart_and_numpy_s_counts_are_chosen_among(choose: Choice) -> None:
    counts = np.array([10**6, 0, 3])
    assert choose(counts, rate=HALF).tolist() == [1, 0, 0]
    equal = choose([7] * 60, rate=HALF)
    assert equal == pytest.approx(np.full(60, 1 / 60), rel=1e-12)
    assert choose([5], rate=HALF).tolist() == [1]


@given(score_lists, rates)
def test_permute_and_flip_is_never_further_from_the_best_on_average(
    scores: list[int], rate: float
) -> None:
    gaps = max(scores) - np.array(scores)
    ours = permute_and_flip_probabilities(scores, rate=rate) @ gaps
    theirs = exponential_mechanism_probabilities(scores, rate=rate) @ gaps
    assert ours <= theirs * (1 + 1e-12) + 1e-12


# Privacy, exactly: at rate ln 2, e**epsilon is 2 for counts and 4 for scores that may fall


@pytest.mark.parametrize(("options", "top"), [(2, 12), (3, 5), (4, 2)])
def test_one_report_changes_the_chance_of_a_leader_by_at_most_e_to_the_epsilon(
    options: int, top: int
) -> None:
    """Adding a report raises any of the counts by one; removing it lowers these counts by one."""
    assert largest_ratio(options, (0, 1), top) == 2


@pytest.mark.parametrize(("options", "top"), [(2, 12), (3, 5), (4, 1)])
def test_scores_that_may_rise_and_fall_lose_twice_as_much_at_the_same_rate(
    options: int, top: int
) -> None:
    """Scores that may fall need the rate epsilon / 2; the rate for counts breaks the promise."""
    assert largest_ratio(options, (-1, 0, 1), top) == 4
    epsilon = Fraction(7, 10)
    counts, others = (selection_rate(epsilon=epsilon, monotone=flag) for flag in (True, False))
    assert (counts, others) == (epsilon, epsilon / 2)


@pytest.mark.parametrize("choose", MECHANISMS)
@given(
    st.lists(st.tuples(st.integers(0, 15), st.booleans()), min_size=1, max_size=7),
    st.integers(1, 300),
)
def test_leaders_of_longer_lists_keep_the_promise_too(
    choose: Choice, options: list[tuple[int, bool]], hundredths: int
) -> None:
    epsilon = Fraction(hundredths, 100)
    rate = selection_rate(epsilon=epsilon, monotone=True)
    before = choose([count for count, _ in options], rate=rate)
    after = choose([count + rises for count, rises in options], rate=rate)
    assert np.abs(np.log(before / after)).max() <= float(epsilon) + 1e-11


# Accuracy


@pytest.mark.parametrize("choose", MECHANISMS)
@given(score_lists, st.integers(1, 300), st.floats(0.01, 0.999), st.booleans())
def test_the_gap_to_the_best_exceeds_its_bound_as_rarely_as_stated(
    choose: Choice, scores: list[int], hundredths: int, level: float, monotone: bool
) -> None:
    epsilon = Fraction(hundredths, 100)
    bound = selection_bound(
        sensitivity=1, epsilon=epsilon, candidates=len(scores), level=level, monotone=monotone
    )
    chances = choose(scores, rate=selection_rate(epsilon=epsilon, monotone=monotone))
    gaps = max(scores) - np.array(scores)
    assert chances[gaps > bound].sum() <= 1 - level + 1e-12


@pytest.mark.parametrize("monotone", [True, False])
def test_the_bound_of_the_exponential_mechanism_is_nearly_met_by_one_best_among_many(
    monotone: bool,
) -> None:
    """The bound is nearly tight if 1,000 options lie just beyond it and one option is the best."""
    bound = selection_bound(
        sensitivity=1, epsilon=1, candidates=1001, level=0.95, monotone=monotone
    )
    scores = [0] + [-int(bound) - 1] * 1000
    rate = selection_rate(epsilon=1, monotone=monotone)
    missed = 1 - exponential_mechanism_probabilities(scores, rate=rate)[0]
    assert 0.01 < missed <= 0.05


def test_drawn_choices_exceed_the_bound_as_rarely_as_stated() -> None:
    runs, level, scores = 20_000, 0.8, [0, *[-9] * 20]
    rate = selection_rate(epsilon=HALF, monotone=True)
    bound = selection_bound(sensitivity=1, epsilon=HALF, candidates=21, level=level, monotone=True)
    assert 9 < bound < 10
    sampler = IntegerSampler(random.Random(20))
    further = sum(sampler.permute_and_flip(scores, rate) != 0 for _ in range(runs))
    expected = runs * (1 - permute_and_flip_probabilities(scores, rate=rate)[0])
    print(f"{runs=} {further=} {expected=:.0f}")
    assert further <= runs * (1 - level)
    assert (
        min(binom.cdf(further, runs, expected / runs), binom.sf(further - 1, runs, expected / runs))
        > 5e-7
    )
