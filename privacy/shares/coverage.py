"""Exact coverage of intervals, and the choice of method that depends on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, bdtrc, chdtri, xlog1py

from privacy.checks import (
    MOST_REPORTS,
    Floats,
    check_channel,
    check_level,
    check_shares,
    check_whole,
)
from privacy.shares.intervals import likelihood_ratio

FixedEndMethod = Literal["likelihood_ratio", "clopper_pearson"]
# The likelihood-ratio interval is chosen if its lowest coverage falls short of the level by at most
# this fraction of 1 - level: for 95 % intervals, if the lowest coverage is at least 93 %.
TOLERANCE = 0.4
_GRID = np.linspace(0.0, 1.0, 1001)
# Right next to the ends of intervals, coverage dips by up to .008 below its values on the grid.
# With more reports than this, coverage dips by less than .004 and is far from the limit.
_MOST_ENDS = 2000
_BESIDE = 1e-9
_SAME = 1e-12


def exact_coverage(
    *,
    shares: ArrayLike,
    total: int,
    other_probability: float,
    slope: float,
    level: float,
    method: FixedEndMethod,
) -> Floats:
    """Sum the probabilities of all counts whose interval contains the true share.

    Parameters
    ----------
    shares : array_like of float
        True shares p, in [0, 1].
    total : int
        Number of reports n, at least 1, fixed in advance.
    other_probability, slope : float
        c and d of the channel.
    level : float
        Confidence level of the interval, in (0, 1).
    method : str
        "likelihood_ratio" or "clopper_pearson".

    Returns
    -------
    ndarray of float64, shape of `shares`
        Coverage probabilities, exact up to rounding.

    Raises
    ------
    ValueError
        If a share, total, the channel or level is out of range, or `method` is
        neither of the two.

    Notes
    -----
    The counts S whose interval contains p form a range, which is found without computing any
    interval. The likelihood-ratio statistic of p is convex in S (a maximum of linear functions
    minus a linear one). A Clopper-Pearson interval contains p if neither tail of the binomial at
    c + d p is below (1 - level) / 2. The sum over S is therefore a difference of two distribution
    functions.

    References
    ----------
    Brown, L. D., Cai, T. T. and DasGupta, A. (2001), Interval estimation for a binomial
    proportion, Statistical Science 16(2), section 2 (coverage as a binomial sum).

    Examples
    --------
    >>> two_coins = dict(total=50, other_probability=.25, slope=.5, level=.95)
    >>> found = exact_coverage(shares=_GRID, method="likelihood_ratio", **two_coins)
    >>> round(float(found.min()), 4)
    0.935
    """
    p = check_shares("shares", shares)
    total = check_whole("total", total, at_least=1, at_most=MOST_REPORTS)
    check_channel(other_probability, slope)
    level = check_level(level)
    l = other_probability + slope * p  # noqa: E741
    if method == "likelihood_ratio":
        low, high = _likelihood_ratio_range(l, total, other_probability, slope, level)
    elif method == "clopper_pearson":
        low, high = _clopper_pearson_range(l, total, level)
    else:
        raise ValueError(f"method must be 'likelihood_ratio' or 'clopper_pearson', got {method!r}")
    return _cumulative(high, total, l) - _cumulative(low - 1, total, l)


# The cache also compares types: 1, 1.0 and True are equal, but only 1 is a number of reports.
@lru_cache(maxsize=4096, typed=True)
def choose_fixed_end_method(
    *, total: int, other_probability: float, slope: float, level: float
) -> FixedEndMethod:
    """Choose the interval after a fixed end: the shorter one, if its coverage is sufficient.

    Parameters
    ----------
    total : int
        Number of reports n, at least 0.
    other_probability, slope : float
        c and d of the channel.
    level : float
        Confidence level, in (0, 1).

    Returns
    -------
    str
        "likelihood_ratio" if its lowest exact coverage is at least 1 - 1.4 (1 - level), otherwise
        "clopper_pearson". Coverage is computed at every true share 0, .001, ..., 1 and, up to 2,000
        reports, on both sides of every possible end of an interval, where it is lowest. The choice
        does not depend on the answers in the reports.

    Raises
    ------
    ValueError
        If total, the channel or level is out of range.

    Examples
    --------
    >>> choose_fixed_end_method(total=1000, other_probability=.25, slope=.5, level=.95)
    'likelihood_ratio'
    >>> choose_fixed_end_method(total=50, other_probability=.018, slope=.964, level=.95)
    'clopper_pearson'
    """
    _check_question(total, other_probability, slope, level)
    if total == 0:
        return "clopper_pearson"
    shares = _GRID
    if total <= _MOST_ENDS:
        every = likelihood_ratio(
            successes=np.arange(total + 1),
            total=total,
            other_probability=other_probability,
            slope=slope,
            level=level,
        )
        ends = np.concatenate([every.low, every.high])
        beside = np.concatenate([ends - _BESIDE, ends + _BESIDE])
        shares = np.concatenate([_GRID, np.clip(beside, 0.0, 1.0)])
    # With two symbols, p and 1 - p have the same coverage, so half of the shares are enough.
    alike = abs(2 * other_probability + slope - 1) < _SAME
    least = exact_coverage(
        shares=shares[shares <= 0.5] if alike else shares,
        total=total,
        other_probability=other_probability,
        slope=slope,
        level=level,
        method="likelihood_ratio",
    ).min()
    wanted = 1 - (1 + TOLERANCE) * (1 - level)
    return "likelihood_ratio" if least >= wanted else "clopper_pearson"


@lru_cache(maxsize=4096, typed=True)
def _check_question(total: int, other_probability: float, slope: float, level: float) -> None:
    check_whole("total", total, at_least=0, at_most=MOST_REPORTS)
    check_channel(other_probability, slope)
    check_level(level)


def _cumulative(count: NDArray[np.int64], total: int, probability: Floats) -> Floats:
    """Compute P(X <= count), including counts of -1 and n."""
    inside = np.clip(count, 0, total - 1)
    below = np.where(count < 0, 0.0, bdtr(inside.astype(np.float64), total, probability))
    return np.where(count >= total, 1.0, below)


def _likelihood_ratio_range(
    l: Floats,  # noqa: E741
    total: int,
    c: float,
    d: float,
    level: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    limit = chdtri(1, 1 - level)

    def holds(count: NDArray[np.int64]) -> NDArray[np.bool_]:
        inside = (count >= 0) & (count <= total)
        count = np.clip(count, 0, total)
        best = np.clip(count / total, c, c + d)
        drop = xlog1py(count, (best - l) / l) + xlog1py(total - count, (l - best) / (1 - l))
        kept: NDArray[np.bool_] = inside & (2 * drop <= limit)
        return kept

    # The statistic is 0 at S = n l, so one of the two integers next to n l is kept or no count is.
    middle = np.minimum(np.floor(total * l).astype(np.int64), total)
    middle = np.where(holds(middle), middle, np.minimum(middle + 1, total))
    none = ~holds(middle)
    # The ends are usually not much further from the middle than for a normal distribution.
    reach = np.ceil(2 * np.sqrt(limit * total * l * (1 - l)) + 10).astype(np.int64)
    low = _last(holds, start=middle, end=np.maximum(middle - reach, 0))
    low = _last(holds, start=low, end=np.where(holds(low - 1), 0, low))
    high = _last(holds, start=middle, end=np.minimum(middle + reach, total))
    high = _last(holds, start=high, end=np.where(holds(high + 1), total, high))
    # If no count is kept, an empty range makes the difference of distribution functions 0.
    return np.where(none, middle + 1, low), np.where(none, middle, high)


def _clopper_pearson_range(
    l: Floats,  # noqa: E741
    total: int,
    level: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    tail = (1 - level) / 2
    middle = np.minimum(np.floor(total * l).astype(np.int64), total)

    def low_holds(count: NDArray[np.int64]) -> NDArray[np.bool_]:
        kept: NDArray[np.bool_] = _cumulative(count, total, l) >= tail
        return kept

    def high_holds(count: NDArray[np.int64]) -> NDArray[np.bool_]:
        # Compute P(X >= S) directly, because subtracting from 1 would lose a small tail.
        above = bdtrc(np.clip(count - 1, 0, total - 1).astype(np.float64), total, l)
        kept: NDArray[np.bool_] = np.where(count <= 0, 1.0, above) >= tail
        return kept

    low = _last(low_holds, start=np.full_like(middle, total), end=np.zeros_like(middle))
    high = _last(high_holds, start=np.zeros_like(middle), end=np.full_like(middle, total))
    return low, high


def _last(
    holds: Callable[[NDArray[np.int64]], NDArray[np.bool_]],
    *,
    start: NDArray[np.int64],
    end: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Find the last count from `start` to `end` where `holds` is true, as it is at `start`."""
    at_end = holds(end)
    kept, dropped = start, end
    while (np.abs(dropped - kept) > 1).any():
        middle = (kept + dropped) // 2
        inside = holds(middle)
        kept = np.where(inside, middle, kept)
        dropped = np.where(inside, dropped, middle)
    return np.where(at_end, end, kept)
