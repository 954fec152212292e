"""The mean of a scale from noisy counts: for two points, the formulas of a share."""

from __future__ import annotations

import numpy as np
import pytest

from privacy.central.points import table_mean
from privacy.central.table import table_interval, table_standard_error

COINS = {"other_probability": 0.25, "slope": 0.5, "noise_variance": 7.8}
FIVE = {"other_probability": 1 / 7, "slope": 2 / 7, "noise_variance": 7.8}


def test_of_two_points_the_mean_is_the_share_of_the_second() -> None:
    found = table_mean(counts=[598, 405], points=[0, 1], **COINS)
    share = table_interval(count=405, people=1003, codes=2, **COINS)
    parts = table_standard_error(share=float(share.share), people=1003, mechanism_k=2, **COINS)
    assert found.value == pytest.approx(float(share.share))
    # The variance of a share follows from the share itself; the variance of points is estimated.
    ends = (float(share.low), float(share.high))
    assert (found.low, found.high) == pytest.approx(ends, abs=2e-3)
    assert found.parts.total == pytest.approx(parts.total)
    assert found.parts.people == pytest.approx(parts.people)
    assert found.parts.publication == pytest.approx(parts.publication)


def test_expected_counts_give_the_true_mean() -> None:
    true = np.array([0.05, 0.1, 0.2, 0.3, 0.35])
    counts = (70_000 * (1 / 7 + 2 / 7 * true)).round().astype(int).tolist()
    found = table_mean(counts=counts, points=range(1, 6), **FIVE)
    assert found.value == pytest.approx(3.8, abs=1e-9)


def test_points_may_be_moved_and_stretched() -> None:
    counts = [195, 180, 240, 210, 178]
    found = table_mean(counts=counts, points=[1, 2, 3, 4, 5], **FIVE)
    moved = table_mean(counts=counts, points=[100, 110, 120, 130, 140], **FIVE)
    assert moved.value == pytest.approx(90 + 10 * found.value)
    assert moved.low == pytest.approx(90 + 10 * found.low)
    assert moved.high == pytest.approx(90 + 10 * found.high)
    assert moved.parts.total == pytest.approx(10 * found.parts.total)


def test_an_interval_stays_on_its_scale_and_may_be_all_of_it() -> None:
    certain = table_mean(counts=[0, 0, 0, 0, 1000], points=range(1, 6), **FIVE)
    assert certain.value > 5
    assert certain.low <= certain.high == 5
    noisy = table_mean(counts=[4, -2, 9, 1, 0], points=range(1, 6), **FIVE)
    assert (noisy.low, noisy.high) == (1, 5)


def test_without_noise_no_part_is_publication() -> None:
    found = table_mean(
        counts=[30, 40, 30], points=[1, 2, 3], other_probability=0.1, slope=0.7, noise_variance=0
    )
    parts = found.parts
    assert parts.publication == 0
    assert parts.total**2 == pytest.approx(parts.people**2 + parts.scrambling**2)
