"""Profile-likelihood intervals for any smooth figure of a table of true answers."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import chdtri, xlog1py

from privacy.intervals import Floats, check_level

# Of a share: figures such as ratios stay defined, and no figure that is shown can see it.
_FLOOR = 1e-12
_HAIR = 1e-9
_STEP = 1e-30  # of the complex-step derivative: no difference is taken, so nothing cancels
_SLACK = 1e-3  # of the drop in likelihood, which is of the order of 1 to 10
_STARTS = (0.95, 0.5, 0.1)


def profile_interval(
    *,
    counts: NDArray[np.int64],
    channel: Floats,
    shares: Floats,
    figure: Callable[[NDArray[Any]], Any],
    level: float,
    limits: tuple[float, float],
) -> tuple[float, float]:
    """Find all values of a figure that a likelihood-ratio test does not reject.

    Parameters
    ----------
    counts : ndarray of int64, shape (reported,)
        Reports in each reported cell.
    channel : ndarray of float64, shape (reported, cells)
        Probabilities of the reported cell given the true one; columns linearly independent.
    shares : ndarray of float64, shape (cells,)
        The most likely true shares.
    figure : callable
        Maps shares, real or complex, to one number by analytic operations.
    level : float
        Confidence level, in (0, 1).
    limits : tuple of float
        Least and greatest value that the figure can have.

    Returns
    -------
    low, high : float
        The least and greatest value of the figure over all shares whose log-likelihood is
        within half of the chi-square quantile (one degree of freedom) of the maximum.

    Raises
    ------
    ValueError
        If level is out of range.
    ArithmeticError
        If the search for an end does not settle.

    Notes
    -----
    Valid for one look at data whose amount was fixed beforehand. The region of likely shares
    is convex; the figure is made extreme over it by sequential quadratic programming, in
    coordinates in which the region is nearly a ball, from several starts.

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
    ...     figure=lambda shares: shares[0], level=.95, limits=(0, 1),
    ... )
    >>> round(low, 4), round(high, 4)
    (0.216, 0.3941)
    """
    check_level(level)
    region = _Region(counts=counts, channel=channel, shares=shares, level=level)
    low = region.extreme(figure, sign=1.0)
    high = region.extreme(figure, sign=-1.0)
    # The search keeps a hair's breadth from shares of 0.
    return (
        limits[0] if low < limits[0] + _HAIR else low,
        limits[1] if high > limits[1] - _HAIR else high,
    )


class _Region:
    """The shares that are likely enough, in coordinates u: shares = best + axes u."""

    def __init__(
        self, *, counts: NDArray[np.int64], channel: Floats, shares: Floats, level: float
    ) -> None:
        self._counts = counts.astype(np.float64)
        self._channel = channel
        # A little inside, so that there is room in every direction.
        cells = len(shares)
        self._best = (shares + _HAIR) / (shares.sum() + cells * _HAIR)
        self._reported = channel @ self._best
        most = channel @ shares
        self._short = -float(xlog1py(self._counts, (self._reported - most) / most).sum())
        self._allowed = float(chdtri(1, 1 - level)) / 2
        self._axes = self._whiten()

    def _whiten(self) -> Floats:
        """Directions that keep the sum, each as long as one standard error."""
        cells = len(self._best)
        # An orthonormal basis of the shares that sum to zero.
        basis = np.linalg.qr(np.eye(cells) - 1 / cells)[0][:, : cells - 1]
        changed = self._channel @ basis
        information = changed.T @ (changed * (self._counts.sum() / self._reported)[:, None])
        values, vectors = np.linalg.eigh(information)
        axes: Floats = basis @ (vectors / np.sqrt(values))
        return axes

    def _drop(self, u: Floats) -> float:
        """How far the log-likelihood falls from its maximum."""
        change = self._channel @ (self._axes @ u) / self._reported
        if (change <= -1).any():
            return float("inf")
        return self._short - float(xlog1py(self._counts, change).sum())

    def _drop_gradient(self, u: Floats) -> Floats:
        reported = self._reported + self._channel @ (self._axes @ u)
        slope: Floats = np.asarray(
            -(self._counts / reported) @ self._channel @ self._axes, dtype=np.float64
        )
        return slope

    def extreme(self, figure: Callable[[NDArray[Any]], Any], *, sign: float) -> float:
        """The least value of sign times the figure; the best of several searches."""

        def shares_at(u: Floats) -> Floats:
            shares: Floats = np.maximum(self._best + self._axes @ u, _FLOOR)
            return shares

        def value(u: Floats) -> float:
            return sign * float(np.real(figure(shares_at(u))))

        def gradient(u: Floats) -> Floats:
            return sign * self._differentiate(figure, shares_at(u)) @ self._axes

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
        found = []
        for start in self._starts(gradient):
            result = minimize(
                value,
                start,
                jac=gradient,
                constraints=constraints,
                method="SLSQP",
                options={"ftol": 1e-12, "maxiter": 300},
            )
            if self._holds(result.x):
                found.append(float(result.fun))
        if not found:
            raise ArithmeticError("the search for the end of an interval must settle and did not")
        return sign * min(found)

    def _differentiate(self, figure: Callable[[NDArray[Any]], Any], shares: Floats) -> Floats:
        slopes = np.empty(len(shares))
        for cell in range(len(shares)):
            shifted = shares.astype(np.complex128)
            shifted[cell] += 1j * _STEP
            slopes[cell] = np.imag(figure(shifted)) / _STEP
        return slopes

    def _starts(self, gradient: Callable[[Floats], Floats]) -> list[Floats]:
        """Points on the way to where the end would be if the likelihood were quadratic."""
        zero = np.zeros(self._axes.shape[1])
        direction = -gradient(zero)
        length = float(np.linalg.norm(direction))
        if not np.isfinite(length) or length == 0:
            return [zero]
        full = direction / length * sqrt(2 * self._allowed)
        return [self._shorten(full * part) for part in _STARTS]

    def _shorten(self, u: Floats) -> Floats:
        """Halve until all shares are positive and likely enough."""
        for _ in range(200):
            if self._holds(u):
                return u
            u = u / 2
        return np.zeros_like(u)

    def _holds(self, u: Floats) -> bool:
        inside = bool((self._best + self._axes @ u >= -_FLOOR).all())
        return inside and self._drop(u) <= self._allowed * (1 + _SLACK)
