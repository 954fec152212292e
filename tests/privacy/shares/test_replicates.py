"""Standard errors of public functions match the spread of surveys drawn from a known truth.

The spread of n replicates is itself accurate to 1 / sqrt(2 n), which is 3.5 % for the smallest n,
400.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from privacy.associations.known_groups import compare_groups, pool_strata
from privacy.associations.tables import Variable, estimate_table
from privacy.associations.two_questions import Association, associate
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional import likelihood_ratio_share
from privacy.shares.ratio_cells import conditional_cells
from privacy.shares.weighting import post_stratify, weighted_share
from tests.support.sampling.estimates import estimate_alone

Floats = NDArray[np.float64]
COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
LIGHT = RandomizedResponse.from_flips(symbols=2, flips=5)
THREE = RandomizedResponse.from_flips(symbols=3, flips=10)
FOUR = RandomizedResponse.from_flips(symbols=4, flips=10)


def accept(estimates: Sequence[Any], errors: Sequence[Any], *, truth: Any) -> None:
    """Check the standard error against the spread, within 10 %, and the mean against the truth."""
    found, claimed = np.asarray(estimates, np.float64), np.asarray(errors, np.float64)
    spread = found.std(axis=0, ddof=1)
    ratio = spread / claimed.mean(axis=0)
    print(f"n={len(found)} truth={truth} mean={found.mean(axis=0)} SD/SE={ratio}")
    assert ratio == pytest.approx(np.ones_like(ratio), abs=0.1)
    # Ratios and logarithms are biased by far less than a fifth of their spread.
    assert (np.abs(found.mean(axis=0) - truth) < 0.2 * spread).all()


def draw(mechanism: RandomizedResponse, truth: ArrayLike, total: int, runs: int) -> list[list[int]]:
    reported = mechanism.channel() @ np.asarray(truth, dtype=np.float64)
    counts: list[list[int]] = (
        np.random.default_rng([total, runs]).multinomial(total, reported, size=runs).tolist()
    )
    return counts


# Association


TABLE = np.array([[0.38, 0.12], [0.17, 0.33]])  # the event in the rows, the group in the columns
RELATED = [Variable.plain(LIGHT)] * 2


@pytest.fixture(scope="module")
def related() -> list[NDArray[np.int64]]:
    reported = np.kron(LIGHT.channel(), LIGHT.channel()) @ TABLE.ravel()
    drawn = np.random.default_rng(2003).multinomial(3000, reported, size=2000)
    return list(drawn.reshape(-1, 2, 2))


@pytest.fixture(scope="module")
def associations(related: list[NDArray[np.int64]]) -> list[Association]:
    """Use only the first surveys, because intervals are slow and errors differ little."""
    return [
        associate(counts=counts, variables=RELATED, event=1, first=1, second=0)
        for counts in related[:20]
    ]


FIGURES: dict[str, Callable[[float, float, float, float], float]] = {
    "share_first": lambda a, b, c, d: a / (a + b),
    "share_second": lambda a, b, c, d: c / (c + d),
    "difference": lambda a, b, c, d: a / (a + b) - c / (c + d),
    "log_odds_ratio": lambda a, b, c, d: float(np.log(a * d / b / c)),
    "phi": lambda a, b, c, d: (
        (a * d - b * c) / float(np.sqrt((a + b) * (c + d) * (a + c) * (b + d)))
    ),
}


@pytest.mark.parametrize("figure", FIGURES)
def test_estimates_of_a_table(
    figure: str, related: list[NDArray[np.int64]], associations: list[Association]
) -> None:
    def compute(table: Floats) -> float:
        return FIGURES[figure](table[1, 1], table[0, 1], table[1, 0], table[0, 0])

    surveys = [estimate_table(counts=counts, variables=RELATED) for counts in related]
    found = [compute(survey.shares) for survey in surveys]
    claimed = [getattr(association, figure) for association in associations]
    assert found[: len(claimed)] == pytest.approx([each.raw for each in claimed], rel=1e-9)
    accept(found, [each.standard_error for each in claimed], truth=compute(TABLE))


# Comparison


@pytest.mark.parametrize("pair", [(COINS, COINS), (COINS, LIGHT)], ids=["alike", "unlike"])
def test_the_difference_of_groups(pair: tuple[RandomizedResponse, RandomizedResponse]) -> None:
    shares, totals = (0.3, 0.1), [400, 700]
    drawn = draw_successes(pair, shares, totals, runs=600)
    found = [compare_groups(successes=row, totals=totals, mechanisms=pair) for row in drawn]
    accept(
        [each.difference for each in found],
        [each.standard_error for each in found],
        truth=shares[0] - shares[1],
    )


def test_each_stratum_of_a_pool() -> None:
    mechanisms, totals = (COINS, LIGHT, THREE), [400, 300, 500]
    shares = (0.2, 0.5, 0.05)
    drawn = draw_successes(mechanisms, shares, totals, runs=1000)
    found = [pool_strata(successes=row, totals=totals, mechanisms=mechanisms) for row in drawn]
    accept([each.shares for each in found], [each.standard_errors for each in found], truth=shares)


def draw_successes(
    mechanisms: Sequence[RandomizedResponse],
    shares: Sequence[float],
    totals: list[int],
    *,
    runs: int,
) -> list[list[int]]:
    chances = [
        mechanism.other_probability + mechanism.slope * share
        for mechanism, share in zip(mechanisms, shares, strict=True)
    ]
    drawn: list[list[int]] = (
        np.random.default_rng([len(shares), runs]).binomial(totals, chances, (runs, len(totals)))
    ).tolist()
    return drawn


# Weights


def test_a_weighted_share() -> None:
    generator = np.random.default_rng(1965)
    weights = generator.gamma(1.5, size=600)
    reports = generator.random((2000, 600)) < COINS.other_probability + COINS.slope * 0.4
    found = [weighted_share(reports=row, weights=weights, mechanism=COINS) for row in reports]
    accept([each.share for each in found], [each.standard_error for each in found], truth=0.4)


def test_a_post_stratified_share() -> None:
    shares, totals, weights = (0.1, 0.5, 0.3), [300, 150, 500], [0.5, 0.3, 0.2]
    drawn = draw_successes([COINS] * 3, shares, totals, runs=2000)
    found = []
    for row in drawn:
        strata = [
            estimate_alone(counts=[total - yes, yes], mechanism=COINS)
            for yes, total in zip(row, totals, strict=True)
        ]
        found.append(
            post_stratify(
                estimates=[stratum.shares[1] for stratum in strata],
                variances=[stratum.standard_errors[1] ** 2 for stratum in strata],
                weights=weights,
            )
        )
    accept(
        [each.share for each in found],
        [each.standard_error for each in found],
        truth=np.dot(shares, weights),
    )


# Shares among answers


def test_a_share_among_answers() -> None:
    latent = (0.15, 0.3, 0.15, 0.4)
    question: dict[str, Any] = {"mechanism": FOUR, "symbol": 0, "among": (0, 1, 2)}
    drawn = draw(FOUR, latent, 2000, 2000)
    found = [likelihood_ratio_share(counts=counts, **question) for counts in drawn]
    accept([each.share for each in found], [each.standard_error for each in found], truth=0.25)
    cells = conditional_cells(counts=drawn[0], mechanism=FOUR, event=[0], among=(0, 1, 2))
    assert (cells.ratio, cells.standard_error) == (found[0].share, found[0].standard_error)
