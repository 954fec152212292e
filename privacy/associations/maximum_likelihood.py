"""The most likely true shares of the cells of a table, given the reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import xlogy

from privacy.checks import Floats, check_positive, check_whole_counts

_MAX_ROUNDS = 20_000
_NEWTON_EVERY = 50
_TINY = 1e-18
_SUM_WEIGHT = 1e3
_GAP = 1e-10  # distance of the log-likelihood from its maximum
_ROUNDING = 1e-14  # relative rounding error of the gradient
_LAST_BITS = 1e-11


class NotSettledError(ArithmeticError):
    """The search for the most likely shares or coefficients did not converge."""


def check_table(*, counts: NDArray[np.int64], channel: Floats) -> None:
    """Reject counts that are all 0 or not flat, and a channel that does not match the counts."""
    check_whole_counts("counts", counts)
    if counts.ndim != 1 or not counts.any():
        raise ValueError(f"counts must be flat and hold at least one report, got {counts!r}")
    if channel.ndim != 2 or len(channel) != len(counts):
        raise ValueError(
            f"channel must have {len(counts)} rows, one for each of the counts, got {channel.shape}"
        )
    if channel.shape[1] == 0 or not np.isfinite(channel).all() or (channel < 0).any():
        raise ValueError(f"channel must hold probabilities, got {channel!r}")


def log_likelihood_of(*, counts: NDArray[np.int64], channel: Floats, shares: Floats) -> float:
    """Sum N ln l over the cells, where l is the channel times the shares."""
    return float(xlogy(counts, channel @ shares).sum())


def maximize_likelihood(
    *,
    counts: NDArray[np.int64],
    channel: Floats,
    start: Floats | None = None,
    project: Callable[[Floats], Floats] | None = None,
    tolerance: float = 1e-8,
) -> tuple[Floats, float]:
    """Find the most likely true shares by EM, under a model if one is given.

    Parameters
    ----------
    counts : ndarray of int64, shape (reported,)
        Number of reports in each reported cell, at least one report in total.
    channel : ndarray of float64, shape (reported, cells)
        Probability of each reported cell given each true one.
    start : ndarray of float64, shape (cells,), optional
        Shares at which the search begins under a model. Without a model, `start` is used only if it
        is the maximum, that is, if it lies in the simplex and the channel maps it to the reported
        shares.
    project : callable, optional
        Function that maps expected true counts to the model's most likely shares (the M step).
        Without `project`, the shares are free.
    tolerance : float, optional
        Under a model, the search has converged if every share moves by less than this in a round.

    Returns
    -------
    shares : ndarray of float64, shape (cells,)
        The most likely shares, in [0, 1] and summing to one.
    log_likelihood : float

    Raises
    ------
    ValueError
        If a count is negative or not whole, there is no report, the channel does not match the
        counts, or tolerance is not positive.
    NotSettledError
        If EM does not converge.

    Notes
    -----
    Each round replaces p by p * channel' (l / (channel p)), with l the reported shares, and
    extrapolates where that raises the likelihood. Free shares have converged when the
    log-likelihood is within 1e-10 of its maximum: by concavity, the maximum is at most
    n (max(channel' (l / (channel p))) - 1) higher. Shares under a model have converged when none
    moves by more than `tolerance` in a round. The more slowly EM converges, the less this
    guarantees, so refine the result where it must be exact.

    References
    ----------
    Varadhan, R. and Roland, C. (2008), Scandinavian Journal of Statistics 35(2), section 4.3
    (SQUAREM, scheme S3).
    Wang, Y. (2007), JRSS B 69(2), section 3 (constrained Newton steps, taken every 50 rounds
    where shares are free).
    """
    check_table(counts=counts, channel=channel)
    tolerance = check_positive("tolerance", tolerance)
    total = counts.sum()
    reported = counts / total
    if (
        start is not None
        and project is None
        and (start >= 0).all()
        and np.allclose(channel @ start, reported, rtol=0, atol=1e-12)
    ):
        return start, log_likelihood_of(counts=counts, channel=channel, shares=start)
    seen = counts > 0
    climb = _Climb(channel=channel[seen], reported=reported[seen], project=project)
    begin = np.full(channel.shape[1], 1 / channel.shape[1])
    shares = climb.step(begin if start is None or project is None else start)
    for number in range(_MAX_ROUNDS):
        if project is None and number % _NEWTON_EVERY == _NEWTON_EVERY - 1:
            # EM is slow where a share is 0 and would be just below 0 without the constraint.
            higher = climb.newton_step(shares)
            if higher is shares and climb.ratios(shares).max() - 1 < _LAST_BITS:
                break  # rounding hides any further rise
            shares = higher
        once = climb.step(shares)
        twice = climb.step(once)
        if climb.settled(twice, twice - shares, gap=_GAP / total, tolerance=tolerance):
            shares = twice
            break
        shares = climb.extrapolate(shares, once, twice)
    else:
        raise NotSettledError(f"EM did not converge within {_MAX_ROUNDS} rounds")
    return shares, log_likelihood_of(counts=counts, channel=channel, shares=shares)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Climb:
    """Steps towards the most likely shares, from the cells that at least one report shows."""

    channel: Floats
    reported: Floats
    project: Callable[[Floats], Floats] | None

    def ratios(self, shares: Floats) -> Floats:
        gradient: Floats = self.channel.T @ (self.reported / (self.channel @ shares))
        return gradient

    def step(self, shares: Floats) -> Floats:
        """Make one EM step."""
        expected = shares * self.ratios(shares)
        return _normalize(expected) if self.project is None else self.project(expected)

    def height(self, shares: Floats) -> float:
        return float(self.reported @ np.log(self.channel @ shares))

    def settled(self, shares: Floats, moved: Floats, *, gap: float, tolerance: float) -> bool:
        if self.project is None:
            # By concavity, this bounds how far the log-likelihood can still rise.
            return bool(self.ratios(shares).max() - 1 < gap + _ROUNDING)
        return bool(np.abs(moved).max() < tolerance)

    def newton_step(self, shares: Floats) -> Floats:
        """Make a Newton step within the simplex, halved until the likelihood is higher."""
        scaled = self.channel / (self.channel @ shares)[:, None]
        weights = np.sqrt(self.reported)
        # The last row makes the shares sum to one, except for rounding, which is removed below.
        rows = np.vstack([scaled * weights[:, None], np.full(len(shares), _SUM_WEIGHT)])
        target, _ = scipy.optimize.nnls(rows, np.append(2 * weights, _SUM_WEIGHT))
        target = target / target.sum()
        start = self.height(shares)
        for halvings in range(20):
            moved: Floats = shares + (target - shares) / 2**halvings
            if self.height(moved) > start:
                # Keep shares above 0, because EM could not raise a share of 0.
                return np.maximum(moved, _TINY)
        return shares

    def extrapolate(self, first: Floats, once: Floats, twice: Floats) -> Floats:
        """Extrapolate two EM steps by scheme S3's step length if that raises the likelihood."""
        moved, bent = once - first, twice - 2 * once + first
        bend = float(np.linalg.norm(bent))
        if bend == 0:
            return twice
        length = float(np.linalg.norm(moved)) / bend
        if length <= 1:
            return twice
        # Divide no share by more than 100, because EM keeps a share of 0 at 0.
        far = np.maximum(first + 2 * length * moved + length**2 * bent, twice / 100)
        # One more EM step returns to the model and to shares that sum to one.
        settled = self.step(far / far.sum())
        return settled if self.height(settled) >= self.height(twice) else twice


def _normalize(expected: Floats) -> Floats:
    shares: Floats = expected / expected.sum()
    return shares
