"""Profile-likelihood intervals for any smooth estimand of a table of true answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import chdtri, xlog1py

from privacy.associations.maximum_likelihood import (
    check_table,
    log_likelihood_of,
    maximize_likelihood,
)
from privacy.checks import Floats, check_distribution, check_level, check_not_negative

# The smallest share. It keeps ratios defined, and its effect on results is negligible.
_FLOOR = 1e-12
_HAIR = 1e-9
_STEP = 1e-30  # for the complex-step derivative, which subtracts nothing and so loses no precision
_SLACK = 1e-3  # relative tolerance for the drop in log-likelihood
_STARTS = (0.95,)
_BEST_STARTS = 3  # the best mixtures of extreme points, kept as starts
_MIXES = 150
_PULLS = 40


def profile_interval(
    *,
    counts: NDArray[np.int64],
    channel: Floats,
    shares: Floats,
    estimand: Callable[[NDArray[Any]], Any],
    level: float,
    limits: tuple[float, float],
) -> tuple[float, float]:
    """Find all values of an estimand that a likelihood-ratio test does not reject.

    Parameters
    ----------
    counts : ndarray of int64, shape (reported,)
        Number of reports in each reported cell.
    channel : ndarray of float64, shape (reported, cells)
        Probability of each reported cell given each true one; the columns are linearly independent.
    shares : ndarray of float64, shape (cells,)
        The most likely true shares.
    estimand : callable
        Maps shares, real or complex, to one number by analytic operations.
    level : float
        Confidence level, in (0, 1).
    limits : tuple of float
        Least and greatest values that the estimand can have.

    Returns
    -------
    low, high : float
        The least and greatest values of the estimand over all shares whose log-likelihood is
        within half of the chi-square quantile (one degree of freedom) of the maximum.

    Raises
    ------
    ValueError
        If counts, channel, shares, level or limits are out of range or do not match.

    Notes
    -----
    The interval is valid for one look at the data, with the amount of data fixed in advance. For
    several estimands of one table, or for estimands that are 0 / 0 where some cells are empty, see
    `LikelyShares`.

    References
    ----------
    Venzon, D. J. and Moolgavkar, S. H. (1988), A method for computing profile-likelihood-based
    confidence intervals, Applied Statistics 37(1), section 2.
    Kraft, D. (1988), A software package for sequential quadratic programming, DFVLR-FB 88-28.

    Examples
    --------
    >>> import numpy as np
    >>> reports, identity = np.array([30, 70]), np.eye(2)
    >>> low, high = profile_interval(
    ...     counts=reports, channel=identity, shares=np.array([.3, .7]),
    ...     estimand=lambda shares: shares[0], level=.95, limits=(0, 1),
    ... )
    >>> round(low, 4), round(high, 4)
    (0.216, 0.3941)
    """
    region = LikelyShares(counts=counts, channel=channel, shares=shares, level=level)
    return region.interval(estimand=estimand, limits=limits)


class LikelyShares:
    """The true shares that a likelihood-ratio test with one degree of freedom does not reject.

    Parameters
    ----------
    counts, channel, shares, level
        As for `profile_interval`.
    parts : sequence of ndarray of bool, optional
        Sets of cells on whose sums the estimands depend; by default single cells. Searches also
        start from mixtures of the points where these sums are extreme.
    spent : float, optional
        How far the log-likelihood of `shares` is below the maximum, if `shares` is the most likely
        point under a restriction.

    Raises
    ------
    ValueError
        If counts, channel, shares, parts, level or spent are out of range or do not match.

    Notes
    -----
    The region is convex. An estimand is minimized and maximized over it by sequential quadratic
    programming, in coordinates u in which the region is nearly a ball: shares = best + axes u.
    Estimands such as a difference of ratios have several local extremes, so searches also start
    from mixtures of the points where the sums of parts are extreme. Mixtures lie inside because the
    region is convex.
    """

    def __init__(
        self,
        *,
        counts: NDArray[np.int64],
        channel: Floats,
        shares: Floats,
        level: float,
        parts: Sequence[NDArray[np.bool_]] | None = None,
        spent: float = 0.0,
    ) -> None:
        check_table(counts=counts, channel=channel)
        check_distribution("shares", shares, symbols=channel.shape[1])
        level = check_level(level)
        spent = check_not_negative("spent", spent)
        self._counts = counts
        self._weights = counts.astype(np.float64)
        self._channel = channel
        self._level = level
        self._parts = list(np.eye(len(shares), dtype=bool)) if parts is None else list(parts)
        if any(np.shape(part) != np.shape(shares) for part in self._parts):
            raise ValueError(f"parts must each have {len(shares)} entries, got {parts!r}")
        # Move slightly inside the simplex, so that there is room in every direction.
        cells = len(shares)
        self._best = (shares + _HAIR) / (shares.sum() + cells * _HAIR)
        self._reported = channel @ self._best
        most = channel @ shares
        self._most = log_likelihood_of(counts=counts, channel=channel, shares=shares) + spent
        self._short = spent - float(xlog1py(self._weights, (self._reported - most) / most).sum())
        self._allowed = float(chdtri(1, 1 - level)) / 2
        self._axes = self._whiten()

    def interval(
        self, *, estimand: Callable[[NDArray[Any]], Any], limits: tuple[float, float]
    ) -> tuple[float, float]:
        """Find an estimand's least and greatest values; arguments as for `profile_interval`."""
        if not limits[0] < limits[1]:
            raise ValueError(f"limits must be a smaller and a larger value, got {limits!r}")
        low = self._extreme(estimand, sign=1.0)
        high = self._extreme(estimand, sign=-1.0)
        # The search stays slightly away from shares of 0.
        return (
            limits[0] if low < limits[0] + _HAIR else low,
            limits[1] if high > limits[1] - _HAIR else high,
        )

    def without(self, cells: NDArray[np.bool_]) -> LikelyShares | None:
        """Return the likely shares that are 0 in `cells`, or None if there are no such shares."""
        rest = ~cells
        if not rest.any():
            return None
        channel = self._channel[:, rest]
        shares, height = maximize_likelihood(counts=self._counts, channel=channel)
        spent = max(0.0, self._most - height)
        if spent > self._allowed:
            return None
        return LikelyShares(
            counts=self._counts,
            channel=channel,
            shares=shares,
            level=self._level,
            parts=[part[rest] for part in self._parts],
            spent=spent,
        )

    def _whiten(self) -> Floats:
        """Return directions that keep the sum of the shares, each as long as one standard error."""
        cells = len(self._best)
        # Find an orthonormal basis of the changes of shares that sum to zero.
        basis = np.linalg.qr(np.eye(cells) - 1 / cells)[0][:, : cells - 1]
        changed = self._channel @ basis
        information = changed.T @ (changed * (self._weights.sum() / self._reported)[:, None])
        values, vectors = np.linalg.eigh(information)
        axes: Floats = basis @ (vectors / np.sqrt(values))
        return axes

    def _drop(self, u: Floats) -> float:
        """Return how far the log-likelihood is below its maximum."""
        change = self._channel @ (self._axes @ u) / self._reported
        if (change <= -1).any():
            return float("inf")
        return self._short - float(xlog1py(self._weights, change).sum())

    def _drop_gradient(self, u: Floats) -> Floats:
        reported = self._reported + self._channel @ (self._axes @ u)
        slope: Floats = np.asarray(
            -(self._weights / reported) @ self._channel @ self._axes, dtype=np.float64
        )
        return slope

    def _shares_at(self, u: Floats) -> Floats:
        shares: Floats = np.maximum(self._best + self._axes @ u, _FLOOR)
        return shares

    def _extreme(self, estimand: Callable[[NDArray[Any]], Any], *, sign: float) -> float:
        """Search several times for the estimand's least (sign 1) or greatest (sign -1) value."""

        def value(u: Floats) -> float:
            return sign * float(np.real(estimand(self._shares_at(u))))

        def gradient(u: Floats) -> Floats:
            return sign * _differentiate(estimand, self._shares_at(u)) @ self._axes

        mixes = sorted(self._mixes, key=value)[:_BEST_STARTS]
        starts = [*self._quadratic_starts(gradient), *mixes]
        found = [value(self._search(value, gradient, start)) for start in starts]
        return sign * min(*found, *map(value, mixes))

    def _search(
        self, value: Callable[[Floats], float], gradient: Callable[[Floats], Floats], start: Floats
    ) -> Floats:
        """Minimize a function within the region, from one start."""
        if start.size == 0:
            return start
        constraints = [
            {
                "type": "ineq",
                "fun": lambda u: self._allowed - self._drop(u),
                "jac": lambda u: -self._drop_gradient(u),
            },
            {
                "type": "ineq",
                "fun": lambda u: self._best + self._axes @ u - _FLOOR,
                "jac": lambda u: self._axes,  # noqa: ARG005
            },
        ]
        result = scipy.optimize.minimize(
            value,
            start,
            jac=gradient,
            constraints=constraints,
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 300},
        )
        return self._pull(result.x, start)

    @cached_property
    def _mixes(self) -> list[Floats]:
        """Return points spread over the region: mixtures of the points where parts are extreme."""
        zero = np.zeros(self._axes.shape[1])
        ends = [zero]
        for part in self._parts:
            slope = self._axes[part].sum(axis=0)
            length = float(np.linalg.norm(slope))
            if length == 0:
                continue
            for sign in (1.0, -1.0):
                down = sign * slope / length
                ends.append(
                    self._search(
                        lambda u, down=down: float(down @ u),  # type: ignore[misc]
                        lambda u, down=down: down,  # type: ignore[misc]  # noqa: ARG005
                        zero,
                    )
                )
        # The seed is fixed, so that the same reports give the same interval.
        draw = np.random.default_rng(0)
        weights = draw.dirichlet(np.full(len(ends), 2 / len(ends)), size=_MIXES)
        even = np.full((1, len(ends)), 1 / len(ends))
        return list(np.vstack([even, weights]) @ np.array(ends))

    def _quadratic_starts(self, gradient: Callable[[Floats], Floats]) -> list[Floats]:
        """Return points on the way to the extreme under a quadratic likelihood."""
        zero = np.zeros(self._axes.shape[1])
        direction = -gradient(zero)
        length = float(np.linalg.norm(direction))
        if not np.isfinite(length) or length == 0:
            return [zero]
        full = direction / length * sqrt(2 * self._allowed)
        return [self._pull(full * part, zero) for part in _STARTS]

    def _pull(self, u: Floats, inside: Floats) -> Floats:
        """Move `u` towards the point `inside` until it lies in the region, which is convex."""
        if self._holds(u):
            return u
        kept, dropped = 0.0, 1.0
        for _ in range(_PULLS):
            middle = (kept + dropped) / 2
            if self._holds(inside + middle * (u - inside)):
                kept = middle
            else:
                dropped = middle
        moved: Floats = inside + kept * (u - inside)
        return moved

    def _holds(self, u: Floats) -> bool:
        inside = bool((self._best + self._axes @ u >= -_FLOOR).all())
        return inside and self._drop(u) <= self._allowed * (1 + _SLACK)


def _differentiate(estimand: Callable[[NDArray[Any]], Any], shares: Floats) -> Floats:
    slopes = np.empty(len(shares))
    for cell in range(len(shares)):
        shifted = shares.astype(np.complex128)
        shifted[cell] += 1j * _STEP
        slopes[cell] = np.imag(estimand(shifted)) / _STEP
    return slopes
