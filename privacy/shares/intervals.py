"""Intervals for true shares by two named methods, clipped to 0 to 1, for many shares at once.

The count of each symbol is binomial: a report shows a symbol with true share p with probability
l = c + d p. Each method works on the number S of such reports among n. The arguments may be arrays,
so one call is enough for all questions, options and levels of a survey.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, chdtri, xlog1py

from privacy.checks import Floats, check_level, check_whole
from privacy.level import LEVEL
from privacy.shares.code_counts import check_counts, search_ends

Method = Literal["likelihood_ratio", "clopper_pearson"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervals:
    """Sets of plausible true shares, one for every entry of the data.

    Attributes
    ----------
    low, high : ndarray of float64
        Ends of the intervals as fractions, 0 <= low <= high <= 1.
    contradiction : ndarray of bool
        True where no true share in [0, 1] agrees with the reports: something other than the
        stated mechanism probably produced them, and low = high is merely the nearest share.
    level : ndarray of float64
        Confidence level of each interval, in (0, 1).
    method : str
        "likelihood_ratio" or "clopper_pearson" (guaranteed). Both are valid for one look, provided
        that the end of the survey did not depend on the data.
    """

    low: Floats
    high: Floats
    contradiction: NDArray[np.bool_]
    level: Floats
    method: Method


def likelihood_ratio(
    *,
    successes: ArrayLike,
    total: ArrayLike,
    other_probability: ArrayLike,
    slope: ArrayLike,
    level: ArrayLike = LEVEL,
    effective: bool = False,
) -> Intervals:
    """Find the shares in [0, 1] that a likelihood-ratio test does not reject.

    Parameters
    ----------
    successes : array_like of int
        Number S of reports that show the symbol, 0 <= S <= total.
    total : array_like of int
        Number of reports n, at least 0.
    other_probability, slope : array_like of float
        c and d of the channel: a report shows the symbol with probability c + d p.
    level : array_like of float, optional
        Confidence level, in (0, 1). All five arrays broadcast against each other.
    effective : bool, optional
        Whether the counts are effective counts from `privacy.shares.weighting.weighted_share`,
        which need not be whole; the interval is then approximate.

    Returns
    -------
    Intervals
        Intervals of the broadcast shape. They are never empty and, for n >= 1, never have zero
        width; for n = 0, they are [0, 1].

    Raises
    ------
    ValueError
        If successes, total, the channel or level is out of range.

    Notes
    -----
    A share p is kept if 2 (L(p*) - L(p)) is at most the chi-square quantile of the level, with one
    degree of freedom. Here L(p) = S ln l + (n - S) ln(1 - l) with l = c + d p, and p* in [0, 1]
    maximizes L. The intervals are valid for one look at the data, with the amount of data fixed in
    advance. They are approximate: the lowest coverage of a 95 % interval with two coins over true
    shares 0, .001, ..., 1 is .935 (n = 50) and .941 (n = 200). Coverage is lower where few answers
    are swapped and n is small; `privacy.shares.coverage.choose_fixed_end_method` checks this.

    References
    ----------
    Wilks, S. S. (1938), Annals of Mathematical Statistics 9(1), p. 62 (theorem).

    Examples
    --------
    >>> found = likelihood_ratio(successes=400, total=1000, other_probability=.25, slope=.5)
    >>> round(float(found.low), 4), round(float(found.high), 4)
    (0.2398, 0.3612)
    """
    data = check_counts(successes, total, other_probability, slope, level, effective=effective)
    best = data.closest
    best_l = data.reported(best)
    # Compute the quantile before broadcasting, because this is slow.
    limit = chdtri(1, 1 - np.asarray(level, dtype=np.float64))

    def excess(l: Floats) -> tuple[Floats, Floats]:  # noqa: E741
        # Use log1p for log ratios, because a difference of logs loses precision for large n.
        drop = xlog1py(data.successes, (best_l - l) / l)
        drop += xlog1py(data.misses, (l - best_l) / (1 - l))
        return 2 * drop - limit, 2 * data.fall(l)

    low, high = search_ends(excess, data)
    return Intervals(
        low=low,
        high=high,
        contradiction=np.zeros(low.shape, dtype=bool),
        level=data.level,
        method="likelihood_ratio",
    )


def clopper_pearson(
    *,
    successes: ArrayLike,
    total: ArrayLike,
    other_probability: ArrayLike,
    slope: ArrayLike,
    level: ArrayLike = LEVEL,
    effective: bool = False,
) -> Intervals:
    """Find the guaranteed interval, whose coverage is at least its level at every share and n.

    Parameters
    ----------
    successes, total, other_probability, slope, level, effective
        As for `likelihood_ratio`.

    Returns
    -------
    Intervals
        The interval is [0, 1] for n = 0. Where no share in [0, 1] remains, `contradiction` is True.

    Raises
    ------
    ValueError
        If successes, total, the channel or level is out of range.

    Notes
    -----
    The ends are beta quantiles for l, mapped to p by (l - c) / d and clipped to [0, 1]. The
    interval is valid for one look at the data, with the amount of data fixed in advance, and is
    wider than the likelihood-ratio interval. Under the stated mechanism, the probability of a
    contradiction is at most 1 - level.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934), Biometrika 26(4), section 4.

    Examples
    --------
    >>> found = clopper_pearson(successes=400, total=1000, other_probability=.25, slope=.5)
    >>> round(float(found.low), 4), round(float(found.high), 4)
    (0.2389, 0.3622)
    """
    data = check_counts(successes, total, other_probability, slope, level, effective=effective)
    misses = data.misses
    tail = (1 - data.level) / 2
    # The low end is 0 for 0 successes and the high end is 1 for n, where the quantile is undefined.
    lowest = np.where(
        data.successes > 0,
        betaincinv(np.where(data.successes > 0, data.successes, 1), misses + 1, tail),
        0.0,
    )
    highest = np.where(
        misses > 0,
        1 - betaincinv(np.where(misses > 0, misses, 1), data.successes + 1, tail),
        1.0,
    )
    low, high = (lowest - data.c) / data.d, (highest - data.c) / data.d
    return Intervals(
        low=np.clip(low, 0.0, 1.0),
        high=np.clip(high, 0.0, 1.0),
        contradiction=(high < 0) | (low > 1),
        level=data.level,
        method="clopper_pearson",
    )


METHODS: dict[Method, Callable[..., Intervals]] = {
    "likelihood_ratio": likelihood_ratio,
    "clopper_pearson": clopper_pearson,
}


def simultaneous_level(level: float, *, shares: int) -> float:
    """Find the level that each interval needs so that all intervals together have the given level.

    Parameters
    ----------
    level : float
        Desired level of all intervals together, in (0, 1).
    shares : int
        Number of intervals shown, at least 1.

    Returns
    -------
    float
        1 - (1 - level) / shares.

    Raises
    ------
    ValueError
        If level or shares is out of range.

    Notes
    -----
    By Bonferroni's inequality, the level holds at every n and for every method, however the
    intervals depend on each other, provided that each interval alone has its level.

    References
    ----------
    Dunn, O. J. (1961), Multiple comparisons among means, JASA 56(293), section 3.

    Examples
    --------
    >>> simultaneous_level(0.95, shares=5)
    0.99
    """
    level = check_level(level)
    shares = check_whole("shares", shares, at_least=1)
    return 1 - (1 - level) / shares
