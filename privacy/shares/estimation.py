"""Estimates of true shares from counts of randomized symbols, for any number of symbols k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privacy.checks import (
    Floats,
    check_channel,
    check_successes,
    check_together,
    check_whole_counts,
)

_CLOSE = 1e-9  # tolerance for a sum of one


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginalEstimates:
    """Estimates of many shares, each estimated separately.

    Attributes
    ----------
    shares : ndarray of float64
        Unbiased shares as fractions, one for every symbol that was requested. They are never
        clipped, so they may lie outside [0, 1]. Store and export these unclipped values.
    standard_errors : ndarray of float64
        Standard errors of `shares`, as fractions, with divisor n.
    effective_sample_sizes : ndarray of float64
        For each symbol, the number of direct answers that would be as precise as these n reports.
    """

    shares: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    effective_sample_sizes: NDArray[np.float64]


def estimate_marginal_shares(
    *, successes: ArrayLike, total: ArrayLike, other_probability: ArrayLike, slope: ArrayLike
) -> MarginalEstimates:
    """Estimate the true shares of many symbols separately, in one call.

    Parameters
    ----------
    successes : array_like of int
        Number S of reports that show the symbol, 0 <= S <= total.
    total : array_like of int
        Number of reports n, at least 1.
    other_probability, slope : array_like of float
        c and d of the channel. All four arguments broadcast against each other.

    Returns
    -------
    MarginalEstimates
        Shares (unbiased, unclipped), standard errors and effective sample sizes, in the broadcast
        shape.

    Raises
    ------
    ValueError
        If total is below 1, successes are not between 0 and total, a count is not whole, or the
        channel is out of range. Without reports there is no estimate, only the interval [0, 1].

    Notes
    -----
    With the reported share l = S / n, the estimate is (l - c) / d. The standard error uses the
    unclipped l and is 0 only if all or none of the reports show the symbol. For two coins the
    estimate is 2 S / n - 1/2.

    The effective sample size is n p (1 - p) d**2 / (l (1 - l)), where p is the estimate clipped to
    [0, 1] and l = c + d p. It is 0 at p = 0 and p = 1, where a direct question would be exact.

    References
    ----------
    Warner, S. L. (1965), JASA 60(309), equations (4) and (5) (k = 2).
    Kairouz, P., Bonawitz, K. and Ramage, D. (2016), ICML, section 3 (k-RR, empirical estimator).

    Examples
    --------
    >>> found = estimate_marginal_shares(
    ...     successes=[400, 250], total=1000, other_probability=.25, slope=.5
    ... )
    >>> found.shares.round(6).tolist()
    [0.3, 0.0]
    """
    s, n = check_successes(successes, total, at_least=1)
    c, d = check_channel(other_probability, slope)
    check_together(successes=s, total=n, other_probability=c, slope=d)
    reported = s / n
    shares = (reported - c) / d
    truth = np.clip(shares, 0.0, 1.0)
    expected = c + d * truth
    return MarginalEstimates(
        shares=shares,
        standard_errors=np.sqrt(reported * (1 - reported) / n) / d,
        effective_sample_sizes=n * truth * (1 - truth) * d**2 / (expected * (1 - expected)),
    )


def fit_joint_shares(
    *, counts: ArrayLike, other_probability: ArrayLike, slope: ArrayLike
) -> NDArray[np.float64]:
    """Find the most likely shares that lie in [0, 1] and sum to one, for many questions.

    Parameters
    ----------
    counts : array_like of int, shape (..., k)
        Number of reports showing each symbol; at least one report for each question.
    other_probability, slope : array_like of float, shape (...)
        c and d of each question's channel.

    Returns
    -------
    ndarray of float64, shape (..., k)
        Constrained maximum-likelihood shares.

    Raises
    ------
    ValueError
        If a count is negative or not whole, a question has no report, or the channel is out of
        range or does not fit k symbols.

    Notes
    -----
    The reported shares are l_j = max(c, S_j / mu), where mu makes them sum to one. In at most k
    rounds, the lowest cells are raised to their floor c until no cell is below it.

    Examples
    --------
    >>> fit_joint_shares(counts=[50, 30, 20], other_probability=.2, slope=.4).round(6).tolist()
    [0.75, 0.25, 0.0]
    """
    cells = np.asarray(check_whole_counts("counts", counts), dtype=np.float64)
    if cells.ndim == 0 or not (cells.sum(axis=-1) > 0).all():
        raise ValueError(f"counts must hold at least one report of each question, got {counts!r}")
    c, d = check_channel(other_probability, slope)
    check_together(counts=cells, other_probability=c[..., None], slope=d[..., None])
    # The floors of all symbols and the slope must add up to one.
    if not (abs(cells.shape[-1] * c + d - 1) < _CLOSE).all():
        raise ValueError(
            f"slope must be 1 - k c for counts of k = {cells.shape[-1]} symbols, got {slope!r}"
        )
    c, d = c[..., None], d[..., None]
    free = np.ones(cells.shape, dtype=bool)
    while True:
        # Each cell at its floor takes c; the free cells share the rest in proportion to their
        # counts.
        room = 1 - c * (~free).sum(axis=-1, keepdims=True)
        shared = np.where(free, cells, 0.0).sum(axis=-1, keepdims=True)
        reported = np.where(free, cells * (room / shared), c)
        below = free & (reported < c)
        if not below.any():
            joint: Floats = (reported - c) / d
            return joint
        free &= ~below
