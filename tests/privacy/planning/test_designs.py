"""Design effects and two ways to ask a scale: known values, properties, and bad input."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning import designs

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)

THREE = RandomizedResponse.from_flips(symbols=3, flips=25)

mechanisms = st.builds(
    RandomizedResponse.from_flips, symbols=st.integers(2, 12), flips=st.integers(1, 45)
)


@given(st.floats(0.01, 0.99), mechanisms)
def test_randomizing_always_costs_people(share: float, mechanism: RandomizedResponse) -> None:
    effect = designs.design_effect(share=share, mechanism=mechanism)
    assert effect > 1


@given(st.floats(0.01, 0.99), st.integers(1, 49))
def test_the_binary_design_effect_is_sampling_plus_noise(share: float, flips: int) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    t = mechanism.keep_probability
    expected = 1 + t * (1 - t) / ((2 * t - 1) ** 2 * share * (1 - share))
    assert designs.design_effect(share=share, mechanism=mechanism) == pytest.approx(expected)


@pytest.mark.parametrize(("symbols", "ratio"), [(5, 1.3), (7, 2.0), (11, 3.8)])
def test_one_bit_gives_the_mean_of_a_long_scale_more_precisely(symbols: int, ratio: float) -> None:
    # The answers are bell-shaped around 60 % of the scale.
    mechanism = RandomizedResponse.from_flips(symbols=symbols, flips=25)
    truth = binom.pmf(np.arange(symbols), symbols - 1, 0.6)
    assert round(designs.mean_variance_ratio(shares=truth, mechanism=mechanism), 1) == ratio


@given(st.floats(0, 1), st.integers(1, 45))
def test_two_options_are_as_precise_as_one_bit(share: float, flips: int) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    ratio = designs.mean_variance_ratio(shares=[1 - share, share], mechanism=mechanism)
    assert ratio == pytest.approx(1, abs=1e-6)


def test_the_warning_about_too_many_options_starts_above_the_limit() -> None:
    eleven, twelve = (RandomizedResponse.from_flips(symbols=k, flips=25) for k in (11, 12))
    assert not designs.too_many_options(symbols=11, epsilon=eleven.epsilon)
    assert designs.too_many_options(symbols=12, epsilon=twelve.epsilon)
    assert not designs.too_many_options(symbols=2, epsilon=0.01)


GOOD: dict[Callable[..., object], dict[str, object]] = {
    designs.design_effect: {"share": 0.2, "mechanism": COINS},
    designs.mean_variance_ratio: {"shares": [0.2, 0.3, 0.5], "mechanism": THREE},
    designs.too_many_options: {"symbols": 3, "epsilon": 1.0},
}

BAD: dict[str, list[object]] = {
    "share": [-0.01, 1.01, float("nan")],
    "shares": [[0.5, 0.5], [0.5, 0.6, -0.1], [0.5, 0.5, 0.5], [float("nan"), 0.5, 0.5]],
    "symbols": [1],
    "epsilon": [0, -1, float("inf"), float("nan")],
}


@pytest.mark.parametrize(
    ("function", "argument", "value"),
    [
        (function, argument, value)
        for function, arguments in GOOD.items()
        for argument, values in BAD.items()
        if argument in arguments
        for value in values
    ],
)
def test_errors_name_the_bad_argument(
    function: Callable[..., object], argument: str, value: object
) -> None:
    function(**GOOD[function])
    with pytest.raises(ValueError, match=argument):
        function(**{**GOOD[function], argument: value})


def test_a_direct_question_has_no_design_effect_where_it_is_exact() -> None:
    for share in (0, 1):
        with pytest.raises(ValueError, match="share"):
            designs.design_effect(share=share, mechanism=COINS)
