"""Attacks on publications: known values, exact sums over all noise, and simulated attacks."""

from __future__ import annotations

from itertools import product
from math import exp, inf, log, sqrt, tanh
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

from privacy.central import attacks

EPSILONS = (0.1, 0.5, 1.0, 2.0)
ONE_IN_A_MILLION = 1e-6
scales = st.floats(0.05, 50)


def laplace(scale: float, ends: int) -> NDArray[np.float64]:
    """Return P(-ends), ..., P(ends) of the discrete Laplace distribution, from its definition."""
    a = exp(-1 / scale)
    chances: NDArray[np.float64] = (1 - a) / (1 + a) * a ** np.abs(np.arange(-ends, ends + 1.0))
    return chances


def draw(scale: float, shape: Any, *, seed: int) -> NDArray[np.int64]:
    """Draw Laplace noise by its inverse distribution function, unlike the module."""
    steps = laplace(scale, 2000).cumsum()
    places: NDArray[np.int64] = np.searchsorted(steps, np.random.default_rng(seed).random(shape))
    return places - 2000


def assert_share(right: int, tries: int, expected: float) -> None:
    """Fail if this many (or few) right guesses occur in under one in a million runs."""
    print(f"{right} of {tries} right, expected {expected:.4f}")
    chances = bdtr(right, tries, expected), bdtrc(right - 1, tries, expected)
    assert min(chances) > ONE_IN_A_MILLION / 2


def test_the_bound_is_the_advantage_of_the_best_attacker_on_one_count() -> None:
    # Discrete Laplace, b = 2: P(Z >= 0) - P(Z >= 1) = P(0) = tanh(1/4) = .244918662404.
    bound = attacks.success_bound(epsilon=0.5)
    assert 2 * bound - 1 == pytest.approx(0.244918662404, abs=1e-12)
    assert 2 * bound - 1 == pytest.approx((exp(0.5) - 1) / (exp(0.5) + 1), abs=1e-15)
    assert 2 * attacks.differencing_success(scale=2) - 1 == pytest.approx(tanh(0.25), abs=1e-15)


def test_no_loss_is_guessing_and_certain_failure_is_certainty() -> None:
    assert attacks.success_bound(epsilon=0) == 0.5
    assert attacks.success_bound(epsilon=0, delta=1) == 1
    assert attacks.success_bound(epsilon=1, delta=1) == pytest.approx(1, abs=1e-15)
    assert attacks.success_bound(epsilon=10_000) == 1


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_bound_with_delta_is_reached_by_randomized_response_that_may_fail(
    epsilon: float,
) -> None:
    # With probability delta, the mechanism fails and outputs the truth; otherwise, it outputs the
    # truth with probability e^eps/(1 + e^eps).
    delta, keep = 0.01, exp(epsilon) / (1 + exp(epsilon))
    success = delta + (1 - delta) * keep
    assert attacks.success_bound(epsilon=epsilon, delta=delta) == pytest.approx(success, abs=1e-15)


@given(scale=scales, noisy=st.sampled_from((1, 2)))
def test_subtracting_is_the_best_attack(scale: float, noisy: int) -> None:
    ends = int(40 * scale) + 40
    noise = laplace(scale, ends)
    if noisy == 2:
        noise = np.convolve(noise, noise)
    without, counted = np.append(noise, 0), np.insert(noise, 0, 0)
    best = np.maximum(without, counted).sum() / 2
    found = attacks.differencing_success(scale=scale, noisy_figures=noisy)
    assert found == pytest.approx(best, abs=1e-9)


@given(scale=scales)
def test_subtracting_stays_within_the_bound(scale: float) -> None:
    bound = attacks.success_bound(epsilon=1 / scale)
    assert attacks.differencing_success(scale=scale) == pytest.approx(bound, abs=1e-12)
    assert attacks.differencing_success(scale=scale, noisy_figures=2) <= bound


@pytest.mark.parametrize("noisy", [1, 2])
def test_exact_counts_show_the_person_between_them(noisy: int) -> None:
    assert attacks.differencing_success(scale=0, noisy_figures=noisy) == 1
    assert attacks.differencing_success(scale=1e-320, noisy_figures=noisy) == 1


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_played_differencing_is_as_often_right_as_computed(epsilon: float) -> None:
    tries = 40_000
    counted = np.arange(tries) % 2
    released = counted + draw(1 / epsilon, tries, seed=1)  # minus the count without the person
    right = int(((released >= 1) == (counted == 1)).sum())
    assert_share(right, tries, attacks.differencing_success(scale=1 / epsilon))


@pytest.mark.parametrize("symbols", [1, 2, 3])
@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_the_vote_of_the_cells_is_the_best_attack(symbols: int, scale: float) -> None:
    ends = 30
    without, counted = np.append(laplace(scale, ends), 0), np.insert(laplace(scale, ends), 0, 0)
    cells = list(product(range(2 * ends + 2), repeat=symbols))
    best = sum(max(without[list(seen)].prod(), counted[list(seen)].prod()) / 2 for seen in cells)
    found = attacks.needle_success(symbols=symbols, scale=scale)
    assert found == pytest.approx(best, abs=1e-5)


