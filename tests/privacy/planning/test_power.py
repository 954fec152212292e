"""Power agrees with published values, statsmodels, and simulated surveys."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import ndtri
from statsmodels.stats.power import normal_power_het
from statsmodels.stats.proportion import power_proportions_2indep

from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.power import (
    Sides,
    _one_sample_power,
    _tail_quantile,
    people_for_power_one_sample,
    people_for_power_two_samples,
    power_one_sample,
    power_two_samples,
)

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)

mechanisms = st.builds(
    RandomizedResponse.from_flips, symbols=st.integers(2, 12), flips=st.integers(1, 45)
)
shares = st.floats(0, 1)


# Normal approximation


def test_forced_response_gives_the_power_published_by_the_r_package_rr() -> None:
    # The design asks for the truth with probability 2/3, and forces yes and no with 1/6 each.
    power = _one_sample_power(
        0.0, 0.2, 200, c=1 / 6, d=2 / 3, quantile=_tail_quantile(0.01, 1), sides=1
    )
    assert round(power, 7) == 0.9868872


def test_483_people_reach_the_power_that_482_miss() -> None:
    needed = people_for_power_one_sample(
        null=0.0, alternative=0.1, power=0.8, mechanism=COINS, significance=0.05, sides=1
    )
    powers = [
        power_one_sample(
            null=0.0, alternative=0.1, people=people, mechanism=COINS, significance=0.05, sides=1
        )
        for people in (482, 483)
    ]
    assert needed == 483
    assert [round(power, 6) for power in powers] == [0.799880, 0.800575]


@given(shares, shares, mechanisms, st.floats(0.06, 0.99), st.sampled_from([1, 2]))
def test_the_formula_s_number_of_people_is_the_smallest(
    null: float,
    alternative: float,
    mechanism: RandomizedResponse,
    power: float,
    sides: Sides,
) -> None:
    assume(abs(null - alternative) > 0.001)
    people = people_for_power_one_sample(
        null=null, alternative=alternative, power=power, mechanism=mechanism, sides=sides
    )

    def reached(n: int) -> bool:
        found = power_one_sample(
            null=null, alternative=alternative, people=n, mechanism=mechanism, sides=sides
        )
        return found >= power

    assert reached(people)
    assert people == 1 or not reached(people - 1)
    # The closed form squares a sum, so compare it only where that sum cannot be negative.
    if sides == 1 and power > 0.5:
        c, d = mechanism.other_probability, mechanism.slope
        before, after = (sqrt(x * (1 - x)) / d for x in (c + d * null, c + d * alternative))
        quantiles = -ndtri(0.05), ndtri(power)
        closed = (quantiles[0] * before + quantiles[1] * after) / (alternative - null)
        assert people == pytest.approx(closed**2, abs=1 + 1e-9 * closed**2)


@pytest.mark.parametrize("flips", [5, 25, 40])
@pytest.mark.parametrize("sides", [1, 2])
def test_one_sample_power_agrees_with_statsmodels(flips: int, sides: Sides) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    c, d = mechanism.other_probability, mechanism.slope
    before, after = (sqrt(x * (1 - x)) / d for x in (c + d * 0.1, c + d * 0.2))
    for people in (20, 200, 2000):
        expected = normal_power_het(
            0.1, people, 0.05, before, after, "larger" if sides == 1 else "two-sided"
        )
        ours = power_one_sample(
            null=0.1, alternative=0.2, people=people, mechanism=mechanism, sides=sides
        )
        assert ours == pytest.approx(expected, abs=1e-12)


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
    # One in a million is 4.9 standard errors; the approximation itself is accurate to .005.
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
    power_one_sample: {"null": 0.1, "alternative": 0.2, "people": 9, "mechanism": COINS},
    people_for_power_one_sample: {"null": 0.1, "alternative": 0.2, "mechanism": COINS},
    power_two_samples: {"first": 0.1, "second": 0.2, "people": 9, "mechanism": COINS},
    people_for_power_two_samples: {"first": 0.1, "second": 0.2, "mechanism": COINS},
}
BAD: dict[str, list[object]] = {
    "null": [-0.01, 1.01],
    "alternative": [-0.01, 1.01, 0.1],
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
    "power": [
        people_for_power_one_sample,
        people_for_power_two_samples,
    ],
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
