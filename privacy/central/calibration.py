"""How much noise a release needs for its epsilon and delta, and which kind: Laplace or Gaussian."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1, floor, sqrt
from typing import Literal

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from privacy.central.composition import pure_rho, round_up_fraction
from privacy.central.noise import (
    MOST_VARIANCE,
    check_summed_variance,
    discrete_gaussian_variance,
    discrete_laplace_variance,
    gaussian_terms,
)
from privacy.checks import (
    Floats,
    check_not_negative,
    check_positive,
    check_share,
    check_whole,
)

MOST_CELLS = 4096  # cells that one report may change
LEAST_EPSILON = Fraction(1, 10**9)  # with a smaller epsilon, a release is useless
# A Gaussian's sigma is a multiple of 1 / 64, which floats represent exactly.
_STEP = Fraction(1, 64)
# From this variance on, a sum of discrete Gaussians equals a discrete Gaussian to more digits than
# a float has.
_WIDE = 4.0
# How many standard deviations of a convolved sum are kept on each side. The probability left out
# at each end is about exp(-98).
_KEPT = 14
_CHUNK = 2**20
# This factor covers the rounding of sums of positive terms, so that a delta is never understated.
_SLACK = 1 + 1e-10


@dataclass(frozen=True, kw_only=True)
class TableNoise:
    """The noise of one protected table.

    Attributes
    ----------
    mechanism : str
        "laplace" or "gaussian", both discrete.
    scale : Fraction
        b of the Laplace noise, or sigma of the Gaussian noise (not its square).
    variance : float
        Variance of the noise of one cell.
    epsilon : float
        Loss in nats when one report is added or removed, rounded up.
    delta : float
        Delta that belongs to `epsilon`; 0 for Laplace noise.
    rho : float
        The same loss in terms of zero-concentrated privacy, rounded up.
    """

    mechanism: Literal["laplace", "gaussian"]
    scale: Fraction
    variance: float
    epsilon: float
    delta: float
    rho: float


def analytic_gaussian_scale(*, epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """Find the least standard deviation of continuous Gaussian noise for an epsilon and a delta.

    Parameters
    ----------
    epsilon : float
        Epsilon in nats, positive and finite.
    delta : float
        Delta, in (0, 1).
    sensitivity : float, optional
        Euclidean sensitivity of the query, positive and finite.

    Returns
    -------
    float
        sigma, rounded up.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    The function solves Phi(D / (2 sigma) - epsilon sigma / D) - exp(epsilon) Phi(-D / (2 sigma) -
    epsilon sigma / D) = delta by bisection, where D is the sensitivity. Releases do not use this
    sigma directly: their noise is discrete, and `choose_table_noise` checks the delta of the
    discrete noise.

    References
    ----------
    Balle, B. and Wang, Y.-X. (2018), Improving the Gaussian mechanism for differential privacy,
    ICML, theorem 8.

    Examples
    --------
    >>> round(analytic_gaussian_scale(epsilon=1.0, delta=1e-6), 9)
    4.224678889
    """
    epsilon = check_positive("epsilon", epsilon)
    delta = check_share("delta", delta, ends="()")
    sensitivity = check_positive("sensitivity", sensitivity)
    low, high = 0.0, 1.0
    while _continuous_delta(high, epsilon) > delta:
        low, high = high, 2 * high
    while low < (middle := low + (high - low) / 2) < high:
        if _continuous_delta(middle, epsilon) <= delta:
            high = middle
        else:
            low = middle
    return high * sensitivity


def discrete_gaussian_delta(
    *, variance: float | Fraction, squared_sensitivity: int, epsilon: float
) -> float:
    """Compute the exact delta of discrete Gaussian noise on a table of counts.

    Parameters
    ----------
    variance : float or Fraction
        sigma squared of every cell, positive and at most 2**42.
    squared_sensitivity : int
        Number s of cells that one report changes by one, from 1 to 4096. If the report is added or
        removed, s is the number of its symbols. If it is replaced, s is twice the number of symbols
        whose code changes.
    epsilon : float
        The epsilon at which delta is computed, at least 0 and finite.

    Returns
    -------
    float
        Delta in [0, 1], rounded up by at most 1e-10 of its value.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    For noise Z, the loss is (sum of Z_i + s / 2) / sigma**2, where the sum is over the changed
    cells, so delta is the expectation of (1 - exp(epsilon - loss))+. The sum of s discrete
    Gaussians takes each value m with a probability proportional to exp(-m**2 / (2 s sigma**2))
    times a theta function of the lattice A(s - 1). If sigma**2 is 4 or more, this function is the
    same for all m to within 1e-16; otherwise, the distribution of the sum is computed by
    convolution.

    References
    ----------
    Canonne, C., Kamath, G. and Steinke, T. (2020), The discrete Gaussian for differential
    privacy, NeurIPS, theorem 7 (s = 1).

    Examples
    --------
    >>> round(discrete_gaussian_delta(variance=16, squared_sensitivity=1, epsilon=1.0) * 1e6, 6)
    3.055455
    """
    spread = check_summed_variance("variance", variance)
    cells = check_whole("squared_sensitivity", squared_sensitivity, at_least=1, at_most=MOST_CELLS)
    epsilon = check_not_negative("epsilon", epsilon)
    if cells > 1 and spread < _WIDE:
        return _convolved_delta(spread, cells, epsilon)
    width = spread * cells
    least = floor(epsilon * spread - cells / 2) + 1
    # Beyond `last`, each term is below exp(-46) times the first or the largest term.
    last = ceil(sqrt(max(least, 0) ** 2 + 92 * width)) + 1
    least = max(least, -ceil(sqrt(92 * width)) - 1)
    total = 0.0
    for start in range(least, last, _CHUNK):
        sums = np.arange(start, min(start + _CHUNK, last), dtype=np.float64)
        total += _excess(sums, gaussian_terms(sums, width), spread, cells, epsilon)
    # Bound the terms left out at each end, which fall at least geometrically.
    beyond = float(gaussian_terms(np.array([float(last)]), width)[0]) / -expm1(-last / width)
    below = beyond if least < 0 else 0.0
    return min(total * _SLACK + beyond + below, 1.0)


def gaussian_rho(*, variance: float | Fraction, squared_sensitivity: int) -> float:
    """Compute the zero-concentrated privacy loss rho of Gaussian noise, discrete or continuous.

    Parameters
    ----------
    variance : float or Fraction
        sigma squared of every cell, positive and finite.
    squared_sensitivity : int
        Number of cells that one report changes by one, at least 1.

    Returns
    -------
    float
        squared_sensitivity / (2 sigma**2), rounded up.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the result is too large for a float.

    References
    ----------
    Canonne, C., Kamath, G. and Steinke, T. (2020), The discrete Gaussian for differential
    privacy, NeurIPS, theorem 4.

    Examples
    --------
    >>> gaussian_rho(variance=16, squared_sensitivity=2)
    0.0625
    """
    check_positive("variance", variance)
    cells = check_whole("squared_sensitivity", squared_sensitivity, at_least=1)
    return round_up_fraction("variance", cells / (2 * Fraction(variance)))


def choose_table_noise(
    *, symbols: int, epsilon: float | Fraction, delta: float = 0.0
) -> TableNoise:
    """Choose the noise of a protected table: the kind with the smaller variance.

    Parameters
    ----------
    symbols : int
        Largest number s of table symbols in one report, from 1 to 4096. Adding or removing a report
        changes one cell of each symbol by one.
    epsilon : float or Fraction
        Epsilon in nats, at least 1e-9 and finite. A float is read as the decimal that Python
        prints, so .3 is 3 / 10.
    delta : float, optional
        Delta, in [0, 1); 0 allows Laplace noise only.

    Returns
    -------
    TableNoise
        Laplace noise with b = s / epsilon, or Gaussian noise whose sigma is the least multiple of 1
        / 64 with a **discrete** delta of at most `delta`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> choose_table_noise(symbols=1, epsilon=.5).scale
    Fraction(2, 1)
    >>> choose_table_noise(symbols=9, epsilon=1, delta=1e-6).mechanism
    'gaussian'
    """
    cells = check_whole("symbols", symbols, at_least=1, at_most=MOST_CELLS)
    check_positive("epsilon", epsilon)
    delta = check_share("delta", delta, ends="[)")
    exact = epsilon if isinstance(epsilon, Fraction) else Fraction(repr(float(epsilon)))
    if exact < LEAST_EPSILON:
        raise ValueError(f"epsilon must be at least 1e-9, got {epsilon!r}")
    loss = round_up_fraction("epsilon", exact)
    laplace = TableNoise(
        mechanism="laplace",
        scale=cells / exact,
        variance=discrete_laplace_variance(scale=cells / exact),
        epsilon=loss,
        delta=0.0,
        rho=pure_rho(exact),
    )
    if delta == 0:
        return laplace
    sigma = _least_sigma(cells, epsilon=float(exact), delta=delta, at_most=laplace.variance)
    if sigma is None:
        return laplace
    return TableNoise(
        mechanism="gaussian",
        scale=sigma,
        variance=discrete_gaussian_variance(variance=sigma**2),
        epsilon=loss,
        delta=delta,
        rho=gaussian_rho(variance=sigma**2, squared_sensitivity=cells),
    )


def _least_sigma(cells: int, *, epsilon: float, delta: float, at_most: float) -> Fraction | None:
    """Find the least sigma on the grid that meets delta, or None if its variance is too large."""
    start = analytic_gaussian_scale(epsilon=epsilon, delta=delta, sensitivity=sqrt(cells))
    sigma = max(floor(start / _STEP), 1) * _STEP
    while discrete_gaussian_variance(variance=sigma**2) < min(at_most, MOST_VARIANCE):
        found = discrete_gaussian_delta(
            variance=sigma**2, squared_sensitivity=cells, epsilon=epsilon
        )
        if found <= delta:
            return sigma
        sigma += _STEP
    return None


def _continuous_delta(sigma: float, epsilon: float) -> float:
    """Compute the delta of continuous Gaussian noise for sensitivity one, rounded up."""
    upper, lower = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
    if upper > 0:
        return float(ndtr(upper) - exp(epsilon + log_ndtr(lower))) * _SLACK
    # Because exp(epsilon) phi(lower) = phi(upper), phi(upper) is factored out, which keeps small
    # numbers accurate.
    ratio = erfcx(-upper / sqrt(2)) - erfcx(-lower / sqrt(2))
    return float(exp(-upper * upper / 2) / 2 * ratio) * _SLACK


def _excess(sums: Floats, chances: Floats, variance: float, cells: int, epsilon: float) -> float:
    """Add up chance times (1 - exp(epsilon - loss))+ over sums of the changed cells' noise."""
    with np.errstate(under="ignore"):
        parts = -np.expm1(np.minimum(epsilon - (sums + cells / 2) / variance, 0.0))
    return float((chances * parts).sum())


def _convolved_delta(variance: float, cells: int, epsilon: float) -> float:
    """Compute delta for narrow noise, whose sum is not a discrete Gaussian."""
    single = np.arange(-60, 61, dtype=np.float64)
    base, chances = gaussian_terms(single, variance), np.ones(1)
    # Square and multiply; every step keeps a window of `_KEPT` standard deviations.
    for step, bit in enumerate(bin(cells)[2:], start=1):
        chances = np.convolve(chances, chances)
        if bit == "1":
            chances = np.convolve(chances, base)
        middle = len(chances) // 2
        kept = ceil(_KEPT * sqrt((cells >> (cells.bit_length() - step)) * variance)) + 1
        chances = chances[max(middle - kept, 0) : middle + kept + 1]
    half = len(chances) // 2
    sums = np.arange(-half, half + 1, dtype=np.float64)
    return min(_excess(sums, chances, variance, cells, epsilon) * _SLACK + 1e-40, 1.0)
