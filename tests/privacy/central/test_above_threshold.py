"""Alerts: known values of the sparse vector technique, and variants that lose too much."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import exp, log
from typing import Any

import numpy as np
import pytest
from scipy.stats import betabinom, binom

from privacy.central.above_threshold import (
    above_threshold_scales,
    choose_alert_threshold,
    first_alert_probabilities,
    least_surpassing_count,
    noticed_share,
)
from privacy.central.noise import discrete_laplace_probability
from privacy.mechanism.mechanisms import RandomizedResponse

COINS: dict[str, Any] = {"other_probability": 0.25, "slope": 0.5}
NOISE = np.arange(-400, 401)


def test_at_the_least_count_the_mixture_is_twenty_times_as_likely_as_the_line() -> None:
    people = [50, 100, 200, 500, 1000, 1500]
    least = least_surpassing_count(people, share=0.35, level=0.95).tolist()
    assert least == [29, 52, 94, 214, 406, 595]

    def evidence(count: int, n: int) -> float:
        """Divide the count's chance under a beta mixture of all shares by its chance at .35."""
        mixture = betabinom.logpmf(count, n, 0.5, 0.5)
        return float(np.exp(mixture - binom.logpmf(count, n, 0.35)))

    for count, n in zip(least, people, strict=True):
        assert evidence(count - 1, n) < 20 <= evidence(count, n)


def test_one_report_moves_the_distance_by_at_most_one() -> None:
    """Try every number of options and up to a million reports, with seeded strengths and lines."""
    draw = np.random.default_rng(603).random
    for k in range(2, 65):
        mechanism = RandomizedResponse.from_flips(symbols=k, flips=int(1 + 49 * draw()))
        line = int(1 + 99 * draw()) / 100
        share = mechanism.other_probability + mechanism.slope * line
        start = int(10**6 * draw() ** 4)
        numbers = np.arange(start, start + 4_000)
        steps = np.diff(least_surpassing_count(numbers, share=share, level=0.975))
        assert set(steps.tolist()) <= {0, 1}
    whole = least_surpassing_count(np.arange(10**6 + 1), share=0.35, level=0.975)
    assert set(np.diff(whole).tolist()) == {0, 1}
    assert least_surpassing_count([0, 1], share=0.35, level=0.975).tolist() == [1, 2]


def test_when_the_alert_comes() -> None:
    distances = [90, 95, 98, 104, 110]
    half = first_alert_probabilities(distances, threshold=100, epsilon=0.5)
    expected = [0.187359898, 0.239557931, 0.209536134, 0.206485398, 0.109112004, 0.047948635]
    assert half.round(9).tolist() == expected


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2])
def test_noise_alone_gives_an_alert_as_rarely_as_the_threshold_says(epsilon: float) -> None:
    threshold = choose_alert_threshold(looks=50, epsilon=epsilon, level=0.975)
    for value, is_rare in ((threshold, True), (threshold - 1, False)):
        silent = first_alert_probabilities([-1] * 50, threshold=value, epsilon=epsilon)[-1]
        assert (silent >= 0.975) == is_rare


def test_the_noticed_share_is_noticed_nine_times_in_ten() -> None:
    people, runs = 5000, 20_000
    options: Any = {"line": 0.2, "level": 0.975, "threshold": 37, "epsilon": 1, "people": people}
    share = noticed_share(chance=0.9, **options, **COINS)
    draw = np.random.default_rng(61)
    counts = draw.binomial(people, 0.25 + 0.5 * share, runs)
    first, every = (float(scale) for scale in above_threshold_scales(1))
    noise = np.rint(draw.laplace(0, every, runs) - draw.laplace(0, first, runs))
    least = int(least_surpassing_count(people, share=0.35, level=0.975))
    assert 0.885 < float((counts + noise >= least + 37).mean()) < 0.92
    assert noticed_share(chance=0.9, **options | {"people": 20}, **COINS) > 1


# A loss is the largest log ratio over all outcomes, if one report changes each distance by one.
Chances = Callable[[Sequence[int]], dict[object, float]]


def right(distances: Sequence[int]) -> dict[object, float]:
    return dict(enumerate(first_alert_probabilities(distances, threshold=0, epsilon=1).tolist()))


def enumerate_looks(
    distances: Sequence[int], *, first: float, every: float | None, stops: bool = True
) -> dict[object, float]:
    """Compute the chance of every series of alerts, for any noise, with or without a stop."""
    chances: dict[object, float] = {}
    waiting = discrete_laplace_probability(NOISE, scale=first)
    for row in product((False, True), repeat=len(distances)):
        if stops and True in row[:-1]:
            continue
        weight = waiting
        for above, distance in zip(row, distances, strict=True):
            gap = NOISE - distance
            alert = (gap <= 0).astype(float) if every is None else _tail(gap, every)
            weight = weight * (alert if above else 1 - alert)
        chances[row] = float(weight.sum())
    return chances


def _tail(least: Any, scale: float) -> Any:
    tail = np.exp(-np.where(least > 0, least, 1 - least) / scale) / (1 + exp(-1 / scale))
    return np.where(least > 0, tail, 1 - tail)


def loss_of(chances: Chances, one: Sequence[int], other: Sequence[int]) -> float:
    first, second = chances(one), chances(other)
    return max(
        log(first[key] / second[key]) if second[key] else float("inf")
        for key in first
        if first[key] > 1e-12
    )


NEIGHBOURS = [((0,) * m, s) for m in (1, 2, 4) for s in product((-1, 0, 1), repeat=m)]


def test_all_looks_together_lose_no_more_than_epsilon() -> None:
    pairs = [*NEIGHBOURS, *((other, one) for one, other in NEIGHBOURS)]
    losses = [loss_of(right, one, other) for one, other in pairs]
    assert 0.6 < max(losses) <= 1


def test_variants_that_are_wrong_lose_more() -> None:
    """Lyu, Su and Li (2017), figure 2: variants without noise on looks, a stop, or enough noise."""

    def bare(distances: Sequence[int]) -> dict[object, float]:
        return enumerate_looks(distances, first=2, every=None)

    def endless(distances: Sequence[int]) -> dict[object, float]:
        return enumerate_looks(distances, first=2, every=2, stops=False)

    assert bare((0, 1))[False, True] == pytest.approx(0.148551, abs=1e-6)
    assert loss_of(bare, (0, 1), (1, 0)) == float("inf")
    expected = {1: 0.839185, 2: 1.747538, 4: 3.645343}
    for m, ratio in expected.items():
        chances = endless((0,) * 2 * m), endless((1,) * m + (-1,) * m)
        row = (False,) * m + (True,) * m
        assert log(chances[0][row] / chances[1][row]) == pytest.approx(ratio, abs=1e-6)
