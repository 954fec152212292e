"""Power agrees with published values, statsmodels, and simulated surveys."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from statsmodels.stats.proportion import power_proportions_2indep

from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.power import (
    people_for_power_two_samples,
    power_two_samples,
)

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)


@pytest.mark.parametrize("people", [20, 100, 400])
def test_two_sample_power_becomes_that_of_direct_answers_when_nearly_all_are_kept(
    people: int,
) -> None:
    direct = RandomizedResponse(symbols=2, threshold=SCALE - 1)
    expected = power_proportions_2indep(0.1, 0.2, people, return_results=False)
    ours = power_two_samples(first=0.2, second=0.3, people=people, mechanism=direct)
    assert ours == pytest.approx(float(expected), abs=1e-8)


@pytest.mark.parametrize("flips", [5, 25])
def test_two_sample_power_agrees_with_statsmodels_on_reported_shares(flips: int) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    low, high = (mechanism.other_probability + mechanism.slope * p for p in (0.2, 0.35))
    expected = power_proportions_2indep(high - low, low, 300, return_results=False)
    ours = power_two_samples(first=0.2, second=0.35, people=300, mechanism=mechanism)
    assert ours == pytest.approx(float(expected), abs=1e-12)


def test_two_sample_power_agrees_with_simulated_surveys() -> None:
    people = people_for_power_two_samples(first=0.2, second=0.3, mechanism=COINS)
    generator = np.random.default_rng(20240601)
    surveys = 40_000
    first, second = (generator.binomial(people, 0.25 + 0.5 * p, surveys) for p in (0.2, 0.3))
    pooled = (first + second) / (2 * people)
    z = (second - first) / people / np.sqrt(2 * pooled * (1 - pooled) / people)
    found = float((np.abs(z) > 1.959964).mean())
    # A deviation of 4.9 standard errors occurs once in a million times; the approximation itself is
    # accurate to .005.
    assert found == pytest.approx(0.8, abs=4.9 * sqrt(0.16 / surveys) + 0.005)


def test_the_number_for_two_samples_is_the_smallest_and_the_same_in_either_order() -> None:
    for sides in (1, 2):
        needed = [
            people_for_power_two_samples(
                first=first, second=second, power=0.9, mechanism=COINS, sides=sides
            )
            for first, second in ((0.2, 0.3), (0.3, 0.2))
        ]
        powers = [
            power_two_samples(first=0.2, second=0.3, people=people, mechanism=COINS, sides=sides)
            for people in (needed[0] - 1, needed[0])
        ]
        assert needed[0] == needed[1]
        assert powers[0] < 0.9 <= powers[1]


# Bad input


GOOD: dict[Callable[..., object], dict[str, object]] = {
    power_two_samples: {"first": 0.1, "second": 0.2, "people": 9, "mechanism": COINS},
    people_for_power_two_samples: {"first": 0.1, "second": 0.2, "mechanism": COINS},
}
BAD: dict[str, list[object]] = {
    "first": [-0.01, 1.01],
    "second": [-0.01, 1.01, 0.1],
    "people": [0, -1],
    "power": [0, 1],
    "significance": [0, 1],
    "sides": [0, 3],
}
OPTIONAL: dict[str, list[Callable[..., object]]] = {
    "significance": list(GOOD),
    "sides": list(GOOD),
    "power": [people_for_power_two_samples],
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
