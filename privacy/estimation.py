"""Estimating true shares from counts of randomized symbols, for any k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privacy.mechanisms import RandomizedResponse


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
        Of `shares`, as fractions, with divisor n.
    covariance : ndarray of float64, shape (k, k)
        Of `shares`.
    joint_shares : ndarray of float64, shape (k,)
        Maximum-likelihood shares among those that lie in [0, 1] and sum to one.
    effective_totals : ndarray of float64, shape (k,)
        For each symbol, the number of direct answers that would be as precise as these n
        reports.
    """

    total: int
    counts: tuple[int, ...]
    shares: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    covariance: NDArray[np.float64]
    joint_shares: NDArray[np.float64]
    effective_totals: NDArray[np.float64]

    @property
    def clipped_shares(self) -> NDArray[np.float64]:
        """Each share cut to [0, 1] by itself: what a screen shows beside its own interval."""
        return np.clip(self.shares, 0.0, 1.0)


def estimate_shares(*, counts: Sequence[int], mechanism: RandomizedResponse) -> ShareEstimates:
    """Estimate the true share of every symbol from the counts of reported symbols.

    Parameters
    ----------
    counts : sequence of int, length k
        Number of reports showing each symbol, each at least 0, at least one report in all.
    mechanism : RandomizedResponse
        The mechanism that produced the reports.

    Returns
    -------
    ShareEstimates
        Shares (unbiased, unclipped), standard errors, covariance, joint maximum-likelihood
        shares and effective totals.

    Raises
    ------
    ValueError
        If the number of counts is not k, a count is negative, or there is no report at all:
        without reports there is no estimate, only the interval [0, 1].

    Notes
    -----
    With reported shares l_j = S_j / n, the estimate is (l_j - c) / d, its covariance
    (diag(l) - l l') / (n d**2). The standard error uses the unclipped l_j and is 0 only if
    all or none of the reports show the symbol. For two coins the estimate is 2 S / n - 1/2.

    The effective total of symbol j is n p (1 - p) d**2 / (l (1 - l)) at p, the estimate cut to
    [0, 1], and l = c + d p; it is 0 at p = 0 and p = 1, where a direct question would be
    exact.

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
    cells = np.asarray(counts, dtype=np.int64)
    if cells.shape != (mechanism.symbols,):
        raise ValueError(f"counts must have {mechanism.symbols} entries, got {list(counts)!r}")
    if cells.min() < 0:
        raise ValueError(f"counts must not be negative, got {list(counts)!r}")
    total = int(cells.sum())
    if total == 0:
        raise ValueError("counts must hold at least one report, got none")
    reported = cells / total
    c, d = mechanism.other_probability, mechanism.slope
    covariance = (np.diag(reported) - np.outer(reported, reported)) / (total * d**2)
    shares = (reported - c) / d
    return ShareEstimates(
        total=total,
        counts=tuple(int(count) for count in cells),
        shares=shares,
        standard_errors=np.sqrt(reported * (1 - reported) / total) / d,
        covariance=covariance,
        joint_shares=_fit_joint_shares(cells, c=c, d=d),
        effective_totals=_effective_totals(shares, total=total, c=c, d=d),
    )


def _fit_joint_shares(counts: NDArray[np.int64], *, c: float, d: float) -> NDArray[np.float64]:
    """Constrained maximum likelihood: l_j = max(c, S_j / mu) with mu making them sum to one."""
    k = len(counts)
    free = np.ones(k, dtype=bool)
    while True:
        # The cells at their floor take c each; the others share the rest by their counts.
        room = 1 - c * (k - int(free.sum()))
        reported = np.where(free, counts * (room / counts[free].sum()), c)
        below = free & (reported < c)
        if not below.any():
            return (reported - c) / d
        free &= ~below


def _effective_totals(
    shares: NDArray[np.float64], *, total: int, c: float, d: float
) -> NDArray[np.float64]:
    truth = np.clip(shares, 0.0, 1.0)
    reported = c + d * truth
    return total * truth * (1 - truth) * d**2 / (reported * (1 - reported))
