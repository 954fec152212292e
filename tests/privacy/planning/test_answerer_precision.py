"""Precision among those who answer: a worked example, properties, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning import answerer_precision

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
THREE = RandomizedResponse.from_flips(symbols=3, flips=25)

mechanisms = st.builds(
    RandomizedResponse.from_flips, symbols=st.integers(2, 12), flips=st.integers(1, 45)
)

shares = st.floats(0, 1)


def test_refusals_raise_the_people_needed_from_1399_to_1941() -> None:
    # docs/methods.md, "Refusals"
    three = RandomizedResponse.from_flips(symbols=3, flips=25)
    assert three.threshold == SCALE * 3 // 5
    assert three.other_probability == pytest.approx(0.2)
    people = answerer_precision.people_for_half_width_among_answerers(
        share=0.2, outside=[0.05], half_width=0.05, mechanism=three
    )
    assert people == 1941
    kept = RandomizedResponse(symbols=3, threshold=3 * 2**30)
    assert kept.epsilon == pytest.approx(log(6))


@given(shares, st.floats(0, 0.8), mechanisms.filter(lambda mechanism: mechanism.symbols >= 3))
def test_more_refusals_need_more_people(
    share: float, refusing: float, mechanism: RandomizedResponse
) -> None:
    few, many = (
        answerer_precision.people_for_half_width_among_answerers(
            share=share, outside=[refused], half_width=0.05, mechanism=mechanism
        )
        for refused in (refusing, refusing + 0.1)
    )
    assert few <= many


def test_refusals_need_their_own_symbol() -> None:
    with pytest.raises(ValueError, match="mechanism must have"):
        answerer_precision.people_for_half_width_among_answerers(
            share=0.2, outside=[0.1], half_width=0.1, mechanism=COINS
        )


GOOD: dict[Callable[..., object], dict[str, object]] = {
    answerer_precision.people_for_half_width_among_answerers: {
        "share": 0.2,
        "outside": [0.1],
        "half_width": 0.1,
        "mechanism": THREE,
    },
}

BAD: dict[str, list[object]] = {
    "share": [-0.01, 1.01, float("nan")],
    "half_width": [0, 1, float("nan")],
    "level": [0, 1],
    "outside": [[-0.01], [1], [], [0.5, 0.5]],
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
