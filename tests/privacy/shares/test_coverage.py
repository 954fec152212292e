"""Coverage by exact sums: known values, and the choice of method that depends on it."""

from __future__ import annotations

from functools import cache
from math import log
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, binom, norm

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.coverage import (
    FixedEndMethod,
    choose_fixed_end_method,
    exact_coverage,
)
from privacy.shares.intervals import METHODS, clopper_pearson, likelihood_ratio

Floats = NDArray[np.float64]
LN3 = log(3)
GRIDS = {"half": np.linspace(0, 0.5, 501), "all": np.linspace(0, 1, 1001)}
CELLS = [
    (epsilon, total, symbols)
    for epsilon in (0.5, 1.0, LN3, 2.0, 4.0)
    for total in (50, 200, 1000)
    for symbols in (2, 5)
]
BOTH: tuple[FixedEndMethod, FixedEndMethod] = ("likelihood_ratio", "clopper_pearson")


def channel(epsilon: float, symbols: int = 2) -> dict[str, float]:
    mechanism = RandomizedResponse.from_epsilon(symbols=symbols, epsilon=epsilon)
    return {"other_probability": mechanism.other_probability, "slope": mechanism.slope}


# Compute coverage as a reader would: from every count, its interval and its probability.


def find_ends(
    name: str, total: int, *, epsilon: float, symbols: int = 2, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return both ends for each count 0..n, cut to [0, 1]; the ends of an empty set are swapped."""
    counts = np.arange(total + 1)
    c, d = channel(epsilon, symbols).values()
    reported, z = counts / total, float(norm.ppf((1 + level) / 2))
    if name in METHODS:
        find = {"likelihood_ratio": likelihood_ratio, "clopper_pearson": clopper_pearson}[name]
        found = find(successes=counts, total=total, other_probability=c, slope=d, level=level)
        empty = found.contradiction
        return np.where(empty, 1.0, found.low), np.where(empty, 0.0, found.high)
    if name == "wald":
        middle, width = reported, z * np.sqrt(reported * (1 - reported) / total)
    elif name == "wilson":
        shrink = 1 + z**2 / total
        middle = (reported + z**2 / (2 * total)) / shrink
        spread = reported * (1 - reported) / total + z**2 / (4 * total**2)
        width = z / shrink * np.sqrt(spread)
    else:
        tail = (1 - level) / 2
        low, high = beta.ppf([[tail], [1 - tail]], 0.5 + counts, 0.5 + total - counts)
        middle, width = (low + high) / 2, (high - low) / 2
    ends = (middle - width - c) / d, (middle + width - c) / d
    return np.clip(ends[0], 0, 1), np.clip(ends[1], 0, 1)


@cache
def weigh_counts(total: int, *, epsilon: float, symbols: int, grid: str) -> Floats:
    """Return the probability of every count (columns) at every share of the grid (rows)."""
    c, d = channel(epsilon, symbols).values()
    weights: Floats = binom.pmf(np.arange(total + 1), total, c + d * GRIDS[grid][:, None])
    return weights


def sum_coverage(
    name: str,
    total: int,
    *,
    epsilon: float,
    symbols: int = 2,
    grid: str = "all",
    level: float = 0.95,
) -> Floats:
    low, high = find_ends(name, total, epsilon=epsilon, symbols=symbols, level=level)
    shares = GRIDS[grid][:, None]
    weights = weigh_counts(total, epsilon=epsilon, symbols=symbols, grid=grid)
    covered: Floats = (weights * ((low <= shares) & (shares <= high))).sum(axis=1)
    return covered


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize(
    ("epsilon", "total", "wald", "wilson", "exact", "jeffreys", "ratio"),
    [
        (0.5, 50, 0.933, 0.935, 0.953, 0.935, 0.935),
        (LN3, 1000, 0.946, 0.946, 0.950, 0.946, 0.946),
        (2.0, 50, 0.883, 0.931, 0.953, 0.917, 0.927),
        (4.0, 50, 0.615, 0.922, 0.953, 0.884, 0.910),
        (4.0, 200, 0.870, 0.934, 0.950, 0.928, 0.929),
    ],
)
def test_the_lowest_coverage_of_five_methods(
    grid: str,
    epsilon: float,
    total: int,
    wald: float,
    wilson: float,
    exact: float,
    jeffreys: float,
    ratio: float,
) -> None:
    published = {
        "wald": wald,
        "wilson": wilson,
        "clopper_pearson": exact,
        "jeffreys": jeffreys,
        "likelihood_ratio": ratio,
    }
    found = {
        name: round(float(sum_coverage(name, total, epsilon=epsilon, grid=grid).min()), 3)
        for name in published
    }
    assert found == published
    for method in BOTH:
        ours = exact_coverage(
            shares=GRIDS[grid], total=total, level=0.95, method=method, **channel(epsilon)
        )
        assert round(float(ours.min()), 3) == published[method]


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize(
    ("total", "published"),
    [
        (
            50,
            {
                "wald": (0.9125, 0.045),
                "wilson": (0.9345, 0.019),
                "clopper_pearson": (0.9531, 0.019),
                "jeffreys": (0.9308, 0.019),
                "likelihood_ratio": (0.9350, 0),
            },
        ),
        (
            200,
            {
                "wald": (0.9374, 0.041),
                "wilson": (0.9410, 0.018),
                "clopper_pearson": (0.9504, 0.018),
                "jeffreys": (0.9412, 0.028),
                "likelihood_ratio": (0.9413, 0),
            },
        ),
    ],
)
def test_coverage_and_intervals_of_zero_width_with_two_coins(
    grid: str, total: int, published: dict[str, tuple[float, float]]
) -> None:
    weights = weigh_counts(total, epsilon=LN3, symbols=2, grid=grid)
    for name, (least, widthless) in published.items():
        low, high = find_ends(name, total, epsilon=LN3)
        covered = sum_coverage(name, total, epsilon=LN3, grid=grid)
        assert covered.min() == pytest.approx(least, abs=5e-5), name
        assert (weights * (high <= low)).sum(axis=1).max() == pytest.approx(widthless, abs=5e-4)
        if name in BOTH:
            ours = exact_coverage(
                shares=GRIDS[grid], total=total, level=0.95, method=name, **channel(LN3)
            )
            assert ours.min() == pytest.approx(least, abs=5e-5)


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize("total", [1, 2, 50, 200])
@pytest.mark.parametrize(("epsilon", "symbols"), [(0.5, 2), (LN3, 2), (LN3, 5), (4.0, 5), (4.6, 2)])
@pytest.mark.parametrize("level", [0.01, 0.5, 0.95, 0.999])
def test_the_coverage_is_the_sum_over_the_counts_whose_interval_holds(
    method: FixedEndMethod, total: int, epsilon: float, symbols: int, level: float
) -> None:
    ours = exact_coverage(
        shares=GRIDS["all"], total=total, level=level, method=method, **channel(epsilon, symbols)
    )
    plain = sum_coverage(method, total, epsilon=epsilon, symbols=symbols, level=level)
    differs = np.abs(ours - plain) > 1e-9
    assert not differs.any(), GRIDS["all"][differs]


def test_shares_may_have_any_shape_and_a_million_reports_are_handled() -> None:
    shares = np.array([[0.0, 0.2], [0.5, 1.0]])
    # At a share of 0 or 1, the likelihood-ratio interval can miss on one side only. The guaranteed
    # interval can also miss on the other side, where a miss is a contradiction.
    for method, at_the_edge in zip(BOTH, (0.975, 0.95), strict=True):
        found = exact_coverage(
            shares=shares, total=10**6, level=0.95, method=method, **channel(LN3)
        )
        assert found.shape == (2, 2)
        assert found == pytest.approx(
            np.array([[at_the_edge, 0.95], [0.95, at_the_edge]]), abs=0.001
        )


def test_inner_intervals_of_80_and_50_percent_are_as_unreliable_as_documented() -> None:
    for level, least in ((0.8, 0.745), (0.5, 0.428)):
        found = exact_coverage(
            shares=GRIDS["all"], total=50, level=level, method="likelihood_ratio", **channel(LN3)
        )
        assert round(float(found.min()), 3) == least


# The choice


def least_coverage(
    method: FixedEndMethod, total: int, *, epsilon: float, symbols: int, level: float = 0.95
) -> float:
    """Return the infimum of the coverage over all shares, which is next to an end of an interval.

    Between two neighbouring ends, the same counts cover the share; as the share grows, their
    probability rises and then falls.
    """
    low, high = find_ends(method, total, epsilon=epsilon, symbols=symbols, level=level)
    ends = np.concatenate([low, high])
    beside = np.clip(np.concatenate([ends - 1e-10, ends + 1e-10]), 0, 1)
    covered = exact_coverage(
        shares=beside, total=total, level=level, method=method, **channel(epsilon, symbols)
    )
    return float(covered.min())


@pytest.mark.parametrize(("epsilon", "total", "symbols"), CELLS)
def test_the_guaranteed_method_keeps_its_level_and_the_chosen_one_covers_93_percent(
    epsilon: float, total: int, symbols: int
) -> None:
    where: dict[str, Any] = {"epsilon": epsilon, "symbols": symbols}
    assert least_coverage("clopper_pearson", total, **where) >= 0.95 - 1e-8
    chosen = choose_fixed_end_method(total=total, level=0.95, **channel(epsilon, symbols))
    least = least_coverage(chosen, total, **where)
    print(f"epsilon={epsilon:.3f} n={total} k={symbols}: {chosen} {least:.4f}")
    assert least >= 0.93


@pytest.mark.parametrize("level", [0.95, 0.99, 0.999])
def test_the_shorter_interval_is_chosen_exactly_while_it_covers(level: float) -> None:
    chosen = set()
    for epsilon, total, symbols in CELLS:
        least = least_coverage(
            "likelihood_ratio", total, epsilon=epsilon, symbols=symbols, level=level
        )
        method = choose_fixed_end_method(total=total, level=level, **channel(epsilon, symbols))
        assert (method == "likelihood_ratio") == (least >= 1 - 1.4 * (1 - level))
        chosen.add(method)
    assert chosen == set(BOTH)


def test_a_dip_between_the_points_of_a_grid_is_not_overlooked() -> None:
    # At five symbols, epsilon 1 and 50 reports, the coverage is .935 on the grid but .927 next to
    # an end.
    grid = exact_coverage(
        shares=GRIDS["all"], total=50, level=0.95, method="likelihood_ratio", **channel(1.0, 5)
    )
    assert grid.min() > 0.93 > least_coverage("likelihood_ratio", 50, epsilon=1.0, symbols=5)
    chosen = choose_fixed_end_method(total=50, level=0.95, **channel(1.0, 5))
    assert chosen == "clopper_pearson"


@pytest.mark.parametrize(
    ("changed", "chosen"),
    [
        ({}, "likelihood_ratio"),
        ({"total": 20}, "clopper_pearson"),
        ({"other_probability": 0.02}, "clopper_pearson"),
        ({"slope": 0.6}, "clopper_pearson"),
        ({"level": 0.99}, "clopper_pearson"),
    ],
)
def test_the_choice_depends_on_total_channel_and_level(
    changed: dict[str, Any], chosen: str
) -> None:
    usual = {"total": 50, "other_probability": 0.25, "slope": 0.5, "level": 0.95}
    assert choose_fixed_end_method(**{**usual, **changed}) == chosen


def test_without_reports_the_guaranteed_method_is_chosen() -> None:
    assert choose_fixed_end_method(total=0, level=0.95, **channel(LN3)) == "clopper_pearson"


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shares": [0.5, 1.5]}, "shares must lie in [0, 1], got [0.5, 1.5]"),
        ({"shares": float("nan")}, "shares must lie in [0, 1], got nan"),
        ({"total": 0}, "total must be at least 1, got 0"),
        ({"other_probability": 0.0}, "other_probability must lie in (0, 1), got 0.0"),
        ({"slope": 0.75}, "slope must be positive, with c + d below 1, got 0.75"),
        ({"slope": -0.1}, "slope must be positive, with c + d below 1, got -0.1"),
        ({"level": 1.0}, "level must lie in (0, 1), got 1.0"),
        (
            {"method": "wald"},
            "method must be 'likelihood_ratio' or 'clopper_pearson', got 'wald'",
        ),
    ],
)
def test_coverage_of_impossible_arguments_is_rejected(
    arguments: dict[str, Any], message: str
) -> None:
    usual = {"shares": 0.5, "total": 50, "level": 0.95, "method": "likelihood_ratio"}
    with pytest.raises(ValueError) as refused:
        exact_coverage(**{**usual, **channel(LN3), **arguments})
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"total": -1}, "total must be at least 0, got -1"),
        ({"level": 0.0}, "level must lie in (0, 1), got 0.0"),
        ({"other_probability": 1.0}, "other_probability must lie in (0, 1), got 1.0"),
        ({"slope": 0.0}, "slope must be positive, with c + d below 1, got 0.0"),
    ],
)
def test_a_choice_for_impossible_arguments_is_rejected(
    arguments: dict[str, Any], message: str
) -> None:
    usual = {"total": 50, "level": 0.95, **channel(LN3), **arguments}
    with pytest.raises(ValueError) as refused:
        choose_fixed_end_method(**usual)
    assert str(refused.value) == message
