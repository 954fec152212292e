"""A share among some people, estimated from all the questions that decide who is asked.

A question behind a rule is asked if and only if the rule holds. Its code and the codes of the
questions that the rule reads therefore all carry information about who was asked, and some
combinations of true answers cannot occur. Excluding these combinations makes the estimated share
among those asked more precise.
"""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import chdtri, xlog1py

from privacy.checks import Floats, check_level
from privacy.level import LEVEL
from privacy.shares.conditional import ConditionalShare
from privacy.shares.joint.cells import JointCells
from privacy.shares.joint.weights import efficient_weights

METHOD = "likelihood_ratio_joint"

_ROUNDS = 200
_HALVINGS = 30
_HEAVY = 1e3  # weight of the equations that Newton's step must solve
_SETTLED = 1e-9  # most that a further step could add to the log-likelihood
_ROUNDING = 1e-14  # the same limit for each report
_EXACT = 1e-9  # tolerance for an end of an interval
_SHALLOW = 1e-3  # below this, the root of the statistic is mostly rounding error
_HARDLY = 1e-9  # a true share that cannot be distinguished from 0


def joint_share(*, cells: JointCells, level: float = LEVEL) -> ConditionalShare:
    """Estimate the share of an event among those who are counted, by joint likelihood.

    Parameters
    ----------
    cells : JointCells
        The reports of all questions that say who is counted.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    ConditionalShare
        The estimate, with method "likelihood_ratio_joint". `share` is the most likely share, so it
        lies in [0, 1] and in the interval; it is None where most likely no one is counted.
        `standard_error` comes from the delta method. The interval is never empty.

    Raises
    ------
    ValueError
        If level is out of range.

    Notes
    -----
    Let p be the shares of the true combinations, and K the channel. L(q) is the highest value of
    sum N ln(K p) over all p in the simplex for which the share of the event is a fraction q of the
    share counted. A fraction q is kept if 2 (max L - L(q)) is at most the chi-square quantile of
    the level, with one degree of freedom. The likely p form a convex set, so the values of q that
    are kept form an interval. It is [0, 1] where it is plausible that no one is counted. The
    interval is valid for one look at the data, with the amount of data fixed in advance.

    The maximum is found by Newton steps within the simplex (Wang), each of which solves a
    nonnegative least-squares problem (Lawson and Hanson). Computing an interval takes milliseconds
    for up to about 50 true combinations, and seconds for several hundred.

    References
    ----------
    Wilks, S. S. (1938), Annals of Mathematical Statistics 9(1), p. 62 (theorem).
    Wang, Y. (2007), JRSS B 69(2), section 3.
    Lawson, C. L. and Hanson, R. J. (1974), Solving Least Squares Problems, chapters 22 and 23.

    Examples
    --------
    A follow-up (no, yes, not asked) that is asked if and only if the parent is yes:

    >>> from privacy.mechanism.mechanisms import RandomizedResponse
    >>> parent = RandomizedResponse.from_flips(symbols=2, flips=25).channel()
    >>> child = RandomizedResponse.from_flips(symbols=3, flips=25).channel()
    >>> possible = [(0, 2), (1, 0), (1, 1)]
    >>> found = joint_share(cells=JointCells(
    ...     counts=np.array([280, 260, 660, 280, 220, 300]),
    ...     channel=np.array([np.kron(parent[:, i], child[:, j]) for i, j in possible]).T,
    ...     event=np.array([False, False, True]), counted=np.array([False, True, True]),
    ... ))
    >>> round(found.share, 3), round(found.low, 3), round(found.high, 3)
    (0.333, 0.218, 0.449)
    """
    level = check_level(level)
    likelihood = _Likelihood(cells)
    best, _ = likelihood.maximize(None)
    among = float(best[cells.counted].sum())
    share = float(best[cells.event].sum()) / among if among > _HARDLY else None
    inside = 0.5 if share is None else min(share, 1.0)
    error = None if share is None else _standard_error(cells, best, share)
    low, high = likelihood.invert(inside, error=error, limit=float(chdtri(1, 1 - level)))
    return ConditionalShare(
        share=share,
        standard_error=error,
        among_share=among,
        low=low,
        high=high,
        level=level,
        method=METHOD,
    )


def _standard_error(cells: JointCells, shares: Floats, share: float) -> float:
    """Compute the standard error of a ratio by the delta method, at the most likely shares."""
    # Move slightly inside the simplex. Combinations that cannot be reported get the weight 0.
    inside = (shares + _HARDLY) / (shares + _HARDLY).sum()
    reported = cells.channel @ inside
    event, counted = efficient_weights(
        channel=cells.channel,
        numerator=cells.event.astype(np.float64),
        denominator=cells.counted.astype(np.float64),
        reported=reported,
    )
    residual = event - share * counted
    variance = float(reported @ residual**2) / float(cells.counts.sum())
    return sqrt(variance) / float(inside[cells.counted].sum())


