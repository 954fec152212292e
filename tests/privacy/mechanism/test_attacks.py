"""What attackers learn: known values, properties, and a simulated attack."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from privacy.mechanism import attacks
from privacy.mechanism.mechanisms import RandomizedResponse

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
THREE = RandomizedResponse.from_flips(symbols=3, flips=25)
LN3 = log(3)

mechanisms = st.builds(
    RandomizedResponse.from_flips, symbols=st.integers(2, 12), flips=st.integers(1, 49)
)


@st.composite
def mechanisms_and_shares(draw: st.DrawFn) -> tuple[RandomizedResponse, NDArray[np.float64]]:
    mechanism = draw(mechanisms)
    k = mechanism.symbols
    parts = draw(st.lists(st.integers(0, 1000), min_size=k, max_size=k).filter(any))
    return mechanism, np.array(parts) / sum(parts)


# Posterior


@pytest.mark.parametrize(
    ("flips", "percent"),
    [
        (33, (2, 18, 67)),
        (25, (3, 25, 75)),
        (20, (4, 31, 80)),
        (15, (5, 39, 85)),
        (12, (7, 45, 88)),
        (5, (16, 68, 95)),
    ],
)
def test_the_planner_s_table_of_true_yes_among_yes_codes(
    flips: int, percent: tuple[int, int, int]
) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    found = [attacks.posterior(share=base, mechanism=mechanism) for base in (0.01, 0.1, 0.5)]
    assert tuple(round(100 * value) for value in found) == percent


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(0.5, 0.155), (1, 0.232), (LN3, 0.250), (2, 0.451), (3, 0.691)]
)
def test_the_posterior_by_epsilon(epsilon: float, expected: float) -> None:
    mechanism = RandomizedResponse.from_epsilon(symbols=2, epsilon=epsilon)
    assert round(attacks.posterior(share=0.1, mechanism=mechanism), 3) == expected


@given(mechanisms_and_shares())
def test_posteriors_follow_bayes_for_one_symbol_and_for_all_at_once(
    case: tuple[RandomizedResponse, NDArray[np.float64]],
) -> None:
    mechanism, prior = case
    every = attacks.posterior(share=prior, mechanism=mechanism)
    joint = mechanism.channel() * prior  # [reported, true]
    assert every == pytest.approx(np.diag(joint) / joint.sum(axis=1))
    for share, value in zip(prior.tolist(), every, strict=True):
        assert attacks.posterior(share=share, mechanism=mechanism) == pytest.approx(value)


@given(st.floats(1e-6, 1 - 1e-6), st.integers(1, 49))
def test_odds_of_two_answers_move_by_exactly_e_to_the_epsilon(share: float, flips: int) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=2, flips=flips)
    after = attacks.posterior(share=share, mechanism=mechanism)
    moved = after / (1 - after) / (share / (1 - share))
    assert moved == pytest.approx(exp(mechanism.epsilon), rel=1e-6)


@given(st.floats(1e-6, 1 - 1e-6), mechanisms)
def test_odds_of_one_of_many_answers_move_by_at_most_e_to_the_epsilon(
    share: float, mechanism: RandomizedResponse
) -> None:
    after = attacks.posterior(share=share, mechanism=mechanism)
    assert after / (1 - after) <= exp(mechanism.epsilon) * share / (1 - share) * (1 + 1e-6)
    assert after >= share


# Guessing


@given(mechanisms)
def test_with_equal_shares_the_attacker_is_right_as_often_as_the_true_code_is_kept(
    mechanism: RandomizedResponse,
) -> None:
    equal = np.full(mechanism.symbols, 1 / mechanism.symbols)
    success = attacks.attacker_success(shares=equal, mechanism=mechanism)
    assert success == pytest.approx(mechanism.keep_probability)


@given(mechanisms_and_shares())
def test_the_attacker_s_success_lies_between_knowing_nothing_and_the_epsilon_bound(
    case: tuple[RandomizedResponse, NDArray[np.float64]],
) -> None:
    mechanism, prior = case
    success = attacks.attacker_success(shares=prior, mechanism=mechanism)
    blind = prior.max()
    assert blind - 1e-12 <= success <= min(1, blind * exp(mechanism.epsilon)) + 1e-9
    by_hand = sum(
        max(prior[i] * mechanism.channel()[j, i] for i in range(mechanism.symbols))
        for j in range(mechanism.symbols)
    )
    assert success == pytest.approx(by_hand)


def test_a_simulated_attacker_succeeds_as_often_as_computed() -> None:
    prior = np.array([0.5, 0.3, 0.2])
    people = 200_000
    generator = np.random.default_rng(5)
    truth = generator.choice(3, size=people, p=prior)
    kept = generator.random(people) < THREE.keep_probability
    codes = np.where(kept, truth, (truth + generator.integers(1, 3, people)) % 3)
    guesses = (THREE.channel() * prior).argmax(axis=1)[codes]
    success = attacks.attacker_success(shares=prior, mechanism=THREE)
    right = float((guesses == truth).mean())
    assert right == pytest.approx(success, abs=4.9 * sqrt(0.25 / people))


# Bad input


@pytest.mark.parametrize(
    ("function", "good", "argument", "value"),
    [
        (attacks.posterior, {"share": 0.1, "mechanism": COINS}, "share", -0.01),
        (attacks.posterior, {"share": 0.1, "mechanism": COINS}, "share", float("nan")),
        (attacks.posterior, {"share": 0.1, "mechanism": COINS}, "share", [0.2, 0.3, 0.5]),
        (attacks.posterior, {"share": 0.1, "mechanism": COINS}, "share", [0.2, 0.3]),
        (attacks.posterior, {"share": 0.1, "mechanism": COINS}, "share", [1.2, -0.2]),
        (attacks.attacker_success, {"shares": [0.5, 0.5], "mechanism": COINS}, "shares", [1.0]),
        (
            attacks.attacker_success,
            {"shares": [0.5, 0.5], "mechanism": COINS},
            "shares",
            [0.5, 0.6],
        ),
        (
            attacks.attacker_success,
            {"shares": [0.5, 0.5], "mechanism": COINS},
            "shares",
            [1.5, -0.5],
        ),
    ],
)
def test_errors_name_the_bad_argument(
    function: Callable[..., object], good: dict[str, object], argument: str, value: object
) -> None:
    function(**good)
    with pytest.raises(ValueError, match=argument):
        function(**{**good, argument: value})
