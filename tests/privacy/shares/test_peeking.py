"""Intervals that are watched while reports arrive: how often each kind misses at some look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from privacy.shares.intervals import Intervals, likelihood_ratio

COINS: dict[str, Any] = {"other_probability": 0.25, "slope": 0.5}

Find = Callable[..., Intervals]


def misses_at_any_look(
    find: Find, *, counts: Any, looks: Any, truth: float
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which runs (rows) miss the truth at any look; each pair of counts is computed once."""
    pairs, places = np.unique(counts * 10_000 + looks, return_inverse=True)
    found = find(successes=pairs // 10_000, total=pairs % 10_000, **COINS)
    missed = (truth < found.low) | (truth > found.high) | found.contradiction
    at_each = missed[places.reshape(counts.shape)]
    return np.asarray(at_each.any(axis=1))


def accept(k: int, *, runs: int, expected: float) -> None:
    low, high = binom.ppf(5e-7, runs, expected), binom.isf(5e-7, runs, expected)
    print(f"n={runs} k={k} expected={expected * runs} accepted={low:.0f}..{high:.0f}")
    assert low <= k <= high


@pytest.mark.parametrize(("last", "expected"), [(5000, 0.36), (2000, 0.28)])
def test_looking_at_every_batch_misses_as_often_as_expected(last: int, expected: float) -> None:
    runs, truth = 4000, 0.2
    looks = np.arange(100, last + 1, 50)
    batches = np.random.default_rng(36).binomial(
        np.diff(looks, prepend=0), 0.25 + truth / 2, size=(runs, len(looks))
    )
    counts = batches.cumsum(axis=1)
    missed = misses_at_any_look(likelihood_ratio, counts=counts, looks=looks, truth=truth)
    accept(int(missed.sum()), runs=runs, expected=expected)


@pytest.mark.parametrize(("truth", "expected"), [(0.2, 0.493), (0.02, 0.500), (0.5, 0.515)])
def test_wald_s_interval_watched_after_every_report_misses_in_half_of_all_surveys(
    truth: float, expected: float
) -> None:
    runs, k = 4000, 0
    generator = np.random.default_rng(515)
    n = np.arange(1, 5001)
    for _ in range(8):
        draws = generator.random((runs // 8, 5000), dtype=np.float32) < 0.25 + truth / 2
        reported = draws.cumsum(axis=1)[:, 49:] / n[49:]
        error = 2 * np.sqrt(reported * (1 - reported) / n[49:])
        missed = np.abs(2 * reported - 0.5 - truth) > 1.959963984540054 * error
        k += int(missed.any(axis=1).sum())
    accept(k, runs=runs, expected=expected)
