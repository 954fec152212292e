"""Coverage of the mean of a rating scale in simulated surveys."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from scipy.stats import binom

from privacy.mechanism.mechanisms import RandomizedResponse
from tests.privacy.shares.scale_means import estimate_scale_mean

FIVE = RandomizedResponse.from_flips(symbols=5, flips=25)

SIX = RandomizedResponse.from_flips(symbols=6, flips=25)

ONE_TO_FIVE = (1, 2, 3, 4, 5)


@pytest.mark.parametrize("total", [100, 1000])
@pytest.mark.parametrize("epsilon", [log(3), 4.0])
@pytest.mark.parametrize(
    "truth",
    [
        (0.1, 0.2, 0.4, 0.2, 0.1),
        pytest.param((1.0, 0.0, 0.0, 0.0, 0.0), marks=pytest.mark.long),
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
    found = (
        estimate_scale_mean(counts=counts, mechanism=mechanism, points=ONE_TO_FIVE)
        for counts in surveys.tolist()
    )
    missed = sum(not one.low <= mean <= one.high for one in found)
    limit = binom.isf(1e-6, runs, 0.06)
    print(f"{total=} {epsilon=:.2f} {truth=}: {runs=} {missed=} accepted up to {limit:.0f}")
    assert missed <= limit
