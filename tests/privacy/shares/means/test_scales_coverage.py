"""Coverage of the mean of a rating scale in simulated surveys, watched and at a fixed end."""

from __future__ import annotations

from math import log, pi

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from scipy.stats import binom

from privacy.mechanism.mechanisms import RandomizedResponse
from tests.privacy.shares.means.scale_means import ScaleMean, estimate_scale_mean

FIVE = RandomizedResponse.from_flips(symbols=5, flips=25)

SIX = RandomizedResponse.from_flips(symbols=6, flips=25)

ONE_TO_FIVE = (1, 2, 3, 4, 5)

# No peak from 800 reports is narrower than 1.4 times the angle between two nodes.
NODES = 128


def expected_reports(mechanism: RandomizedResponse, truth: ArrayLike, total: int) -> list[int]:
    return [round(share) for share in mechanism.channel() @ np.asarray(truth) * total]


def miss(found: ScaleMean, truth: float) -> bool:
    return found.contradiction or not found.low <= truth <= found.high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "truth"),
    [(FIVE, (0.1, 0.2, 0.3, 0.4, 0.0)), (SIX, (0.0, 0.05, 0.1, 0.1, 0.25, 0.5))],
)
def test_watched_after_every_report_the_sequence_still_holds(
    mechanism: RandomizedResponse, truth: tuple[float, ...]
) -> None:
    runs, people, k = 500, 800, mechanism.symbols
    answered = np.array(truth[:5])
    q = float(answered @ np.arange(5)) / 4 / answered.sum()
    generator = np.random.default_rng(1939)
    drawn = generator.choice(k, p=mechanism.channel() @ np.array(truth), size=(runs, people))
    z = np.append(np.arange(5) / 4, np.full(k - 5, q))
    m = q + mechanism.other_probability * float((np.arange(5) / 4 - q).sum())
    u = np.sin((np.arange(NODES) + 0.5) * pi / NODES / 2) ** 2
    bets = np.log(np.outer(1 - u, (1 - z) / (1 - m)) + np.outer(u, z / m)).T
    broke = 0
    for run, codes in enumerate(drawn):
        wealth = logsumexp(bets[codes].cumsum(axis=0), axis=1) - log(len(u))
        look = int(wealth.argmax())
        broke += bool(wealth[look] >= log(20))
        if run % 10 == 0 or wealth[look] >= log(20):
            counts = np.bincount(codes[: look + 1], minlength=k).tolist()
            found = estimate_scale_mean(
                counts=counts, mechanism=mechanism, points=ONE_TO_FIVE, fixed_end=False
            )
            if found.mean is not None and k == 5:
                assert miss(found, 1 + 4 * q) == (wealth[look] >= log(20))
            assert wealth[look] >= log(20) or not miss(found, 1 + 4 * q)
    limit = binom.isf(1e-6, runs, 0.05)
    print(f"n={runs} k={broke} expected at most {0.05 * runs}, accepted up to {limit}")
    assert broke <= limit


def test_more_points_do_not_widen_the_interval_of_a_watched_mean() -> None:
    for total, lengths in ((200, (3.2, 3.4)), (2000, (3.6, 3.8)), (100_000, (4.1, 4.3))):
        for k in (2, 5, 7):
            mechanism = RandomizedResponse.from_flips(symbols=k, flips=25)
            truth = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
            found = estimate_scale_mean(
                counts=expected_reports(mechanism, truth, total),
                mechanism=mechanism,
                points=range(k),
                fixed_end=False,
            )
            assert found.standard_error is not None
            length = (found.high - found.low) / 2 / found.standard_error
            assert lengths[0] < length < lengths[1]


@pytest.mark.slow
@pytest.mark.parametrize("total", [100, 1000])
@pytest.mark.parametrize("epsilon", [log(3), 4.0])
@pytest.mark.parametrize(
    "truth",
    [
        (0.1, 0.2, 0.4, 0.2, 0.1),
        pytest.param((1.0, 0.0, 0.0, 0.0, 0.0), marks=pytest.mark.long),
        pytest.param((0.5, 0.0, 0.0, 0.0, 0.5), marks=pytest.mark.long),
        pytest.param((0.02, 0.03, 0.05, 0.2, 0.1, 0.6), marks=pytest.mark.long),
        (0.0, 0.0, 0.1, 0.0, 0.8, 0.1),
    ],
)
def test_the_likelihood_ratio_mean_covers_simulated_surveys(
    total: int, epsilon: float, truth: tuple[float, ...]
) -> None:
    runs, k = 300, len(truth)
    mechanism = RandomizedResponse.from_epsilon(symbols=k, epsilon=epsilon)
    mean = float(np.array(truth[:5]) @ np.array(ONE_TO_FIVE)) / sum(truth[:5])
    surveys = np.random.default_rng([total, k]).multinomial(
        total, mechanism.channel() @ np.array(truth), size=runs
    )
    missed = sum(
        miss(
            estimate_scale_mean(
                counts=counts, mechanism=mechanism, points=ONE_TO_FIVE, fixed_end=True
            ),
            mean,
        )
        for counts in surveys.tolist()
    )
    limit = binom.isf(1e-6, runs, 0.06)
    print(f"{total=} {epsilon=:.2f} {truth=}: {runs=} {missed=} accepted up to {limit:.0f}")
    assert missed <= limit
