"""Intervals after a fixed end for means among some people, such as the mean of a rating scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp

import numpy as np
import scipy
from scipy.special import chdtri

from privacy.checks import Floats, check_level
from privacy.shares.ratio_cells import RatioCells

_CLOSE = 1e-13  # tolerance for a mean between 0 and 1
_ROUNDS = 60
# This replaces the count of a code that no report shows, because the true share may be positive.
_HARDLY = 1e-9
_GONE = -1 + 1e-15  # relative change of a share that has shrunk to nothing
_LEAST_STEP, _MOST_STEP = -100.0, 40.0  # as logarithms
_MOST_TRIALS = 10_000  # hundreds are needed where nearly all reports are at one end


@dataclass(frozen=True, kw_only=True)
class MeanInterval:
    """The ratios that are not rejected, 0 <= low <= high <= 1."""

    low: float
    high: float


def relaxed_likelihood_interval(*, cells: RatioCells, level: float) -> MeanInterval:
    """Find the ratios that a likelihood-ratio test does not reject, after a fixed end.

    Parameters
    ----------
    cells : RatioCells
        The reports, with the functions A and B whose means form the ratio.
    level : float
        Confidence level, in (0, 1).

    Returns
    -------
    MeanInterval
        The interval is never empty. It is [0, 1] where it is plausible that no one is counted.

    Raises
    ------
    ValueError
        If level is out of range.

    Notes
    -----
    A ratio q is kept if 2 (max L - L(q)) is at most the chi-square quantile (one degree of
    freedom). L(q) is the highest log-likelihood of any shares of the reported cells under which
    A - q B has mean 0, and max L is its maximum over q in [0, 1]. The limits that the mechanism
    sets for each share are not imposed. With these limits, chi-square with one degree of freedom
    would be wrong where several points of a scale are empty: if everyone chose the same end of 7
    points, only 82 % of 95 % intervals would contain the true mean at epsilon = ln 3, and 74 % at
    epsilon = 4.

    The ends are extremes of the ratio over likely shares. At an end, the shares l_j are
    proportional to N_j / (e - h_j) with h = A - q B, where q is moved until these shares have the
    ratio q (Dinkelbach). The interval is valid for one look at the data, with the amount of data
    fixed in advance. In simulations with 100 to 1,000 reports and epsilon up to 4, at least about
    94 % of the 95 % intervals for scales contain the true mean.
    `privacy.shares.joint.fallback.relaxed_likelihood_covers` identifies designs for which fewer
    would.

    References
    ----------
    Wilks, S. S. (1938), Annals of Mathematical Statistics 9(1), p. 62 (theorem).
    Owen, A. B. (1988), Empirical likelihood ratio confidence intervals for a single functional,
    Biometrika 75(2) (the likelihood of shares with a given mean).
    Dinkelbach, W. (1967), On nonlinear fractional programming, Management Science 13(7).

    Examples
    --------
    >>> from privacy.mechanism.mechanisms import RandomizedResponse
    >>> from privacy.shares.ratio_cells import scale_cells
    >>> five = RandomizedResponse.from_flips(symbols=5, flips=25)
    >>> cells = scale_cells(counts=[30, 40, 50, 50, 30], mechanism=five, points=range(5))
    >>> found = relaxed_likelihood_interval(cells=cells, level=.95)
    >>> round(found.low, 3), round(found.high, 3)
    (0.387, 0.699)
    """
    allowed = float(chdtri(1, 1 - check_level(level))) / 2
    low, high, ratio = 0.0, 1.0, cells.ratio
    fewest = cells.denominator @ _climb(cells, -cells.denominator, allowed)
    # If it is plausible that no one is counted, the ratio can be anything.
    if ratio is not None and fewest > 0:
        # No ratio lies outside [0, 1], so falls of the likelihood are measured from the nearer end.
        if ratio > 1:
            allowed += _drop(cells, _meet(cells, -cells.residuals(1.0)))
        elif ratio < 0:
            allowed += _drop(cells, _meet(cells, cells.residuals(0.0)))
        low = max(1 - _greatest_ratio(cells.turned(), allowed), 0.0)
        high = min(_greatest_ratio(cells, allowed), 1.0)
    return MeanInterval(low=low, high=high)


def _drop(cells: RatioCells, reported: Floats) -> float:
    """Return how far the log-likelihood falls below its value at the observed shares.

    Logarithms of ratios are added up, because a difference of two sums would lose precision.
    """
    seen = cells.counts > 0
    observed = cells.counts[seen] / cells.total
    change = np.maximum((reported[seen] - observed) / observed, _GONE)
    return -float(cells.counts[seen] @ np.log1p(change))


def _greatest_ratio(cells: RatioCells, allowed: float) -> float:
    """Find the greatest ratio over all reported shares that are likely enough (see `_drop`)."""
    ratio = _ratio_of(cells, cells.counts)
    for _ in range(_ROUNDS):
        before = ratio
        ratio = max(before, _ratio_of(cells, _climb(cells, cells.residuals(before), allowed)))
        if ratio - before <= _CLOSE:
            break
    return ratio


def _ratio_of(cells: RatioCells, reported: Floats) -> float:
    return float(reported @ cells.numerator) / float(reported @ cells.denominator)


def _climb(cells: RatioCells, scores: Floats, allowed: float) -> Floats:
    """Find the reported shares with the greatest mean score among those that are likely enough."""
    return _follow(cells, scores, lambda reported: _drop(cells, reported) - allowed)


def _meet(cells: RatioCells, scores: Floats) -> Floats:
    """Find the most likely reported shares whose mean score is 0."""
    return _follow(cells, scores, lambda reported: float(scores @ reported))


def _follow(cells: RatioCells, scores: Floats, excess: Callable[[Floats], float]) -> Floats:
    """Move away from the observed shares until the excess is 0.

    The path consists of the most likely shares for each mean score.
    """
    behind = scores.max() - scores
    weights = np.maximum(cells.counts, _HARDLY)

    def reported(step: float) -> Floats:
        raised = weights / (exp(step) + behind)
        shares: Floats = raised / raised.sum()
        return shares

    if excess(reported(_LEAST_STEP)) <= 0:
        return reported(_LEAST_STEP)
    if excess(reported(_MOST_STEP)) >= 0:  # only rounding is left
        return reported(_MOST_STEP)
    step = scipy.optimize.brentq(
        lambda step: excess(reported(step)),
        _LEAST_STEP,
        _MOST_STEP,
        xtol=1e-14,
        maxiter=_MOST_TRIALS,
    )
    return reported(float(step))
