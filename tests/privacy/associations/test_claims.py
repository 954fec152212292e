"""How many claims can be tested, and how often false claims found by search are confirmed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from privacy.associations.claims import count_possible_claims
from privacy.associations.significance import latent_independence_test
from privacy.associations.tables import Variable
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.intervals import simultaneous_level

TWO_COINS = RandomizedResponse(symbols=2, threshold=3 * 2**30)
VARIABLES = [Variable(mechanism=TWO_COINS, categories=((0,), (1,)), answered=2)] * 2
CLAIMS, QUESTIONS, PEOPLE = 10, 40, 400


@pytest.mark.parametrize(
    ("claims", "misses", "number", "critical"),
    [
        (10, 1, 10, 2.807034),
        (10, 2, 55, 3.317247),
        (10, 3, 175, 3.627920),
        (10, 10, 1023, 4.060938),
        (20, 2, 210, 3.674736),
    ],
)
def test_the_numbers_of_dialogues_and_their_critical_values(
    claims: int, misses: int, number: int, critical: float
) -> None:
    assert count_possible_claims(claims, misses=misses) == number
    level = simultaneous_level(0.95, shares=number)
    assert round(float(norm.isf((1 - level) / 2)), 6) == critical


@pytest.mark.parametrize(("claims", "misses"), [(0, 1), (1, 0)])
def test_there_is_at_least_one_claim_and_one_miss(claims: int, misses: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        count_possible_claims(claims, misses=misses)


def count_table(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(2 * first + second, minlength=4).reshape(2, 2)


def test_false_claims_that_were_searched_for_are_confirmed_in_at_most_five_of_100_surveys() -> None:
    """All answers are independent, so every claim is false. The author claims the largest effects.

    On the half that was searched, some of these claims would almost always be confirmed.
    """
    generator = np.random.default_rng(20261127)
    level = simultaneous_level(0.95, shares=count_possible_claims(CLAIMS, misses=1))
    surveys, confirmed, fooled = 200, 0, 0
    for _ in range(surveys):
        truth = generator.random((2 * PEOPLE, QUESTIONS)) < 0.4
        codes = (truth ^ (generator.random(truth.shape) < 0.25)).astype(np.int64)
        found = _search(codes[:PEOPLE])
        confirmed += any(_is_confirmed(codes[PEOPLE:], *one, level=level) for one in found)
        fooled += any(_is_confirmed(codes[:PEOPLE], *one, level=0.95) for one in found)
    # If .05 of surveys confirm a false claim, more than 30 of 200 do so with a chance of 1 in 10⁷.
    assert confirmed <= 30
    assert fooled > 190


def _search(codes: NDArray[np.int64]) -> list[tuple[int, int, bool]]:
    """List the pairs that seem most related, each with the direction of the relation."""
    related = np.asarray(np.corrcoef(codes.T))
    pairs = np.column_stack(np.triu_indices(QUESTIONS, 1))
    strength = related[pairs[:, 0], pairs[:, 1]]
    best = np.argsort(-np.abs(strength))[:CLAIMS]
    return [
        (int(pairs[place, 0]), int(pairs[place, 1]), bool(strength[place] > 0)) for place in best
    ]


def _is_confirmed(
    codes: NDArray[np.int64], outcome: int, group: int, is_higher: bool, *, level: float
) -> bool:
    """Return whether independence is rejected and the relation has the claimed direction."""
    counts = count_table(codes[:, outcome], codes[:, group])
    (a, b), (c, d) = counts
    if (a * d > b * c) != is_higher:
        return False
    test = latent_independence_test(counts=counts, variables=VARIABLES)
    return bool(test.p_value < 1 - level)
