"""The mechanism: its parameters, its channel, and an epsilon that is never too small."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import inf, log, nextafter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse, round_up_epsilon


@st.composite
def mechanisms(draw: st.DrawFn) -> RandomizedResponse:
    k = draw(st.integers(2, 64))
    return RandomizedResponse(symbols=k, threshold=draw(st.integers(SCALE // k + 1, SCALE - 1)))


def exact_epsilon(mechanism: RandomizedResponse) -> Decimal:
    with localcontext() as context:
        context.prec = 80
        kept = mechanism.threshold * (mechanism.symbols - 1)
        return (Decimal(kept) / Decimal(SCALE - mechanism.threshold)).ln()


@pytest.mark.parametrize(
    ("k", "flips", "threshold"),
    [
        # floor(2^32 (100 - F) / (100 - F + F (k - 1)))
        (2, 40, 2**32 * 60 // 100),
        (2, 25, 3 * 2**30),
        (2, 24, 2**32 * 76 // 100),
        (2, 12, 2**32 * 88 // 100),
        (2, 11, 2**32 * 89 // 100),
        (2, 5, 2**32 * 95 // 100),
        (3, 25, 2**32 * 3 // 5),
        (5, 25, 2**32 * 3 // 7),
        (64, 25, 2**32 * 75 // 1650),
    ],
)
def test_flips_of_a_hundred_fix_the_threshold(k: int, flips: int, threshold: int) -> None:
    assert RandomizedResponse.from_flips(symbols=k, flips=flips).threshold == threshold


@given(st.integers(2, 64), st.integers(1, 49))
def test_the_same_flips_mean_the_same_epsilon_for_every_k(k: int, flips: int) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=k, flips=flips)
    assert mechanism.epsilon == pytest.approx(log((100 - flips) / flips), abs=1e-6)
    assert exact_epsilon(mechanism) <= Decimal(log((100 - flips) / flips)) + Decimal("1e-15")


@given(mechanisms())
def test_epsilon_is_tight_and_never_below_the_true_value(mechanism: RandomizedResponse) -> None:
    exact = exact_epsilon(mechanism)
    assert Decimal(mechanism.epsilon) >= exact
    two_lower = nextafter(nextafter(mechanism.epsilon, -inf), -inf)
    assert Decimal(two_lower) < exact


@given(mechanisms())
def test_epsilon_grows_with_the_threshold(mechanism: RandomizedResponse) -> None:
    if mechanism.threshold < SCALE - 1:
        stronger = RandomizedResponse(symbols=mechanism.symbols, threshold=mechanism.threshold + 1)
        assert stronger.epsilon > mechanism.epsilon


@given(st.integers(2, 64), st.floats(0.001, 20))
def test_a_requested_epsilon_is_never_exceeded(k: int, epsilon: float) -> None:
    mechanism = RandomizedResponse.from_epsilon(symbols=k, epsilon=epsilon)
    assert exact_epsilon(mechanism) <= Decimal(epsilon)
    if mechanism.threshold < SCALE - 1:
        above = RandomizedResponse(symbols=k, threshold=mechanism.threshold + 1)
        assert exact_epsilon(above) > Decimal(epsilon) * (1 - Decimal("1e-12"))


@given(mechanisms())
def test_every_column_of_the_channel_sums_to_one(mechanism: RandomizedResponse) -> None:
    matrix = mechanism.channel()
    assert np.allclose(matrix.sum(axis=0), 1, atol=1e-12)
    assert (np.diag(matrix) == mechanism.keep_probability).all()


@pytest.mark.parametrize(
    ("k", "threshold", "message"),
    [
        (1, 3 * 2**30, "symbols must be from 2 to 64, got 1"),
        (65, 3 * 2**30, "symbols must be from 2 to 64, got 65"),
        (2, 2**31, "threshold must lie between"),
        (2, 2**32, "threshold must lie between"),
        (3, 2**32 // 3, "threshold must lie between"),
    ],
)
def test_a_mechanism_out_of_range_is_rejected(k: int, threshold: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RandomizedResponse(symbols=k, threshold=threshold)


@pytest.mark.parametrize("flips", [0, 50, -1, 100])
def test_flips_out_of_range_are_rejected(flips: int) -> None:
    with pytest.raises(ValueError, match=f"flips must be from 1 to 49 of 100, got {flips}"):
        RandomizedResponse.from_flips(symbols=2, flips=flips)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, inf, float("nan"), 1e-12])
def test_an_impossible_epsilon_is_rejected(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        RandomizedResponse.from_epsilon(symbols=2, epsilon=epsilon)


@pytest.mark.parametrize("value", [0.75, "2", True, None])
def test_only_integers_are_accepted(value: Any) -> None:
    with pytest.raises(TypeError, match="must be an integer"):
        RandomizedResponse(symbols=2, threshold=value)
    with pytest.raises(TypeError, match="symbol must be an integer"):
        RandomizedResponse.from_flips(symbols=2, flips=25).randomize(value)


@pytest.mark.parametrize("symbol", [-1, 2])
def test_a_symbol_out_of_range_is_rejected(symbol: int) -> None:
    with pytest.raises(ValueError, match=f"symbol must be from 0 to 1, got {symbol}"):
        RandomizedResponse.from_flips(symbols=2, flips=25).randomize(symbol)


@given(st.floats(0, 100), st.integers(0, 6))
def test_the_displayed_epsilon_is_never_below_the_true_one(epsilon: float, digits: int) -> None:
    shown = round_up_epsilon(epsilon, digits=digits)
    assert 0 <= Fraction(shown) - Fraction(epsilon) < Fraction(1, 10**digits)


def test_two_coins_cost_the_logarithm_of_three_shown_as_1_10() -> None:
    coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    assert coins.epsilon == pytest.approx(log(3), abs=1e-15)
    assert str(round_up_epsilon(coins.epsilon)) == "1.10"
