"""Draws from the integer sampler and from OpenDP are compared with the exact probabilities.

The sampler is seeded. OpenDP cannot be seeded, so each test of OpenDP fails by chance once in a
million runs.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import opendp.prelude as dp
import pytest

from privacy.central.noise import discrete_gaussian_probability, discrete_laplace_probability
from privacy.central.selection import (
    exponential_mechanism_probabilities,
    permute_and_flip_probabilities,
)
from tests.support.sampling.frequencies import among, chi_squared_p
from tests.support.sampling.integer_sampler import IntegerSampler

RUNS = 40_000
BY_CHANCE = 1e-6
SCORES = (52, 50, 45, 40)
CLOSE = (7, 7, 6, 0, 5)
LAPLACE = [Fraction(1, 2), Fraction(2), Fraction(10, 3), Fraction(20)]
GAUSSIAN = [Fraction(1), Fraction(89, 5), Fraction(3, 10)]
CHOICES = [(SCORES, Fraction(1, 2)), (CLOSE, Fraction(7, 36))]


@pytest.fixture
def sampler() -> IntegerSampler:
    return IntegerSampler(random.Random(20))


@pytest.fixture(autouse=True)
def _opendp() -> None:
    dp.enable_features("contrib")


def laplace(scale: Fraction) -> Callable[[int], float]:
    return lambda value: float(discrete_laplace_probability(value, scale=scale))


def gaussian(variance: Fraction) -> Callable[[int], float]:
    return lambda value: float(discrete_gaussian_probability(value, variance=variance))


def counts_space(metric: Any) -> tuple[Any, Any]:
    return dp.vector_domain(dp.atom_domain(T=int)), metric


def draw_by_opendp(scores: Sequence[int], rate: Fraction, divergence: Any) -> list[int]:
    """Draw many choices in one composition, because separate calls take three times as long."""
    space = counts_space(dp.linf_distance(T=int, monotonic=True))
    choose = dp.m.make_noisy_max(*space, divergence, scale=float(1 / rate))
    together = dp.c.make_composition([choose] * 1000)
    return [option for _ in range(RUNS // 1000) for option in together(list(scores))]


@pytest.mark.parametrize("exponent", [Fraction(1, 3), Fraction(1), Fraction(27, 10)])
def test_a_coin_of_chance_e_to_the_minus_x_is_exact(
    sampler: IntegerSampler, exponent: Fraction
) -> None:
    heads = [int(sampler.bernoulli_exp(exponent)) for _ in range(RUNS)]
    chance = exp(-exponent)
    assert chi_squared_p(heads, among([1 - chance, chance]), most=1) > BY_CHANCE
    assert all(sampler.bernoulli_exp(Fraction(0)) for _ in range(1000))


@pytest.mark.parametrize("scale", LAPLACE, ids=str)
def test_the_sampler_draws_discrete_laplace_noise(sampler: IntegerSampler, scale: Fraction) -> None:
    drawn = [sampler.discrete_laplace(scale) for _ in range(RUNS)]
    assert chi_squared_p(drawn, laplace(scale), most=200) > BY_CHANCE


@pytest.mark.parametrize("variance", GAUSSIAN, ids=str)
def test_the_sampler_draws_discrete_gaussian_noise(
    sampler: IntegerSampler, variance: Fraction
) -> None:
    drawn = [sampler.discrete_gaussian(variance) for _ in range(RUNS)]
    assert chi_squared_p(drawn, gaussian(variance), most=200) > BY_CHANCE


@pytest.mark.parametrize(("scores", "rate"), CHOICES)
def test_the_sampler_draws_both_choices(
    sampler: IntegerSampler, scores: Sequence[int], rate: Fraction
) -> None:
    drawn = [sampler.permute_and_flip(scores, rate) for _ in range(RUNS)]
    chances = permute_and_flip_probabilities(scores, rate=rate).tolist()
    assert chi_squared_p(drawn, among(chances), most=9) > BY_CHANCE
    drawn = [sampler.exponential_mechanism(scores, rate) for _ in range(RUNS)]
    others = exponential_mechanism_probabilities(scores, rate=rate).tolist()
    assert chi_squared_p(drawn, among(others), most=9) > BY_CHANCE
    # The two distributions differ so much that the test tells them apart.
    assert chi_squared_p(drawn, among(chances), most=9) < BY_CHANCE


@pytest.mark.parametrize("scale", LAPLACE, ids=str)
def test_opendp_draws_discrete_laplace_noise(scale: Fraction) -> None:
    add_noise = dp.m.make_laplace(*counts_space(dp.l1_distance(T=int)), scale=float(scale))
    assert chi_squared_p(add_noise([0] * RUNS), laplace(scale), most=200) > BY_CHANCE


@pytest.mark.parametrize("variance", [Fraction(1), Fraction(4489, 256)], ids=str)
def test_opendp_draws_discrete_gaussian_noise(variance: Fraction) -> None:
    """OpenDP takes the standard deviation as a float, so the variances have exact square roots."""
    space = counts_space(dp.l2_distance(T=float))
    add_noise = dp.m.make_gaussian(*space, scale=float(np.sqrt(float(variance))))
    assert chi_squared_p(add_noise([0] * RUNS), gaussian(variance), most=200) > BY_CHANCE


@pytest.mark.long
@pytest.mark.parametrize(("scores", "rate"), CHOICES)
def test_opendp_s_exponential_noise_is_permute_and_flip(
    scores: Sequence[int], rate: Fraction
) -> None:
    drawn = draw_by_opendp(scores, rate, dp.max_divergence())
    chances = permute_and_flip_probabilities(scores, rate=rate).tolist()
    assert chi_squared_p(drawn, among(chances), most=9) > BY_CHANCE


@pytest.mark.long
@pytest.mark.parametrize(("scores", "rate"), CHOICES)
def test_opendp_s_gumbel_noise_is_the_exponential_mechanism(
    scores: Sequence[int], rate: Fraction
) -> None:
    drawn = draw_by_opendp(scores, rate, dp.zero_concentrated_divergence())
    chances = exponential_mechanism_probabilities(scores, rate=rate).tolist()
    assert chi_squared_p(drawn, among(chances), most=9) > BY_CHANCE
