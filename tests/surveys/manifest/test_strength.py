"""The words for protection, and how much better a guess may become: each boundary is tested."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surveys.manifest.strength import (
    OFFERED_FLIPS,
    describe_strength,
    largest_guess_in_tenths,
    strength_word,
)


@pytest.mark.parametrize(
    ("epsilon", "word"),
    [
        (0.01, "strong"),
        (math.log(3), "strong"),
        (1.10, "strong"),
        (1.1000001, "medium"),
        (2.00, "medium"),
        (2.0000001, "light"),
        (2.45, "light"),
        (2.4500001, "hardly"),
        (20.0, "hardly"),
    ],
)
def test_the_word_changes_just_above_each_boundary(epsilon: float, word: str) -> None:
    assert strength_word(epsilon) == word


@pytest.mark.parametrize("symbols", [2, 3, 10, 64])
@pytest.mark.parametrize("flips", range(1, 50))
def test_one_code_has_the_same_word_for_any_number_of_codes(flips: int, symbols: int) -> None:
    word = (
        "hardly" if flips < 8 else "light" if flips < 12 else "medium" if flips < 25 else "strong"
    )
    assert describe_strength(flips, symbols=symbols).word == word


def test_of_the_offered_strengths_only_the_weakest_hardly_protects() -> None:
    assert [f for f in OFFERED_FLIPS if describe_strength(f).word == "hardly"] == [5]


def test_a_strength_has_the_word_of_the_whole_statement() -> None:
    whole = describe_strength(25, statement=5 * math.log(3))
    assert (whole.word, whole.protection) == ("hardly", "Hardly protected")
    assert describe_strength(25, statement=0.1).word == "strong", "never less than its own code"


@pytest.mark.parametrize(
    ("epsilon", "tenths"),
    [
        (0.0, 500),
        (math.log(3), 750),  # 3/4
        (2 * math.log(3), 900),  # 9/10
        (3 * math.log(3), 970),  # 27/28 = 96.43
        (math.log(19), 950),  # 95/100
        (math.log(99), 990),
        (4.6, 991),  # 99.0048
        (5 * math.log(3), 996),  # 243/244 = 99.590
        (17.7, 1000),  # 99.999998
    ],
)
def test_the_guess_is_computed_by_hand(epsilon: float, tenths: int) -> None:
    assert largest_guess_in_tenths(epsilon) == tenths


@given(st.floats(min_value=0, max_value=20))
def test_a_guess_is_never_understated(epsilon: float) -> None:
    exact = 100 / (1 + math.exp(-epsilon))
    said = largest_guess_in_tenths(epsilon) / 10
    assert exact - 1e-6 <= said <= min(exact + 1, 100.0)
