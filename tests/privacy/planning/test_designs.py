"""Design effects and two ways to ask a scale: known values, properties, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

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


def list_subset_variances(symbols: int, epsilon: float, share: float) -> list[float]:
    """List the variances of a report that sends 1, 2, ... codes, from the channel of all lists."""
    variances = []
    for sent in range(1, symbols):
        lists = np.array(list(combinations(range(symbols), sent)))
        # A list with the true code is exp(epsilon) times as likely as one without it.
        weights = np.where((lists == 0).any(axis=1), np.exp(epsilon), 1.0)
        weights /= weights.sum()
        kept, other = (weights[(lists == code).any(axis=1)].sum() for code in (0, 1))
        reported = other + (kept - other) * share
        variances.append(reported * (1 - reported) / (kept - other) ** 2)
    return variances


@pytest.mark.parametrize("symbols", [2, 3, 5, 9])
@pytest.mark.parametrize("epsilon", [0.25, 1.0, np.log(3), 3.0])
@pytest.mark.parametrize("share", [0.01, 0.2, 0.9])
def test_subset_selection_is_compared_by_the_channel_of_its_lists(
    symbols: int, epsilon: float, share: float
) -> None:
    variances = list_subset_variances(symbols, epsilon, share)
    found = designs.subset_selection_ratio(symbols=symbols, epsilon=epsilon, share=share)
    assert found == pytest.approx(variances[0] / min(variances))
    assert found >= 1


@pytest.mark.parametrize(
    ("epsilon", "last"), [(0.5, 4), (1.0, 6), (np.log(3), 6), (1.5, 8), (2.0, 11), (3.0, 18)]
)
def test_a_list_of_answers_costs_a_tenth_more_people_beyond_a_known_length(
    epsilon: float, last: int
) -> None:
    ratios = [
        designs.subset_selection_ratio(symbols=symbols, epsilon=epsilon, share=0.2)
        for symbols in range(2, 65)
    ]
    assert [ratio > 1.1 for ratio in ratios] == [symbols > last for symbols in range(2, 65)]


@pytest.mark.parametrize("epsilon", [1e-300, 800.0])
def test_subset_selection_can_be_compared_at_any_epsilon(epsilon: float) -> None:
    ratio = designs.subset_selection_ratio(symbols=64, epsilon=epsilon, share=0.2)
    assert 1 <= ratio < 64


GOOD: dict[Callable[..., object], dict[str, object]] = {
    designs.design_effect: {"share": 0.2, "mechanism": COINS},
    designs.mean_variance_ratio: {"shares": [0.2, 0.3, 0.5], "mechanism": THREE},
    designs.subset_selection_ratio: {"symbols": 3, "epsilon": 1.0, "share": 0.2},
}

BAD: dict[str, list[object]] = {
    "share": [-0.01, 1.01, float("nan")],
    "shares": [[0.5, 0.5], [0.5, 0.6, -0.1], [0.5, 0.5, 0.5], [float("nan"), 0.5, 0.5]],
    "symbols": [1, 65],
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
