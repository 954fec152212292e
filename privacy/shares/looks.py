"""Levels at which intervals hold at all looks together: a group-sequential design.

Results are updated at a few looks, planned before the survey opens. Each look spends a part of the
error that is allowed for all looks together. The interval at a look is the ordinary interval at the
level that spends this part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import pi, sqrt

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import ndtr, roots_legendre

from privacy.checks import Floats, check_level, check_numbers, check_positive, check_share
from privacy.level import SIGNIFICANCE

# Parts of the error spent up to the expected number of reports, and at all later looks.
_UNTIL_EXPECTED, _LATER = 0.8, 0.2
_TENTHS = 10  # at each look, at least a tenth of all reports are new
_SAME = 1e-9
# Sizes of the quadrature. The distance between two nodes must be less than the spread of a step.
_SIZES = tuple(2**power + 1 for power in range(6, 16))
_WIDEST = 8.0  # standard errors; the probability beyond, 10**-15, is negligible


def spent_error(time: ArrayLike) -> Floats:
    """Find the part of the allowed error that is spent up to an information time.

    Parameters
    ----------
    time : array_like of float
        Number of reports as a fraction of the number expected, positive.

    Returns
    -------
    ndarray of float64
        .8 min(t, 1)**2 + .2 (1 - max(t, 1)**-2), in (0, 1).

    Raises
    ------
    ValueError
        If a time is not positive.

    Notes
    -----
    Up to t = 1, the function belongs to the power family of Kim and DeMets, with exponent 2. A
    fifth of the error is left for all looks after more people than expected have answered.

    References
    ----------
    Lan, K. K. G. and DeMets, D. L. (1983), Discrete sequential boundaries for clinical trials,
    Biometrika 70(3), section 2.
    Kim, K. and DeMets, D. L. (1987), Design and analysis of group sequential tests based on the
    type I error spending rate function, Biometrika 74(1), equation (3).

    Examples
    --------
    >>> [round(float(spent_error(time)), 4) for time in (0.1, 0.5, 1, 2, 1000)]
    [0.008, 0.2, 0.8, 0.95, 1.0]
    """
    t = check_numbers("time", time)
    if not (t > 0).all():
        raise ValueError(f"time must be positive, got {time!r}")
    spent: Floats = _UNTIL_EXPECTED * np.minimum(t, 1) ** 2 + _LATER * (1 - np.maximum(t, 1) ** -2)
    return spent


def critical_values(times: Sequence[float], *, error: float = SIGNIFICANCE) -> tuple[float, ...]:
    """Find how many standard errors an interval must extend to each side at each look.

    Parameters
    ----------
    times : sequence of float
        Number of reports at each look as a fraction of the number expected; positive and ascending.
    error : float, optional
        The error allowed for all looks together, in (0, 1). For m simultaneous figures, pass
        an m-th of the error allowed for all of them.

    Returns
    -------
    tuple of float
        The critical value c of each look.

    Raises
    ------
    ValueError
        If times are not positive and ascending, or error is out of range.

    Notes
    -----
    c_i solves P(|B(t_j)| < c_j sqrt(t_j) for all j < i, |B(t_i)| >= c_i sqrt(t_i)) = error (A(t_i)
    - A(t_{i-1})) with B a Brownian motion and A as in `spent_error`. The density of the paths that
    have not crossed a bound yet is integrated from look to look by Gauss-Legendre quadrature.

    The estimates of a share at different looks behave like B(t) / t as long as reports are
    independent and the estimate is efficient (Scharfstein, Tsiatis and Robins). The critical value
    of a look depends on earlier looks, never on later ones.

    References
    ----------
    Armitage, P., McPherson, C. K. and Rowe, B. C. (1969), Repeated significance tests on
    accumulating data, JRSS A 132(2) (the recursion).
    Jennison, C. and Turnbull, B. W. (2000), Group Sequential Methods with Applications to Clinical
    Trials, sections 9.2 (repeated confidence intervals) and 19.2 (integration).
    Scharfstein, D. O., Tsiatis, A. A. and Robins, J. M. (1997), JASA 92(440), theorem 1.

    Examples
    --------
    Ten looks, each after another tenth of the people expected:

    >>> ten = [look / 10 for look in range(1, 11)]
    >>> [round(c, 3) for c in critical_values(ten)]
    [3.54, 3.218, 3.021, 2.869, 2.74, 2.628, 2.527, 2.435, 2.35, 2.27]
    """
    looks = check_numbers("times", times)
    if looks.ndim != 1 or not (np.diff(looks, prepend=0) > 0).all():
        raise ValueError(f"times must be positive and ascending, got {times!r}")
    allowed = check_share("error", error, ends="()")
    spent = np.diff(spent_error(looks), prepend=0) * allowed
    return _solve(tuple(looks.tolist()), tuple(spent.tolist()))


def repeated_level(level: float, *, times: Sequence[float]) -> float:
    """Find the level that the last look's interval needs so that all looks together have `level`.

    Parameters
    ----------
    level : float
        Confidence level for all looks together, in (0, 1).
    times : sequence of float
        As for `critical_values`, up to the look in question. Empty if only one interval is ever
        shown.

    Returns
    -------
    float
        2 Phi(c) - 1 for the critical value c of the last look, or `level` if `times` is empty.

    Raises
    ------
    ValueError
        If level or times are out of range.

    Examples
    --------
    >>> round(repeated_level(0.95, times=[0.5, 1]), 4)
    0.9654
    >>> repeated_level(0.95, times=[])
    0.95
    """
    level = check_level(level)
    if not len(times):
        return level
    return 1 - 2 * float(ndtr(-critical_values(times, error=1 - level)[-1]))


def planned_times(time: float) -> tuple[float, ...]:
    """List the usual looks up to a time: ten up to the expected number, then fewer.

    Parameters
    ----------
    time : float
        Number of reports at the last look as a fraction of the number expected, positive.

    Returns
    -------
    tuple of float
        .1, .2, ... up to 1, then times that are each 10/9 of the one before, and `time` itself.

    Raises
    ------
    ValueError
        If time is not positive.

    Examples
    --------
    >>> planned_times(0.35)
    (0.1, 0.2, 0.3, 0.35)
    """
    last = check_positive("time", time)
    usual = [look / _TENTHS for look in range(1, _TENTHS + 1)]
    while usual[-1] < last:
        usual.append(usual[-1] * _TENTHS / (_TENTHS - 1))
    return (*(look for look in usual if look < last * (1 - _SAME)), last)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Paths:
    """The density, at nodes, of the Brownian paths that have not crossed a bound up to a time."""

    time: float
    places: Floats
    masses: Floats

    def crossing(self, time: float, bound: float) -> float:
        """Return the probability that paths inside the bounds so far are outside them at `time`."""
        spread = sqrt(time - self.time)
        outside = ndtr((-bound - self.places) / spread) + ndtr((self.places - bound) / spread)
        return float(self.masses @ outside)

    def inside(self, time: float, bound: float, *, step: float) -> _Paths:
        """Follow the paths that are still inside the bounds at a later time.

        `step` is the time from then to the look that follows.
        """
        wanted = 4 * bound / sqrt(step)
        nodes, weights = _find_nodes(next((size for size in _SIZES if size > wanted), _SIZES[-1]))
        spread, places = sqrt(time - self.time), bound * nodes
        steps = (places[:, None] - self.places) / spread
        density = np.exp(-0.5 * steps**2) @ self.masses / (spread * sqrt(2 * pi))
        return _Paths(time=time, places=places, masses=bound * weights * density)


@lru_cache(maxsize=1024)
def _solve(times: tuple[float, ...], spent: tuple[float, ...]) -> tuple[float, ...]:
    """Find the critical values that spend these parts of the error."""
    found: list[float] = []
    paths = _Paths(time=0.0, places=np.zeros(1), masses=np.ones(1))
    for look, (time, part) in enumerate(zip(times, spent, strict=True), start=1):
        found.append(_find_critical(paths, time, part))
        if look < len(times):
            paths = paths.inside(time, found[-1] * sqrt(time), step=times[look] - time)
    return tuple(found)


@cache
def _find_nodes(size: int) -> tuple[Floats, Floats]:
    nodes, weights = roots_legendre(size)
    return nodes, weights


def _find_critical(paths: _Paths, time: float, part: float) -> float:
    def excess(c: float) -> float:
        return paths.crossing(time, c * sqrt(time)) - part

    if excess(_WIDEST) > 0:
        return _WIDEST
    return float(scipy.optimize.brentq(excess, 0.0, _WIDEST, xtol=1e-12))
