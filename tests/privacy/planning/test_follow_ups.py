"""Follow-up questions: the values in docs/methods.md, properties, and simulated surveys."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning import follow_ups

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
THREE = RandomizedResponse.from_flips(symbols=3, flips=25)


def test_a_packed_follow_up_is_much_more_accurate_at_the_same_total() -> None:
    # Two questions at ln 3, 2,000 people, 30 % asked, 20 % of them yes.
    child = RandomizedResponse.from_flips(symbols=3, flips=25)
    packed = RandomizedResponse.from_epsilon(symbols=3, epsilon=COINS.epsilon + child.epsilon)
    alone = follow_ups.nested_follow_up_standard_error(
        share=0.2, asked=0.3, people=2000, mechanism=child
    )
    joint = follow_ups.joint_follow_up_standard_error(
        share=0.2, asked=0.3, people=2000, parent=COINS, mechanism=child
    )
    together = follow_ups.packed_follow_up_standard_error(
        share=0.2, asked=0.3, people=2000, mechanism=packed
    )
    assert round(alone, 3) == 0.070
    # docs/methods.md, "Follow-ups", gives .0585.
    assert joint == pytest.approx(0.059, abs=0.0006)
    assert round(together, 3) == 0.031


def test_a_follow_up_with_refusals_is_known_to_within_16_points() -> None:
    four = RandomizedResponse.from_flips(symbols=4, flips=25)
    error = follow_ups.nested_follow_up_standard_error(
        share=0.2, asked=0.3, people=2000, mechanism=four, refusing=0.05
    )
    assert round(100 * 1.959964 * error) == 16


def test_a_follow_up_asked_of_everybody_is_an_ordinary_question_with_one_idle_symbol() -> None:
    three = RandomizedResponse.from_flips(symbols=3, flips=10)
    people = 3000
    error = follow_ups.nested_follow_up_standard_error(
        share=0.4, asked=1.0, people=people, mechanism=three
    )
    yes, no = (three.other_probability + three.slope * p for p in (0.4, 0.6))
    variance = (yes * 0.36 + no * 0.16 - (yes * 0.6 - no * 0.4) ** 2) / three.slope**2
    assert error == pytest.approx(sqrt(variance / people))


@given(st.floats(0, 1), st.floats(0.05, 1), st.integers(1, 45), st.integers(1, 45))
def test_using_the_parent_s_code_never_loses_precision(
    share: float, asked: float, parent_flips: int, child_flips: int
) -> None:
    child = RandomizedResponse.from_flips(symbols=3, flips=child_flips)
    alone = follow_ups.nested_follow_up_standard_error(
        share=share, asked=asked, people=1000, mechanism=child
    )
    joint = follow_ups.joint_follow_up_standard_error(
        share=share,
        asked=asked,
        people=1000,
        parent=RandomizedResponse.from_flips(symbols=2, flips=parent_flips),
        mechanism=child,
    )
    assert joint <= alone * (1 + 1e-9)


@pytest.mark.parametrize(("asked", "flips", "symbols"), [(0.3, 10, 3), (0.7, 25, 4), (0.5, 5, 6)])
def test_the_conditional_standard_error_matches_the_spread_of_simulated_surveys(
    asked: float, flips: int, symbols: int
) -> None:
    # The symbols are "not asked", "yes" and other answers. Of these, only the first is ever true.
    mechanism = RandomizedResponse.from_flips(symbols=symbols, flips=flips)
    truth = np.zeros(symbols)
    truth[:3] = 1 - asked, asked * 0.2, asked * 0.8
    people, surveys = 40_000, 20_000
    reported = np.random.default_rng(3).multinomial(people, mechanism.channel() @ truth, surveys)
    raw = (reported / people - mechanism.other_probability) / mechanism.slope
    estimates = raw[:, 1] / raw[:, 1:].sum(axis=1)
    expected = follow_ups.nested_follow_up_standard_error(
        share=0.2, asked=asked, people=people, mechanism=mechanism
    )
    assert estimates.std() == pytest.approx(expected, rel=4.9 / sqrt(2 * surveys) + 0.01)


# Bad input

GOOD: dict[str, dict[str, object]] = {
    "nested_follow_up_standard_error": {
        "share": 0.2,
        "asked": 0.3,
        "people": 9,
        "mechanism": THREE,
    },
    "joint_follow_up_standard_error": {
        "share": 0.2,
        "asked": 0.3,
        "people": 9,
        "parent": COINS,
        "mechanism": THREE,
    },
    "packed_follow_up_standard_error": {
        "share": 0.2,
        "asked": 0.3,
        "people": 9,
        "mechanism": THREE,
    },
}
BAD: dict[str, list[object]] = {
    "share": [-0.01, 1.01, float("nan")],
    "people": [0, -1],
    "asked": [0, 1.01],
    "refusing": [-0.01, 1],
    "parent": [THREE],
}
OPTIONAL = {"refusing": ["nested_follow_up_standard_error"]}


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
def test_errors_name_the_bad_argument(function: str, argument: str, value: object) -> None:
    call = getattr(follow_ups, function)
    call(**GOOD[function])
    with pytest.raises(ValueError, match=argument):
        call(**{**GOOD[function], argument: value})


def test_follow_ups_and_refusals_need_their_own_symbol() -> None:
    for function, mechanism in (
        ("nested_follow_up_standard_error", COINS),
        ("joint_follow_up_standard_error", COINS),
        ("packed_follow_up_standard_error", RandomizedResponse.from_flips(symbols=4, flips=25)),
    ):
        with pytest.raises(ValueError, match="mechanism must have"):
            getattr(follow_ups, function)(**{**GOOD[function], "mechanism": mechanism})
    with pytest.raises(ValueError, match="mechanism must have at least 4"):
        follow_ups.nested_follow_up_standard_error(
            share=0.2, asked=0.3, people=9, mechanism=THREE, refusing=0.1
        )
