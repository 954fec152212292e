"""The likelihood-ratio interval of a share among answers: its ends and its coverage."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy
from scipy.stats import chi2

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional import ConditionalShare, likelihood_ratio_share
from privacy.shares.joint.fallback import joint_share_covers

Floats = NDArray[np.float64]
REFUSAL = RandomizedResponse.from_flips(symbols=3, flips=25)
X = float(chi2.ppf(0.95, df=1))


def most_log_likelihood(cells: Floats, floors: Floats) -> Floats:
    """Maximize the log likelihood over all reported shares that the mechanism can produce.

    Cells are in rows, and samples in columns. By Lagrange's condition, each share is either the
    count of its cell divided by a common number, or the floor of the cell.
    """
    low, high = np.zeros(cells.shape[1]), cells.sum(axis=0) * 1e9
    for _ in range(200):
        divisor = (low + high) / 2
        above = np.maximum(cells / divisor, floors[:, None]).sum(axis=0) > 1
        low, high = np.where(above, divisor, low), np.where(above, high, divisor)
    shares = np.maximum(cells / high, floors[:, None])
    return np.asarray(xlogy(cells, shares).sum(axis=0), dtype=np.float64)


def profile_log_likelihood(cells: Floats, floors: Floats, d: float, ratio: float) -> Floats:
    """Maximize the log likelihood given a share among answers, by solving a quadratic equation."""
    start = floors + np.array([0, 0, d])
    slope = d * np.array([ratio, 1 - ratio, -1])
    a = sum(n * slope.prod() for n in cells)
    b, g = np.zeros(cells.shape[1]), np.zeros(cells.shape[1])
    for i, (j, k) in enumerate([(1, 2), (0, 2), (0, 1)]):
        b += cells[i] * slope[i] * (start[j] * slope[k] + slope[j] * start[k])
        g += cells[i] * slope[i] * start[j] * start[k]
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(b * b - 4 * a * g, 0))
        roots = [(-b + root) / (2 * a), (-b - root) / (2 * a), -g / b]
    # The maximum is where nobody or everybody answered, or where the derivative is 0.
    answered = [np.clip(np.nan_to_num(x), 0, 1) for x in (*roots, 0 * b, 0 * b + 1)]
    heights = [
        xlogy(cells, start[:, None] + slope[:, None] * share).sum(axis=0) for share in answered
    ]
    return np.asarray(np.max(heights, axis=0), dtype=np.float64)


def find_by_cells(
    cells: Floats, mechanism: RandomizedResponse, answers: int, **more: Any
) -> ConditionalShare:
    """Find the share with all reports of each of the three cells on one code."""
    symbol, others, rest = (int(count) for count in cells)
    counts = [0] * mechanism.symbols
    counts[0], counts[1], counts[answers] = symbol, others, rest
    return likelihood_ratio_share(
        counts=counts, mechanism=mechanism, symbol=0, among=range(answers), **more
    )


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 5000), min_size=3, max_size=3).filter(any),
    st.sampled_from([(3, 2), (5, 2), (5, 4), (8, 5)]),
    st.integers(2, 45),
    st.sampled_from([0.5, 0.95, 0.999]),
)
def test_the_interval_ends_where_the_test_rejects(
    counts: list[int], size: tuple[int, int], flips: int, level: float
) -> None:
    k, answers = size
    mechanism = RandomizedResponse.from_flips(symbols=k, flips=flips)
    cells = np.array(counts, dtype=np.float64)
    floors = mechanism.other_probability * np.array([1, answers - 1, k - answers])
    found = find_by_cells(cells, mechanism, answers, level=level)
    assert (found.method, found.level) == ("likelihood_ratio_conditional", level)
    assert 0 <= found.low < found.high <= 1
    limit = most_log_likelihood(cells[:, None], floors)[0] - chi2.ppf(level, df=1) / 2
    for end, open_end in ((found.low, 0.0), (found.high, 1.0)):
        height = profile_log_likelihood(cells[:, None], floors, mechanism.slope, end)[0]
        if end == open_end:
            assert height > limit - 1e-6
        else:
            assert height == pytest.approx(limit, abs=1e-6)


@pytest.mark.parametrize("counts", [[50, 1000, 950], [1500, 300, 200], [100, 100, 1800]])
def test_counts_that_the_mechanism_cannot_produce_still_have_an_interval(counts: list[int]) -> None:
    question: dict[str, Any] = {"mechanism": REFUSAL, "symbol": 0, "among": (0, 1)}
    found = likelihood_ratio_share(counts=counts, **question)
    assert found.low < found.high


@pytest.mark.parametrize("epsilon", [0.5, log(3), 2.0, 3.0, 4.0])
@pytest.mark.parametrize(("k", "answers"), [(3, 2), (6, 4)])
def test_the_interval_covers_at_two_hundred_reports(epsilon: float, k: int, answers: int) -> None:
    total = 200
    mechanism = RandomizedResponse.from_epsilon(symbols=k, epsilon=epsilon)
    d = mechanism.slope
    floors = mechanism.other_probability * np.array([1, answers - 1, k - answers])
    first, second = np.mgrid[: total + 1, : total + 1].reshape(2, -1)
    every = np.array([first, second, total - first - second], dtype=np.float64)
    cells = every[:, first + second <= total]
    most = most_log_likelihood(cells, floors)
    ways = gammaln(total + 1) - gammaln(cells + 1).sum(axis=0)
    asked_for = np.random.default_rng([int(100 * epsilon), k]).choice(cells.shape[1], size=20)
    intervals = [find_by_cells(cells[:, place], mechanism, answers) for place in asked_for]
    for truth in (0.0, 0.02, 0.1, 0.5, 1.0):
        # The interval contains a share if and only if the test does not reject it.
        statistic = 2 * (most - profile_log_likelihood(cells, floors, d, truth))
        for found, at_truth in zip(intervals, statistic[asked_for], strict=True):
            assert (found.low <= truth <= found.high) == (at_truth <= X) or abs(at_truth - X) < 1e-6
        for asked in (0.3, 1.0):
            true = floors + d * np.array([asked * truth, asked * (1 - truth), 1 - asked])
            weights = np.exp(ways + xlogy(cells, true[:, None]).sum(axis=0))
            assert weights.sum() == pytest.approx(1, abs=1e-9)
            held = float(weights[statistic <= X].sum())
            print(f"{epsilon=:.2f} {k=} {asked=} {truth=}: {held:.4f}")
            assert held >= 0.94


@pytest.mark.parametrize(
    ("flips", "total"),
    [
        (25, 12),
        (12, 25),
        pytest.param(5, 60, marks=pytest.mark.long),
        pytest.param(1, 300, marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize(("k", "answers"), [(3, 2), (4, 3), (17, 16)])
def test_with_the_fewest_reports_that_may_use_it_the_interval_covers(
    flips: int, total: int, k: int, answers: int
) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=k, flips=flips)
    assert joint_share_covers(total=total, mechanisms=[mechanism])
    assert not joint_share_covers(total=total - 1, mechanisms=[mechanism])
    d = mechanism.slope
    floors = mechanism.other_probability * np.array([1, answers - 1, k - answers])
    first, second = np.mgrid[: total + 1, : total + 1].reshape(2, -1)
    every = np.array([first, second, total - first - second], dtype=np.float64)
    cells = every[:, first + second <= total]
    most = most_log_likelihood(cells, floors)
    ways = gammaln(total + 1) - gammaln(cells + 1).sum(axis=0)
    lowest = 1.0
    for truth in (0.0, 0.02, 0.05, 0.1, 0.15, 0.25, 0.45, 0.5, 0.8, 1.0):
        kept = 2 * (most - profile_log_likelihood(cells, floors, d, truth)) <= X
        for asked in (0.03, 0.1, 0.3, 0.7, 0.85, 1.0):
            true = floors + d * np.array([asked * truth, asked * (1 - truth), 1 - asked])
            weights = np.exp(ways + xlogy(cells, true[:, None]).sum(axis=0))
            lowest = min(lowest, float(weights[kept].sum()))
    print(f"{flips=} {total=} {k=}: {lowest:.4f}")
    assert lowest >= 0.93