@given(symbols=st.integers(1, 60), epsilon=st.floats(0.05, 5))
def test_the_needle_stays_within_the_bound_of_the_table(symbols: int, epsilon: float) -> None:
    found = attacks.needle_success(symbols=symbols, scale=symbols / epsilon)
    assert 0.5 < found <= attacks.success_bound(epsilon=epsilon) + 1e-12


def test_an_exact_table_shows_its_needle() -> None:
    assert attacks.needle_success(symbols=7, scale=0) == 1
    assert attacks.needle_log_ratio(published=[4, 1], others=[3, 0], scale=0) == inf
    assert attacks.needle_log_ratio(published=[3, 0], others=[3, 0], scale=0) == -inf


def test_the_log_ratio_is_that_of_the_two_distributions() -> None:
    noise, ends = laplace(3, 50), 50
    published, others = (9, 20, 4), (11, 16, 4)
    expected = sum(
        log(noise[ends + seen - known - 1] / noise[ends + seen - known])
        for seen, known in zip(published, others, strict=True)
    )
    found = attacks.needle_log_ratio(published=published, others=others, scale=3)
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_table_that_fits_neither_story_is_refused() -> None:
    with pytest.raises(ValueError, match="published"):
        attacks.needle_log_ratio(published=[4, 0], others=[3, 0], scale=0)


@pytest.mark.parametrize("symbols", [1, 4, 9])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_played_needle_is_found_as_often_as_computed(symbols: int, epsilon: float) -> None:
    tries, scale = 10_000, symbols / epsilon
    others = np.arange(symbols)
    in_table = np.arange(tries) % 2
    noise = draw(scale, (tries, symbols), seed=symbols)
    coins = np.random.default_rng(7).random(tries)
    right = 0
    for counted, drawn, coin in zip(in_table, noise, coins, strict=True):
        ratio = attacks.needle_log_ratio(
            published=others + counted + drawn, others=others.tolist(), scale=scale
        )
        says = coin < 0.5 if abs(ratio) < 1e-9 else ratio > 0
        right += says == bool(counted)
    assert_share(right, tries, attacks.needle_success(symbols=symbols, scale=scale))


def invent_bits(people: int, *, seed: int = 3) -> list[int]:
    bits: list[int] = np.random.default_rng(seed).permutation(np.arange(people) % 2).tolist()
    return bits


@pytest.mark.parametrize("people", [20, 100, 200])
@pytest.mark.parametrize("fraction", [0.05, 0.5])
def test_exact_counts_are_solved_whatever_the_smallest_group(people: int, fraction: float) -> None:
    smallest = int(people * fraction)
    found = attacks.reconstruct(
        bits=invent_bits(people), groups=2 * people, smallest=smallest, scale=0
    )
    assert found.right == 1
    assert found.smallest >= smallest
    assert (found.people, found.groups) == (people, 2 * people)


def test_too_few_exact_counts_are_not_solved() -> None:
    found = attacks.reconstruct(bits=invent_bits(200), groups=20, smallest=100, scale=0)
    assert found.right < 0.8


def test_noise_below_the_square_root_of_people_does_not_protect() -> None:
    # In the attack of Dinur and Nissim on 200 people, a standard deviation of 1.4 is far below
    # sqrt(200) = 14.
    found = attacks.reconstruct(bits=invent_bits(200), groups=1000, smallest=20, scale=1, runs=20)
    assert found.right > 0.99


def play_reconstruction(*, groups: int, scale: float) -> tuple[float, float]:
    """Return the mean share of recovered bits over draws, and the standard error of the mean."""
    right = [
        attacks.reconstruct(
            bits=invent_bits(100), groups=groups, smallest=25, scale=scale, seed=seed
        ).right
        for seed in range(40)
    ]
    return float(np.mean(right)), float(np.std(right, ddof=1) / sqrt(len(right)))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("groups", [50, 200])
def test_a_budget_split_over_all_counts_keeps_the_bound(epsilon: float, groups: int) -> None:
    right, error = play_reconstruction(groups=groups, scale=groups / epsilon)
    assert right - 4.9 * error < attacks.success_bound(epsilon=epsilon)
    assert right == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_spending_the_whole_budget_on_every_count_is_caught(epsilon: float) -> None:
    right, error = play_reconstruction(groups=200, scale=1 / epsilon)
    assert right - 4.9 * error > attacks.success_bound(epsilon=epsilon)


def test_the_noise_has_the_distribution_that_its_scale_names() -> None:
    drawn = attacks._draw_noise(2.0, (200, 500), np.random.default_rng(5))
    assert (drawn == np.round(drawn)).all()
    for value, expected in ((0, 0.244918662404), (1, 0.148550677884), (-5, 0.0201041480664)):
        assert_share(int((drawn == value).sum()), drawn.size, expected)


def test_the_same_seed_gives_the_same_result_and_another_one_does_not() -> None:
    def play(seed: int) -> float:
        return attacks.reconstruct(
            bits=invent_bits(100), groups=200, smallest=20, scale=100, runs=3, seed=seed
        ).right

    assert play(1) == play(1)
    assert len({play(seed) for seed in range(6)}) > 1
