"""Precision agrees with the tables of the planner and with the intervals that are shown later."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning import designs, precision
from privacy.shares.intervals import clopper_pearson

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
LN3 = log(3)

mechanisms = st.builds(
    RandomizedResponse.from_flips, symbols=st.integers(2, 12), flips=st.integers(1, 45)
)
shares = st.floats(0, 1)


# Half-widths


@pytest.mark.parametrize(
    ("flips", "at_5", "at_20", "at_50", "two_points", "design_effect"),
    [
        (33, 3012, 3185, 3324, 19905, 13.0),
        (25, 1226, 1399, 1537, 8740, 5.7),
        (20, 756, 929, 1068, 5805, 3.8),
        (15, 473, 646, 784, 4036, 2.6),
        (12, 354, 527, 666, 3293, 2.1),
        (5, 164, 336, 475, 2100, 1.4),
    ],
)
def test_the_planner_s_table_by_flips(
    flips: int, at_5: int, at_20: int, at_50: int, two_points: int, design_effect: float
) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)

    def people(share: float, half_width: float) -> int:
        return precision.people_for_half_width(
            share=share, half_width=half_width, mechanism=mechanism
        )

    five_points = [people(share, 0.05) for share in (0.05, 0.2, 0.5)]
    assert five_points == [at_5, at_20, at_50]
    assert people(0.2, 0.02) == two_points
    assert round(designs.design_effect(share=0.2, mechanism=mechanism), 1) == design_effect


@pytest.mark.parametrize(
    ("epsilon", "keep", "five_points", "three_points", "effect_20", "effect_5"),
    [
        (0.5, 0.622, 6266, 17405, 25.5, 83.5),
        (1, 0.731, 1661, 4613, 6.8, 20.4),
        (LN3, 0.750, 1399, 3885, 5.7, 16.8),
        (2, 0.881, 524, 1456, 2.1, 4.8),
        (3, 0.953, 331, 919, 1.3, 2.2),
    ],
)
def test_the_planner_s_table_by_epsilon(
    epsilon: float,
    keep: float,
    five_points: int,
    three_points: int,
    effect_20: float,
    effect_5: float,
) -> None:
    mechanism = RandomizedResponse.from_epsilon(symbols=2, epsilon=epsilon)
    people = [
        precision.people_for_half_width(share=0.2, half_width=half, mechanism=mechanism)
        for half in (0.05, 0.03)
    ]
    assert round(mechanism.keep_probability, 3) == keep
    assert people == [five_points, three_points]
    assert round(designs.design_effect(share=0.2, mechanism=mechanism), 1) == effect_20
    assert round(designs.design_effect(share=0.05, mechanism=mechanism), 1) == effect_5


def test_with_400_people_the_interval_runs_from_11_to_29_percent() -> None:
    half = precision.half_width(share=0.2, people=400, mechanism=COINS)
    assert (round(100 * (0.2 - half)), round(100 * (0.2 + half))) == (11, 29)


@given(shares, st.floats(0.001, 0.5), mechanisms, st.floats(0.5, 0.999))
def test_the_number_of_people_is_the_smallest_that_suffices(
    share: float, wanted: float, mechanism: RandomizedResponse, level: float
) -> None:
    people = precision.people_for_half_width(
        share=share, half_width=wanted, mechanism=mechanism, level=level
    )

    def half(n: int) -> float:
        return precision.half_width(share=share, people=n, mechanism=mechanism, level=level)

    assert half(people) <= wanted * (1 + 1e-9)
    assert people == 1 or half(people - 1) > wanted * (1 - 1e-9)


# Half-widths while watched


def test_a_watched_survey_needs_a_third_more_people_if_it_expects_them() -> None:
    people = precision.people_for_watched_half_width(share=0.2, half_width=0.05, mechanism=COINS)
    assert people == 1913
    # The score interval at the critical value of the tenth look needs (2.270 s / .05)**2 people.
    assert 2.2701**2 * 0.35 * 0.65 / (0.5 * 0.05) ** 2 == pytest.approx(1876, abs=0.5)


# The ratio is the critical value of the look over 1.96, plus up to 2 % for the guaranteed interval.
@pytest.mark.parametrize(
    ("people", "ratio"), [(100, 1.80), (500, 1.42), (1000, 1.17), (5000, 1.81)]
)
def test_watching_widens_the_interval_by_the_documented_factors(people: int, ratio: float) -> None:
    watched = precision.watched_half_width(share=0.2, people=people, mechanism=COINS, expected=1000)
    fixed = precision.half_width(share=0.2, people=people, mechanism=COINS)
    assert round(watched / fixed, 2) == ratio


def test_the_watched_half_width_is_half_the_length_of_the_guaranteed_interval() -> None:
    found = clopper_pearson(
        successes=400,
        total=1000,
        other_probability=0.25,
        slope=0.5,
        level=precision.watched_level(),
    )
    half = precision.watched_half_width(share=0.3, people=1000, mechanism=COINS)
    assert half == pytest.approx(float(found.high - found.low) / 2, abs=1e-9)


@given(
    shares,
    st.integers(20, 10**6),
    mechanisms,
    st.floats(0.8, 0.999),
)
def test_more_people_narrow_a_watched_interval(
    share: float,
    people: int,
    mechanism: RandomizedResponse,
    level: float,
) -> None:
    def width(people: int) -> float:
        return precision.watched_half_width(
            share=share, people=people, mechanism=mechanism, level=level
        )

    wide, narrow = width(people), width(people + 1 + people // 100)
    assert narrow < wide * (1 + 1e-9)
    assert wide <= 0.5 / mechanism.slope


@given(shares, st.floats(0.005, 0.5), mechanisms)
def test_the_watched_number_of_people_is_the_smallest_and_never_below_the_fixed_one(
    share: float, wanted: float, mechanism: RandomizedResponse
) -> None:
    people = precision.people_for_watched_half_width(
        share=share, half_width=wanted, mechanism=mechanism
    )

    def width(n: int) -> float:
        return precision.watched_half_width(share=share, people=n, mechanism=mechanism)

    assert width(people) <= wanted
    assert people == 1 or width(people - 1) > wanted
    # Below about twenty reports, the normal formula promises more precision than any valid interval
    # can have.
    if people >= 20:
        assert people >= precision.people_for_half_width(
            share=share, half_width=wanted, mechanism=mechanism
        )


# Bad input


GOOD: dict[Callable[..., object], dict[str, object]] = {
    precision.half_width: {"share": 0.2, "people": 100, "mechanism": COINS},
    precision.watched_half_width: {
        "share": 0.2,
        "people": 100,
        "mechanism": COINS,
        "expected": 40,
    },
    precision.people_for_half_width: {"share": 0.2, "half_width": 0.1, "mechanism": COINS},
    precision.people_for_watched_half_width: {"share": 0.2, "half_width": 0.1, "mechanism": COINS},
}
BAD: dict[str, list[object]] = {
    "share": [-0.01, 1.01, float("nan")],
    "people": [0, -1],
    "half_width": [0, 1, float("nan")],
    "level": [0, 1],
    "expected": [0, -1, float("inf")],
}
OPTIONAL = {"level": [function for function in GOOD if "half_width" in function.__name__]}


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