class _Likelihood:
    """The likelihood of true shares that are free or have a given fraction of the event."""

    def __init__(self, cells: JointCells) -> None:
        seen = cells.counts > 0
        self._counts = cells.counts[seen].astype(np.float64)
        self._total = float(self._counts.sum())
        self._observed = self._counts / self._total
        self._roots = np.sqrt(self._observed)
        self._channel = cells.channel[seen]
        self._event, self._others = cells.event, cells.counted & ~cells.event

    def invert(self, inside: float, *, error: float | None, limit: float) -> tuple[float, float]:
        """Return the ends of the interval of fractions whose statistic is at most `limit`."""
        start, _ = self.maximize(None)
        least = self._drop(start)
        step = 0.1 if error is None else sqrt(limit) * error
        low, high = (
            self._find_end(inside, end=end, step=step, least=least, limit=limit, start=start)
            for end in (0.0, 1.0)
        )
        return low, high

    def _find_end(
        self, inside: float, *, end: float, step: float, least: float, limit: float, start: Floats
    ) -> float:
        """Find where the statistic reaches `limit` between `inside` and `end`.

        Newton's method is applied to the square root of the statistic, which is nearly linear.
        """
        wanted, kept, beyond = sqrt(limit), inside, end
        is_beyond = False  # whether the statistic exceeds `limit` at `beyond`
        place = inside + step if end > inside else inside - step
        for _ in range(_ROUNDS):
            if not min(kept, beyond) < place < max(kept, beyond):
                place = (kept + beyond) / 2 if is_beyond else end
            start, drop = self.maximize(place, start=start)
            root = sqrt(max(2 * (drop - least), 0.0))
            if root > wanted:
                beyond, is_beyond = place, True
            elif place == end:
                return end
            else:
                kept = place
            if abs(beyond - kept) <= _EXACT:
                break
            slope = 0.0 if place == end else self._slope(start, place) / max(root, _SHALLOW)
            if slope == 0:
                place = beyond  # there is no step: halve, or try the end
                continue
            change = (wanted - root) / slope
            place += change
            if abs(change) <= _EXACT:
                return end if abs(end - place) <= _EXACT else place
        return end if abs(end - kept) <= _EXACT else kept

    def _slope(self, shares: Floats, fraction: float) -> float:
        """Return the rate at which the least drop changes with a fraction between 0 and 1.

        The shares within the event and within the others can be held fixed, because they are
        optimal (envelope theorem).
        """
        pull = (self._counts / (self._channel @ shares)) @ self._channel
        gained = pull[self._event] @ shares[self._event] / fraction
        lost = pull[self._others] @ shares[self._others] / (1 - fraction)
        return float(lost - gained)

    def maximize(self, fraction: float | None, start: Floats | None = None) -> tuple[Floats, float]:
        """Find the most likely true shares and their drop, as defined in `_drop`.

        The drop is infinite where the fraction makes a reported combination impossible.
        """
        allowed = self._allowed(fraction)
        shares = np.where(allowed, 1.0, 0.0) if start is None else start + _HARDLY * allowed
        shares = self._meet(shares * allowed, fraction)
        if not self._channel[:, allowed].any(axis=1).all():
            return shares, inf
        equations = self._equations(fraction)[:, allowed]
        drop = self._drop(shares)
        settled = max(_SETTLED, _ROUNDING * self._total)
        for _ in range(_ROUNDS):
            scaled = self._channel / (self._channel @ shares)[:, None]
            rows = np.vstack([scaled[:, allowed] * self._roots[:, None], _HEAVY * equations])
            right = np.zeros(len(rows))
            right[: len(self._roots)] = 2 * self._roots
            right[len(self._roots)] = _HEAVY
            target = np.zeros(len(shares))
            target[allowed], _ = scipy.optimize.nnls(rows, right)
            change = self._meet(target, fraction) - shares
            if self._counts @ (scaled @ change) < settled:
                return shares, drop
            for halvings in range(_HALVINGS):
                moved = shares + change / 2**halvings
                lower = self._drop(moved)
                if lower < drop:
                    break
            else:
                return shares, drop  # rounding hides any further rise
            shares, drop = moved, lower
        raise ArithmeticError(f"the likelihood did not settle within {_ROUNDS} rounds")

    def _allowed(self, fraction: float | None) -> NDArray[np.bool_]:
        allowed = np.ones(len(self._event), dtype=bool)
        if fraction == 0:
            allowed &= ~self._event
        if fraction == 1:
            allowed &= ~self._others
        return allowed

    def _equations(self, fraction: float | None) -> Floats:
        """Return the rows of the linear equations that the shares must satisfy.

        The product of the first row with the shares must be 1. If there is a fraction, the product
        of a second row with the shares must be 0.
        """
        rows = [np.ones(len(self._event))]
        if fraction is not None:
            rows.append((1 - fraction) * self._event - fraction * self._others)
        return np.array(rows)

    def _meet(self, shares: Floats, fraction: float | None) -> Floats:
        """Scale the shares so that they satisfy the equations despite rounding errors."""
        met = shares.copy()
        if fraction is not None:
            parts = [(self._event, fraction), (self._others, 1 - fraction)]
            masses = [float(met[part].sum()) for part, _ in parts]
            for (part, wanted), mass in zip(parts, masses, strict=True):
                met[part] *= wanted * sum(masses) / mass if mass > 0 else 0.0
        whole: Floats = met / met.sum()
        return whole

    def _drop(self, shares: Floats) -> float:
        """Return how far the log-likelihood is below its value at the observed reported shares."""
        change = (self._channel @ shares - self._observed) / self._observed
        if (change <= -1).any():
            return inf
        return -float(xlog1py(self._counts, change).sum())
