"""The mean of a rating scale whose points are sent as codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import exp, log, log1p, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import chdtri, logsumexp

from privacy.checks import Floats, check_level, check_number, check_whole_counts
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.range_means import RangeMean

_CLOSE = 1e-13  # tolerance for a mean between 0 and 1
_ROUNDS = 60
# Stands for the reports of a code that nobody sent, whose share may still be positive.
_HARDLY = 1e-9
_GONE = -1 + 1e-15  # a share that has shrunk to nothing
_LEAST_STEP, _MOST_STEP = -100.0, 40.0  # as logarithms
# Number of means that are tried where those that are kept may not form an interval.
_TRIED = 33
_NODES = 256
_BELOW = 45.0  # values further below the peak, as a logarithm, do not count


def estimate_scale_mean(
    *,
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    points: Sequence[float],
    fixed_end: bool,
    level: float = 0.95,
) -> RangeMean:
    """Estimate the mean of a rating scale among those who were asked and answered.

    Parameters
    ----------
    counts : sequence of int, length k
        Reports showing each code: first one code for each point, in order; further ones mean
        refused or not asked.
    mechanism : RandomizedResponse
        The mechanism that produced the reports.
    points : sequence of float
        The value of each point, ascending; from 2 to k of them.
    fixed_end : bool
        Whether the survey ended at its frozen end. If so, the interval is for a single look;
        otherwise it is valid at every look.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    RangeMean
        Mean from the unbiased shares of the points, divided by that of all answers, with the delta
        method's standard error. The method is "likelihood_ratio_mean" at a fixed end, otherwise
        "betting_sequence_mean". If the estimated share of those who answered is not positive, there
        is no mean and the interval is the whole range.

    Raises
    ------
    ValueError
        If the counts do not match the mechanism or are not whole, there are no reports, the
        points are not ascending, too few or too many, or level is out of range.

    Notes
    -----
    Points are mapped to x from 0 to 1; q is the mean of x among the answers, and l_j = c + d p_j
    the share of reports with code j.

    Fixed end: q is kept if 2 (max L - L(q)) is at most the chi-square quantile (one degree of
    freedom), with L(q) the highest log-likelihood of reported shares l with sum h_j (l_j - c) = 0,
    where h_j is x_j - q for answers and 0 otherwise; max L is taken over q in [0, 1]. A single l_j
    may lie below c: the constraint is imposed on the mean only. With a constraint on every l_j,
    chi-square with one degree of freedom would be wrong where several points are empty: if
    everybody chooses the same end of 7 points, only 82 % of 95 % intervals would contain the true
    mean at epsilon = ln 3, and 74 % at 4. The ends are extremes of the mean over likely shares, l_j
    in proportion to N_j / (e - h_j), with q moved until it is the mean of its extreme shares
    (Dinkelbach). The interval is the whole scale where it is plausible that nobody answered, and it
    is never empty. It is valid for one look at the data, with the amount of data fixed in advance.
    About 94 % or more of simulated 95 % intervals at 100 to 1,000 reports contain the true mean, up
    to epsilon = 4.

    Watched: z is x for an answer and q for any other report, so that its expectation is m = q +
    c sum (x_j - q) at the true mean q. Then 1 - z with odds of (1 - u) / (1 - m) and z with odds
    of u / m is a fair bet for any u in [0, 1], and

        W(q) = integral of product ((1 - z) (1 - u) / (1 - m) + z u / m) over Beta(1/2, 1/2) of u

    is a nonnegative martingale, so by Ville's inequality the probability that it ever reaches
    1 / (1 - level) is at most 1 - level: all q with a smaller W are kept. If everybody answers, W
    is log-convex in q, so these q form an interval; otherwise the interval spans all that are found
    on a grid. For two points that everybody answers it is
    `privacy.shares.intervals.confidence_sequence`. With 5 to 7 points it extends 3.3 standard
    errors to either side at 200 reports, 3.7 at 2,000 and 4.2 at 100,000; the projection of a
    Dirichlet mixture over all codes, which has to cover every code, would extend 4.3, 6 and 8.

    References
    ----------
    Wilks, S. S. (1938), Annals of Mathematical Statistics 9(1), p. 62 (theorem).
    Owen, A. B. (1988), Empirical likelihood ratio confidence intervals for a single functional,
    Biometrika 75(2) (the likelihood of shares with a given mean).
    Dinkelbach, W. (1967), On nonlinear fractional programming, Management Science 13(7).
    Robbins, H. (1970), Annals of Mathematical Statistics 41(5), section 3 (mixtures).
    Waudby-Smith, I. and Ramdas, A. (2024), Estimating means of bounded random variables by
    betting, JRSS B 86(1), section 4; Orabona, F. and Jun, K.-S. (2024), Tight concentrations and
    confidence sequences from the regret of universal portfolio, IEEE Transactions on
    Information Theory 70(1) (bets mixed by a beta distribution).

    Examples
    --------
    >>> five = RandomizedResponse.from_flips(symbols=5, flips=25)
    >>> found = estimate_scale_mean(
    ...     counts=[150, 200, 250, 250, 150], mechanism=five, points=[1, 2, 3, 4, 5],
    ...     fixed_end=True,
    ... )
    >>> round(found.mean, 4), round(found.standard_error, 4)
    (3.175, 0.1421)
    """
    level = check_level(level)
    scale = _check(counts, mechanism, points)
    ratio, error = scale.estimate()
    if ratio is None:
        low, high, contradiction = 0.0, 1.0, False
    elif fixed_end:
        (low, high), contradiction = _invert_likelihood_ratio(scale, ratio, level), False
    else:
        low, high, contradiction = _invert_bets(scale, ratio, level)
    minimum, width = scale.points[0], scale.points[-1] - scale.points[0]
    return RangeMean(
        mean=None if ratio is None else minimum + width * ratio,
        standard_error=None if error is None else width * error,
        low=min(minimum + width * low, scale.points[-1]),
        high=min(minimum + width * high, scale.points[-1]),
        level=level,
        method="likelihood_ratio_mean" if fixed_end else "betting_sequence_mean",
        contradiction=contradiction,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Scale:
    """Checked reports of the points and of those who gave no answer."""

    counts: Floats
    points: tuple[float, ...]
    c: float
    d: float

    @cached_property
    def total(self) -> float:
        return float(self.counts.sum())

    @cached_property
    def answered(self) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = np.arange(len(self.counts)) < len(self.points)
        return mask

    @cached_property
    def places(self) -> Floats:
        """The values of the points, mapped to 0 to 1."""
        points = np.array(self.points)
        places: Floats = (points - points[0]) / (points[-1] - points[0])
        return places

    def drop(self, reported: Floats) -> float:
        """How far the log-likelihood falls; sums of logarithms would cancel."""
        seen = self.counts > 0
        observed = self.counts[seen] / self.total
        change = np.maximum((reported[seen] - observed) / observed, _GONE)
        return -float(self.counts[seen] @ np.log1p(change))

    def turned(self) -> _Scale:
        """The same scale with its points from last to first, so that q becomes 1 - q."""
        a = len(self.points)
        return _Scale(
            counts=np.concatenate([self.counts[:a][::-1], self.counts[a:]]),
            points=tuple(-point for point in self.points[::-1]),
            c=self.c,
            d=self.d,
        )

    def scores(self, ratio: float) -> Floats:
        """x - q of the answers, 0 of all other codes: their sum over true shares is 0."""
        others = len(self.counts) - len(self.points)
        return np.concatenate([self.places - ratio, np.zeros(others)])

    def ratio_of(self, reported: Floats) -> float:
        """The mean of x among those who answered, if reports have these shares."""
        shares = (reported - self.c)[self.answered]
        return float(self.places @ shares / shares.sum())

    def estimate(self) -> tuple[float | None, float | None]:
        """The ratio of the unbiased sums, and its error by the delta method."""
        reported = self.counts / self.total
        of_answers = float((reported - self.c)[self.answered].sum()) / self.d
        if of_answers <= 0:
            return None, None
        ratio = self.ratio_of(reported)
        scores = self.scores(ratio)
        variance = float(reported @ scores**2 - (reported @ scores) ** 2) / self.total
        return ratio, sqrt(max(variance, 0.0)) / (self.d * of_answers)


def _check(counts: Sequence[int], mechanism: RandomizedResponse, points: Sequence[float]) -> _Scale:
    k = mechanism.symbols
    cells = check_whole_counts("counts", counts, shape=(k,))
    if not cells.any():
        raise ValueError("counts must hold at least one report, got none")
    numbers = tuple(check_number("points", point) for point in points)
    if not 2 <= len(numbers) <= k:
        raise ValueError(f"points must be from 2 to {k} numbers, got {points!r}")
    if any(after <= before for before, after in pairwise(numbers)):
        raise ValueError(f"points must be ascending, got {points!r}")
    return _Scale(
        counts=cells.astype(np.float64),
        points=numbers,
        c=mechanism.other_probability,
        d=mechanism.slope,
    )


# --- likelihood ratio ----------------------------------------------------------------------------


def _invert_likelihood_ratio(scale: _Scale, ratio: float, level: float) -> tuple[float, float]:
    allowed = float(chdtri(1, 1 - level)) / 2
    if not scale.answered.all():
        # If it is plausible that nobody answered, the mean can be anything.
        fewest = _climb(scale, np.where(scale.answered, -1.0, 0.0), allowed)
        if (fewest - scale.c)[scale.answered].sum() <= 0:
            return 0.0, 1.0
    # Beyond the scale there is no mean: what counts is the fall from the end of the scale.
    if ratio > 1:
        allowed += scale.drop(_meet(scale, -scale.scores(1.0)))
    elif ratio < 0:
        allowed += scale.drop(_meet(scale, scale.scores(0.0)))
    low = 1 - _greatest_ratio(scale.turned(), allowed)
    return max(low, 0.0), min(_greatest_ratio(scale, allowed), 1.0)


def _greatest_ratio(scale: _Scale, allowed: float) -> float:
    """Find the greatest ratio among all reported shares that are likely enough."""
    ratio = scale.ratio_of(scale.counts / scale.total)
    for _ in range(_ROUNDS):
        before = ratio
        ratio = max(before, scale.ratio_of(_climb(scale, scale.scores(before), allowed)))
        if ratio - before <= _CLOSE:
            break
    return ratio


def _climb(scale: _Scale, scores: Floats, allowed: float) -> Floats:
    """The reported shares with the greatest mean score among those that are likely enough."""
    return _follow(scale, scores, lambda reported: scale.drop(reported) - allowed)


def _meet(scale: _Scale, scores: Floats) -> Floats:
    """The likeliest reported shares whose mean score is as if that of the true shares were 0."""
    return _follow(scale, scores, lambda reported: float(scores @ (reported - scale.c)))


def _follow(scale: _Scale, scores: Floats, excess: Callable[[Floats], float]) -> Floats:
    """Go from the observed shares along the likeliest ones, by score, until the excess is 0."""
    behind = scores.max() - scores
    weights = np.maximum(scale.counts, _HARDLY)

    def reported(step: float) -> Floats:
        raised = weights / (exp(step) + behind)
        shares: Floats = raised / raised.sum()
        return shares

    if excess(reported(_LEAST_STEP)) <= 0:
        return reported(_LEAST_STEP)
    if excess(reported(_MOST_STEP)) >= 0:  # only rounding is left
        return reported(_MOST_STEP)
    step = brentq(lambda step: excess(reported(step)), _LEAST_STEP, _MOST_STEP, xtol=1e-14)
    return reported(float(step))


# --- bets ----------------------------------------------------------------------------------------


def _invert_bets(scale: _Scale, ratio: float, level: float) -> tuple[float, float, bool]:
    inside = min(1.0, max(0.0, ratio))
    limit = -log1p(-level)

    def excess(mean: float) -> float:
        return _log_wealth(scale, mean) - limit

    tried = {inside, 0.0, 1.0}
    if not scale.answered.all():
        tried |= set(np.linspace(0.0, 1.0, _TRIED).tolist())
    means = sorted(tried)
    kept = [place for place, mean in enumerate(means) if excess(mean) < 0]
    if not kept:
        return inside, inside, True
    first, last = kept[0], kept[-1]
    low, high = means[first], means[last]
    # Slightly further, so that rounding cuts nothing off.
    if first > 0:
        found = float(brentq(excess, means[first - 1], low, xtol=_CLOSE))
        low = max(found - _CLOSE, means[first - 1])
    if last < len(means) - 1:
        found = float(brentq(excess, high, means[last + 1], xtol=_CLOSE))
        high = min(found + _CLOSE, means[last + 1])
    return low, high, False


def _log_wealth(scale: _Scale, mean: float) -> float:
    """ln W: the logarithm of what a stake of 1 has become in mixed fair bets against this mean."""
    value = np.full(len(scale.counts), mean)
    value[scale.answered] = scale.places
    expected = mean + scale.c * float(scale.scores(mean).sum())
    seen = scale.counts > 0
    odds = (value[seen] - expected) / (expected * (1 - expected))
    counts = scale.counts[seen]

    def log_product(angles: Floats) -> Floats:
        bets = np.sin(angles / 2) ** 2
        # 1 + ... is (1 - z) (1 - u) / (1 - m) + z u / m.
        product: Floats = np.log1p(np.outer(bets - expected, odds)) @ counts
        return product

    return _log_mean(log_product)


def _log_mean(log_values: Callable[[Floats], Floats]) -> float:
    """The logarithm of a mean over the angles of a half circle, where it has one peak.

    Over the angle, Beta(1/2, 1/2) is uniform, and the midpoint rule for a function that is smooth
    and even around the circle is Gauss-Chebyshev quadrature. The peak may be very narrow: zoom in
    until it fills the range.
    """
    low, high = 0.0, pi
    while True:
        width = (high - low) / _NODES
        values = log_values(np.linspace(low + width / 2, high - width / 2, _NODES))
        counted = np.flatnonzero(values > values.max() - _BELOW)
        first, last = int(counted[0]) - 1, int(counted[-1]) + 1
        if last - first > _NODES / 4:
            return float(logsumexp(values)) + log(width / pi)
        low, high = max(low, low + first * width), min(high, low + (last + 1) * width)
