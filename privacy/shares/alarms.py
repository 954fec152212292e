"""Exact tests for codes that are rarer or more frequent than any true share could make them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc

from privacy.checks import check_channel, check_shares, check_successes, check_together


def find_contradictions(
    *,
    successes: ArrayLike,
    total: ArrayLike,
    other_probability: ArrayLike,
    slope: ArrayLike,
    level: ArrayLike,
) -> NDArray[np.bool_]:
    """Find the codes that are too rare or too frequent for any true share, at one look.

    Parameters
    ----------
    successes : array_like of int
        Number S of reports that show the code, 0 <= S <= total.
    total : array_like of int
        Number of reports n, at least 0.
    other_probability, slope : array_like of float
        c and d of the channel: a report shows the code with probability c + d p.
    level : array_like of float
        Confidence level, in (0, 1). To test several codes together, use the result of
        `privacy.shares.intervals.simultaneous_level`. All five arguments broadcast against each
        other.

    Returns
    -------
    ndarray of bool
        Entries in the broadcast shape. If the stated mechanism produced the reports, each entry is
        True with probability at most 1 - level, at every true share and every n. Entries with n = 0
        are False.

    Raises
    ------
    ValueError
        If successes, total, the channel or level is out of range.

    Notes
    -----
    For a binomial X with n trials of probability l, an entry is True if P(X <= S) <=
    (1 - level) / 2 at l = c, or P(X >= S) <= (1 - level) / 2 at l = c + d. Both tails are monotone
    in l, so each tail is largest at the value of l given for it. The test is valid for one look at
    the data, with the amount of data fixed in advance; it is much more sensitive than one that
    holds at every look.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934), Biometrika 26(4), section 4 (the exact tails).

    Examples
    --------
    With two coins, each code is expected in at least a quarter of the reports:

    >>> coins = dict(total=1000, other_probability=0.25, slope=0.5, level=0.99)
    >>> find_contradictions(successes=[214, 215, 785, 786], **coins).tolist()
    [True, False, False, True]
    """
    some, whole = check_successes(successes, total)
    other, kept = check_channel(other_probability, slope)
    levels = check_shares("level", level, ends="()")
    check_together(successes=some, total=whole, other_probability=other, slope=kept, level=levels)
    tail = (1 - levels) / 2
    # The beta function is undefined where the tail is the whole distribution.
    last = np.maximum(whole - some, 1)
    below = np.where(some < whole, betaincc(some + 1, last, other), 1.0)
    above = np.where(some > 0, betainc(np.maximum(some, 1), whole - some + 1, other + kept), 1.0)
    found: NDArray[np.bool_] = (below <= tail) | (above <= tail)
    return found
