"""Exact power: sums over every count, simulated surveys, and a sufficient number of people."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.exact_power import exact_power_one_sample, people_for_exact_power_one_sample
from privacy.planning.power import (
    Sides,
)

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize(("null", "alternative"), [(0.1, 0.3), (0.3, 0.1), (0.0, 0.2)])
def test_exact_power_is_the_sum_over_every_rejected_count(
    sides: Sides, null: float, alternative: float
) -> None:
    before, after = 0.25 + 0.5 * null, 0.25 + 0.5 * alternative
    for people in (1, 7, 50, 163):
        power = 0.0
        for count in range(people + 1):
            many = binom.sf(count - 1, people, before) <= 0.05 / sides
            few = binom.cdf(count, people, before) <= 0.05 / sides
            up = alternative > null
            if (many and (up or sides == 2)) or (few and (not up or sides == 2)):
                power += binom.pmf(count, people, after)
        ours = exact_power_one_sample(
            null=null, alternative=alternative, people=people, mechanism=COINS, sides=sides
        )
        assert ours == pytest.approx(power, abs=1e-12)


def test_exact_power_agrees_with_simulated_surveys() -> None:
    surveys, people = 100_000, 300
    counts = np.random.default_rng(7).binomial(people, 0.25 + 0.5 * 0.15, surveys)
    rejected = float((binom.sf(counts - 1, people, 0.25) <= 0.05).mean())
    power = exact_power_one_sample(
        null=0.0, alternative=0.15, people=people, mechanism=COINS, sides=1
    )
    assert rejected == pytest.approx(power, abs=4.9 * sqrt(power * (1 - power) / surveys))


@pytest.mark.parametrize(
    ("null", "alternative", "sides", "power"),
    [(0.0, 0.1, 1, 0.8), (0.2, 0.35, 2, 0.9), (0.5, 0.3, 2, 0.8), (0.2, 0.6, 1, 0.05)],
)
def test_exact_power_never_falls_below_its_target_from_the_number_found_on(
    null: float, alternative: float, sides: Sides, power: float
) -> None:
    people = people_for_exact_power_one_sample(
        null=null, alternative=alternative, power=power, mechanism=COINS, sides=sides
    )

    def exact(n: int) -> float:
        return exact_power_one_sample(
            null=null, alternative=alternative, people=n, mechanism=COINS, sides=sides
        )

    assert people == 1 or exact(people - 1) < power
    assert all(exact(n) >= power for n in range(people, 4 * people + 100))


def test_the_sawtooth_costs_more_people_than_the_formula_says() -> None:
    # The formula says 483. The exact test first reaches the power at 494, then drops below it, and
    # keeps it from 522 on.
    exact = people_for_exact_power_one_sample(null=0.0, alternative=0.1, mechanism=COINS, sides=1)
    powers = [
        exact_power_one_sample(null=0.0, alternative=0.1, people=people, mechanism=COINS, sides=1)
        for people in (493, 494, 521, 522)
    ]
    assert exact == 522
    assert [power >= 0.8 for power in powers] == [False, True, False, True]


GOOD: dict[Callable[..., object], dict[str, object]] = {
    exact_power_one_sample: {"null": 0.1, "alternative": 0.2, "people": 9, "mechanism": COINS},
    people_for_exact_power_one_sample: {"null": 0.1, "alternative": 0.4, "mechanism": COINS},
}

BAD: dict[str, list[object]] = {
    "null": [-0.01, 1.01],
    "alternative": [-0.01, 1.01, 0.1],
    "people": [0, -1],
    "power": [0, 1],
    "significance": [0, 1],
    "sides": [0, 3],
}

OPTIONAL: dict[str, list[Callable[..., object]]] = {
    "significance": list(GOOD),
    "sides": list(GOOD),
    "power": [people_for_exact_power_one_sample],
}


@pytest.mark.parametrize(
    ("function", "argument", "value"),
    [
        (function, argument, value)
        for function, arguments in GOOD.items()
        for argument, values in BAD.items()
        if argument in arguments or function in OPTIONAL.get(argument, [])
        for value in values
    ],
)
def test_errors_name_the_bad_argument(
    function: Callable[..., object], argument: str, value: object
) -> None:
    function(**GOOD[function])
    with pytest.raises(ValueError, match=argument):
        function(**{**GOOD[function], argument: value})


def test_shares_too_close_for_an_exact_search_are_rejected() -> None:
    with pytest.raises(ValueError, match="alternative"):
        people_for_exact_power_one_sample(null=0.2, alternative=0.2001, mechanism=COINS)
