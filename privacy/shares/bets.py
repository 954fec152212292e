"""Intervals for ratios where few answers are swapped, because fair bets make nobody rich."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, sqrt

import numpy as np
from scipy.special import expit, logit, logsumexp

from privacy.checks import Floats, check_level, check_number
from privacy.shares.ratio_cells import RatioCells

_PARAMETER = 0.5  # of the beta distribution of bets: Beta(1/2, 1/2)
_EVERYWHERE = np.linspace(0.0, 1.0, 9)  # ratios that are tried first
_NEARBY = np.array([-9.0, -6.0, -4.5, -3.5, -2.5, 2.5, 3.5, 4.5, 6.0, 9.0])  # in standard errors
_CLOSE = 1e-10  # tolerance for a ratio
_ROUNDS = 100
_FALL = 34.0  # logarithm; values further below the peak are ignored
# Distance between two nodes, in widths of the peak: more would lose digits.
_STEP = 0.35
_NEAR = 0.1  # tolerance for the place of the peak, in its widths
_LEAST_BET = 1e-300  # instead of 0, whose logarithm would be infinite
_LADDER = 6 * 1.5 ** np.arange(14)  # distances from the peak at which it may have fallen


@dataclass(frozen=True, kw_only=True)
class RatioInterval:
    """The ratios that are kept.

    Attributes
    ----------
    low, high : float
        Ends, 0 <= low <= high <= 1.
    contradiction : bool
        True if no ratio is kept; low = high is then the one that is least implausible.
    """

    low: float
    high: float
    contradiction: bool


def betting_sequence(*, cells: RatioCells, level: float) -> RatioInterval:
    """Find the ratios that fair bets do not rule out, however often you look.

    Parameters
    ----------
    cells : RatioCells
        The reports, with the functions A and B whose means form the ratio.
    level : float
        Confidence level, in (0, 1).

    Returns
    -------
    RatioInterval
        The interval that spans all ratios that are kept. It may be all of [0, 1], and is where it
        appears that nobody is counted.

    Raises
    ------
    ValueError
        If level is out of range, or A - q B has one sign for some q: then q cannot be the ratio.

    Notes
    -----
    For a ratio q, h = A - q B is mapped to z from 0 to 1 over all cells that can be reported; its
    mean under q is then m. For any u in [0, 1], (1 - z) (1 - u) / (1 - m) + z u / m has mean 1: a
    fair bet. So

        W(q) = integral of product ((1 - z) (1 - u) / (1 - m) + z u / m) over Beta(1/2, 1/2) of u

    is a nonnegative martingale at the true q, and by Ville's inequality the probability that it
    ever reaches 1 / (1 - level) is at most 1 - level: all q with a smaller W are kept. Where z is 0
    or 1 for every report, this is `privacy.shares.intervals.confidence_sequence`.

    The logarithm of the product is concave in u, and at most 0 where the mean of h is 0 in the
    reports, so the estimated ratio is kept if it lies in [0, 1]. What is kept may fall into two
    parts where hardly anybody is counted; the interval spans both.

    The integral is taken over the log odds of u by the trapezoidal rule, whose error falls
    exponentially with the number of nodes because the integrand is analytic and vanishes at both
    ends: relative to W it is below 10**-8.

    References
    ----------
    Waudby-Smith, I. and Ramdas, A. (2024), Estimating means of bounded random variables by
    betting, JRSS B 86(1), section 4.
    Orabona, F. and Jun, K.-S. (2024), Tight concentrations and confidence sequences from the
    regret of universal portfolio, IEEE Transactions on Information Theory 70(1) (bets mixed by a
    beta distribution).
    Robbins, H. (1970), Annals of Mathematical Statistics 41(5), section 3 (mixtures).

    Examples
    --------
    >>> from privacy.mechanism.mechanisms import RandomizedResponse
    >>> from privacy.shares.ratio_cells import conditional_cells
    >>> refusal = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> cells = conditional_cells(
    ...     counts=[1000, 500, 500], mechanism=refusal, event=[1], among=[0, 1]
    ... )
    >>> found = betting_sequence(cells=cells, level=.95)
    >>> round(found.low, 3), round(found.high, 3)
    (0.044, 0.243)
    """
    limit = -np.log1p(-check_level(level))
    wealth = _Wealth(cells=cells.merged())
    if cells.ratio is None:
        return RatioInterval(low=0.0, high=1.0, contradiction=False)
    tried = _list_ratios(cells.ratio, cells.standard_error or 0.0)
    excess = wealth.log(tried) - limit
    kept = np.flatnonzero(excess < 0)
    if not len(kept):
        least = float(tried[excess.argmin()])
        return RatioInterval(low=least, high=least, contradiction=True)
    first, last = int(kept[0]), int(kept[-1])
    inner = np.array([first, last])
    outer = np.array([max(first - 1, 0), min(last + 1, len(tried) - 1)])
    low, high = wealth.approach(
        limit, tried[outer], tried[inner], excess[outer], excess[inner]
    ).tolist()
    return RatioInterval(low=low, high=high, contradiction=False)


def bet_width(*, total: float, level: float) -> float:
    """Find how many standard errors the interval of bets reaches to either side, about.

    Parameters
    ----------
    total : float
        Reports n, at least 1.
    level : float
        Confidence level, in (0, 1).

    Returns
    -------
    float
        sqrt(2 ln(1 / (1 - level)) + ln(pi n / 2)).

    Raises
    ------
    ValueError
        If total or level is out of range.

    Notes
    -----
    ln W is z**2 / 2 - ln(pi n / 2) / 2 at z standard errors, for reports that are 0 or 1.

    Examples
    --------
    >>> round(bet_width(total=100, level=.95), 2)
    3.32
    """
    number = check_number("total", total)
    if number < 1:
        raise ValueError(f"total must be at least 1, got {total!r}")
    return sqrt(-2 * log(1 - check_level(level)) + log(pi * number / 2))


def _list_ratios(ratio: float, error: float) -> Floats:
    """List the ratios to try first: a grid that is finer near the estimate and the ends."""
    nearby = ratio + error * _NEARBY
    return np.unique(np.clip(np.concatenate([_EVERYWHERE, [ratio], nearby]), 0.0, 1.0))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Wealth:
    """The wealth that a stake of 1 has become in a mixture of fair bets against ratios.

    Arrays have an axis of ratios, one of nodes and one of cells.
    """

    cells: RatioCells

    def log(self, ratios: Floats) -> Floats:
        """ln W for each of several ratios."""
        h = self.cells.numerator - ratios[:, None] * self.cells.denominator
        most, least = h.max(axis=1), h.min(axis=1)
        if not ((most > 0) & (least < 0)).all():
            raise ValueError("cells must give A - q B both signs for every ratio q from 0 to 1")
        seen = self.cells.counts > 0
        product = _Product(
            counts=self.cells.counts[seen],
            # (1 - z) / (1 - m) and z / m
            lost=1 - h[:, None, seen] / most[:, None, None],
            won=1 - h[:, None, seen] / least[:, None, None],
        )
        return product.log_mean()

    def approach(
        self, limit: float, outer: Floats, inner: Floats, over: Floats, under: Floats
    ) -> Floats:
        """Move outwards from ratios that are kept to just beyond the ends of the kept ratios.

        The regula falsi with the weights of Anderson and Björck (1973), for both ends at once.
        """
        # An end of [0, 1] that is kept stays.
        going = outer != inner
        before = np.zeros_like(outer)
        for _ in range(_ROUNDS):
            going &= np.abs(outer - inner) > _CLOSE
            if not going.any():
                break
            share = under / np.where(going, under - over, 1.0)
            # Never quite at an end of the bracket, so that it shrinks.
            between = inner + np.clip(share, 0.01, 0.99) * (outer - inner)
            value = self.log(between) - limit
            kept = value < 0
            again = np.sign(value) == before
            weight = 1 - value / np.where(kept, under, over)
            weight = np.where(again, np.where(weight > 0, weight, 0.5), 1.0)
            over, under = (
                np.where(kept, over * weight, value),
                np.where(kept, value, under * weight),
            )
            outer = np.where(going & ~kept, between, outer)
            inner = np.where(going & kept, between, inner)
            before = np.sign(value)
        return outer


@dataclass(frozen=True, kw_only=True, eq=False)
class _Product:
    """The product of all bets for each ratio, as a function of the fraction that is bet on z."""

    counts: Floats
    lost: Floats
    won: Floats

    def log_mean(self) -> Floats:
        """The logarithm of its mean over Beta(1/2, 1/2)."""

        def log_value(log_odds: Floats) -> Floats:
            u, rest = expit(log_odds)[..., None], expit(-log_odds)[..., None]
            bets = self.lost * rest + self.won * u
            value: Floats = np.log(np.maximum(bets, _LEAST_BET)) @ self.counts
            # With the derivative of u: u**a (1 - u)**b, without 0 times infinity.
            value -= _PARAMETER * (np.logaddexp(0, -log_odds) + np.logaddexp(0, log_odds))
            return value

        peak, width = (each[:, None] for each in self._find_peak())
        top = log_value(peak)
        ends = []
        for side in (-1, 1):
            fallen = log_value(peak + side * width * _LADDER) < top - _FALL
            # The last rung is beyond every peak: nothing is wider than Beta(1/2, 1/2).
            fallen[..., -1] = True
            ends.append(_LADDER[fallen.argmax(axis=-1)])
        below, above = ends
        nodes = int(np.ceil((below + above).max() / _STEP)) + 1
        places = np.linspace(-below, above, nodes, axis=-1)
        values = log_value(peak + width * places)
        step = width[..., 0] * (below + above) / (nodes - 1)
        mean: Floats = logsumexp(values, axis=-1) + np.log(step) - log(pi)
        return mean

    def _find_peak(self) -> tuple[Floats, Floats]:
        """Find the log odds with the greatest value, and the width of the peak."""
        total = self.counts.sum() + 2 * _PARAMETER
        low = np.full(len(self.won), logit(_PARAMETER / total))
        high, place = -low, np.zeros_like(low)
        for _ in range(_ROUNDS):
            u = expit(place)
            part = self.won[:, 0] * u[:, None]
            part = part / (part + self.lost[:, 0] * expit(-place)[:, None])
            slope = part @ self.counts + _PARAMETER - total * u
            curve = total * u * (1 - u) - (part * (1 - part)) @ self.counts
            low, high = np.where(slope > 0, place, low), np.where(slope > 0, high, place)
            step = slope / np.where(curve > 0, curve, 1.0)
            near = (curve > 0) & (np.abs(step) * np.sqrt(np.maximum(curve, 0)) < _NEAR)
            if near.all():
                break
            next_place = place + step
            inside = (curve > 0) & (low < next_place) & (next_place < high)
            place = np.where(inside, next_place, (low + high) / 2)
        return place, 1 / np.sqrt(curve)
