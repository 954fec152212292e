"""Estimating true shares from counts of randomized symbols, for any k."""

from __future__ import annotations

from collections.abc import Sequence
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
from privacy.mechanism.mechanisms import RandomizedResponse

_CLOSE = 1e-9  # tolerance for a sum of one


@dataclass(frozen=True, kw_only=True, eq=False)
class ShareEstimates:
    """Estimates of the true share of every symbol of one question.

    Attributes
    ----------
    total : int
        Number of reports n, at least 1.
    counts : tuple of int, length k
        Reports showing each symbol.
    shares : ndarray of float64, shape (k,)
        Unbiased shares as fractions; they sum to one and may lie outside [0, 1]. Never clipped:
        store and export these.
    standard_errors : ndarray of float64, shape (k,)
        Standard errors of `shares`, as fractions, with divisor n.
    covariance : ndarray of float64, shape (k, k)
        Covariance of `shares`.
    joint_shares : ndarray of float64, shape (k,)
        Maximum-likelihood shares among those that lie in [0, 1] and sum to one.
    effective_sample_sizes : ndarray of float64, shape (k,)
        For each symbol, the number of direct answers that would be as precise as these n
        reports.
    """

    total: int
    counts: tuple[int, ...]
    shares: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    covariance: NDArray[np.float64]
    joint_shares: NDArray[np.float64]
    effective_sample_sizes: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginalEstimates:
    """Estimates of many shares, each estimated separately.

    Attributes
    ----------
    shares, standard_errors, effective_sample_sizes : ndarray of float64
        As in `ShareEstimates`, one for every symbol that was requested.
    """

    shares: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    effective_sample_sizes: NDArray[np.float64]


def estimate_shares(*, counts: Sequence[int], mechanism: RandomizedResponse) -> ShareEstimates:
    """Estimate the true share of every symbol from the counts of reported symbols.

    Parameters
    ----------
    counts : sequence of int, length k
        Number of reports showing each symbol, each at least 0, at least one report in total.
    mechanism : RandomizedResponse
        The mechanism that produced the reports.

    Returns
    -------
    ShareEstimates
        Shares (unbiased, unclipped), standard errors, covariance, joint maximum-likelihood
        shares and effective sample sizes.

    Raises
    ------
    ValueError
        If the number of counts is not k, a count is negative or not whole, or there is no report:
        without reports there is no estimate, only the interval [0, 1].

    Notes
    -----
    With reported shares l_j = S_j / n, the estimate is (l_j - c) / d, its covariance
    (diag(l) - l l') / (n d**2). The standard error uses the unclipped l_j and is 0 only if
    all or none of the reports show the symbol. For two coins the estimate is 2 S / n - 1/2.

    The effective sample size of symbol j is n p (1 - p) d**2 / (l (1 - l)), where p is the
    estimate cut to [0, 1] and l = c + d p. It is 0 at p = 0 and p = 1, where a direct question
    would be exact.

    References
    ----------
    Warner, S. L. (1965), JASA 60(309), equations (4) and (5) (k = 2).
    Kairouz, P., Bonawitz, K. and Ramage, D. (2016), ICML, section 3 (k-RR, empirical estimator).

    Examples
    --------
    >>> coins = RandomizedResponse(symbols=2, threshold=3 * 2**30)
    >>> estimates = estimate_shares(counts=[600, 400], mechanism=coins)
    >>> [round(float(share), 12) for share in estimates.shares]
    [0.7, 0.3]
    >>> round(float(estimates.standard_errors[1]), 12)
    0.03098386677
    """
    cells = check_whole_counts("counts", counts, shape=(mechanism.symbols,)).astype(np.int64)
    total = int(cells.sum())
    if total == 0:
        raise ValueError("counts must hold at least one report, got none")
    c, d = np.array(mechanism.other_probability), np.array(mechanism.slope)
    reported = cells / total
    spread = np.diag(reported) - np.outer(reported, reported)
    marginal = _estimate_marginal_shares(cells.astype(np.float64), np.float64(total), c, d)
    return ShareEstimates(
        total=total,
        counts=tuple(int(count) for count in cells),
        shares=marginal.shares,
        standard_errors=marginal.standard_errors,
        covariance=spread / (total * mechanism.slope**2),
        joint_shares=_fit_joint_shares(cells.astype(np.float64), c, d),
        effective_sample_sizes=marginal.effective_sample_sizes,
    )


def estimate_marginal_shares(
    *, successes: ArrayLike, total: ArrayLike, other_probability: ArrayLike, slope: ArrayLike
) -> MarginalEstimates:
    """Estimate the true shares of many symbols separately, in one call.

    Parameters
    ----------
    successes : array_like of int
        Reports S showing the symbol, 0 <= S <= total.
    total : array_like of int
        Reports n, at least 1.
    other_probability, slope : array_like of float
        c and d of the channel. All four broadcast against each other.

    Returns
    -------
    MarginalEstimates
        Results of `estimate_shares` for each symbol, in the broadcast shape.

    Raises
    ------
    ValueError
        If total is below 1, successes are not between 0 and total, either is not whole, or the
        channel is out of range.

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
    return _estimate_marginal_shares(s, n, c, d)


def _estimate_marginal_shares(
    s: Floats, n: Floats | np.float64, c: Floats, d: Floats
) -> MarginalEstimates:
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
        Reports showing each symbol; at least one for each question.
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
        range or not that of k symbols.

    Notes
    -----
    l_j = max(c, S_j / mu), where mu makes them sum to one: the lowest cells are raised to their
    floor c until none falls below it; at most k rounds.

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
    return _fit_joint_shares(cells, c, d)


def _fit_joint_shares(cells: Floats, c: Floats, d: Floats) -> Floats:
    c, d = c[..., None], d[..., None]
    free = np.ones(cells.shape, dtype=bool)
    while True:
        # The cells at their floor take c each; the others share the rest by their counts.
        room = 1 - c * (~free).sum(axis=-1, keepdims=True)
        shared = np.where(free, cells, 0.0).sum(axis=-1, keepdims=True)
        reported = np.where(free, cells * (room / shared), c)
        below = free & (reported < c)
        if not below.any():
            joint: Floats = (reported - c) / d
            return joint
        free &= ~below
