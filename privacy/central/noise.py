"""The noise of releases: whole numbers from the discrete Laplace and Gaussian distributions.

Nothing here draws noise. The functions give the probabilities, variances and bounds that pages
state about noise drawn by a library.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, expm1, log, log1p, pi, sqrt, tanh

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privacy.checks import (
    MOST_REPORTS,
    Floats,
    check_level,
    check_positive,
    check_whole,
    check_whole_counts,
)
from privacy.level import LEVEL

# Tails are summed term by term up to this variance, a standard deviation of two million.
MOST_VARIANCE = 2.0**42
# Sums end where the terms are below exp(-46) times the first term.
_NEGLIGIBLE = 46.0
_CHUNK = 2**20
# This factor covers the rounding of sums of positive terms, so that a tail is never too small.
_SLACK = 1 + 1e-11


def discrete_laplace_probability(value: ArrayLike, *, scale: float | Fraction) -> Floats:
    """Compute the probability that discrete Laplace noise takes a given value.

    Parameters
    ----------
    value : array_like of int
        Values z.
    scale : float or Fraction
        Scale b, positive and finite: the sensitivity divided by epsilon.

    Returns
    -------
    ndarray of float64
        (1 - a) / (1 + a) a**|z| with a = exp(-1 / b), in the shape of value.

    Raises
    ------
    ValueError
        If a value is not whole or scale is not positive and finite.

    References
    ----------
    Ghosh, A., Roughgarden, T. and Sundararajan, M. (2012), Universally utility-maximizing privacy
    mechanisms, SIAM Journal on Computing 41(6), definition 2.1.

    Examples
    --------
    >>> discrete_laplace_probability([0, 1, -1], scale=2).round(9).tolist()
    [0.244918662, 0.148550678, 0.148550678]
    """
    z = _check_values("value", value, at_least=-MOST_REPORTS)
    b = check_positive("scale", scale)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(tanh(_inverse(2 * b)) * np.exp(-np.abs(z) / b))


def discrete_laplace_tail(value: ArrayLike, *, scale: float | Fraction) -> Floats:
    """Compute the probability that discrete Laplace noise is at least a given distance from zero.

    Parameters
    ----------
    value : array_like of int
        Distances z, at least 0.
    scale : float or Fraction
        Scale b, positive and finite.

    Returns
    -------
    ndarray of float64
        P(|Z| >= z) = 2 a**z / (1 + a) with a = exp(-1 / b), and 1 for z = 0.

    Raises
    ------
    ValueError
        If a value is negative or not whole, or scale is not positive and finite.

    Examples
    --------
    >>> discrete_laplace_tail([0, 1, 10], scale=2).round(9).tolist()
    [1.0, 0.755081338, 0.008388196]
    """
    z = _check_values("value", value, at_least=0)
    b = check_positive("scale", scale)
    with np.errstate(over="ignore", under="ignore"):
        tail = np.exp(-z / b) * (2 / (1 + exp(-_inverse(b))))
    return np.where(z == 0, 1.0, tail)


def discrete_laplace_variance(*, scale: float | Fraction) -> float:
    """Compute the variance of discrete Laplace noise.

    Parameters
    ----------
    scale : float or Fraction
        Scale b, positive and finite.

    Returns
    -------
    float
        2 a / (1 - a)**2 with a = exp(-1 / b); about 2 b**2 - 1/6, and less than 2 b**2.

    Raises
    ------
    ValueError
        If scale is not positive and finite, or is so large that the variance is infinite.

    Examples
    --------
    >>> round(discrete_laplace_variance(scale=2), 9)
    7.835396178
    """
    rate = _inverse(check_positive("scale", scale))
    gap = expm1(-rate)
    if gap * gap == 0:
        raise ValueError(f"scale must have a finite variance, got {scale!r}")
    return 2 * exp(-rate) / gap / gap


def discrete_laplace_bound(*, scale: float | Fraction, level: float = LEVEL) -> int:
    """Find the distance from zero that discrete Laplace noise rarely reaches.

    Parameters
    ----------
    scale : float or Fraction
        Scale b, positive and finite.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    int
        The least z with P(|Z| >= z) <= 1 - level. The noise is closer to zero than z with a
        probability of at least `level`.

    Raises
    ------
    ValueError
        If scale is not positive, or level is out of range.

    Examples
    --------
    >>> discrete_laplace_bound(scale=2)
    7
    """
    b = check_positive("scale", scale)
    rare = 1 - check_level(level)
    z = max(ceil(b * (log(2 / rare) - log1p(exp(-_inverse(b))))), 1)
    # The logarithm may be a rounding error away from a whole number.
    while z > 1 and float(discrete_laplace_tail(z - 1, scale=b)) <= rare:
        z -= 1
    while float(discrete_laplace_tail(z, scale=b)) > rare:
        z += 1
    return z


def simultaneous_bound(*, scale: float | Fraction, cells: int, level: float = LEVEL) -> float:
    """Bound the noise of all cells of a table together.

    Parameters
    ----------
    scale : float or Fraction
        Scale b of the noise of every cell, positive and finite.
    cells : int
        Number K of cells, at least 1.
    level : float, optional
        Confidence level 1 - beta, in (0, 1).

    Returns
    -------
    float
        b ln(K / beta), in counts.

    Raises
    ------
    ValueError
        If scale is not positive, or cells or level is out of range.

    Notes
    -----
    **Round the bound up before showing it.** With a probability of at least `level`, no cell's
    discrete noise is further from zero than the rounded bound, since P(|Z| > m) = 2 a**(m + 1) /
    (1 + a) is at most a**m for whole m. The unrounded bound holds for continuous noise; discrete
    noise may exceed it more often. With K = 1, b = 1 and a level of .95, it does so in .073 of all
    draws.

    References
    ----------
    Dwork, C. and Roth, A. (2014), The algorithmic foundations of differential privacy, theorem
    3.8.

    Examples
    --------
    >>> round(simultaneous_bound(scale=10, cells=10), 6)
    52.983174
    """
    b = check_positive("scale", scale)
    cells = check_whole("cells", cells, at_least=1)
    rare = 1 - check_level(level)
    return b * (log(cells) - log(rare))


def discrete_gaussian_probability(value: ArrayLike, *, variance: float | Fraction) -> Floats:
    """Compute the probability that discrete Gaussian noise takes a value.

    Parameters
    ----------
    value : array_like of int
        Values z.
    variance : float or Fraction
        sigma squared, the parameter of the distribution, positive and finite.

    Returns
    -------
    ndarray of float64
        exp(-z**2 / (2 sigma**2)) divided by its sum over all whole numbers.

    Raises
    ------
    ValueError
        If a value is not whole or variance is not positive and finite.

    Notes
    -----
    For a variance of 1 or more, the sum comes from Poisson's summation formula: sqrt(2 pi sigma**2)
    (1 + 2 sum of exp(-2 pi**2 sigma**2 k**2)).

    References
    ----------
    Canonne, C., Kamath, G. and Steinke, T. (2020), The discrete Gaussian for differential
    privacy, NeurIPS, definition 1 and fact 18.

    Examples
    --------
    >>> discrete_gaussian_probability([0, 1], variance=1).round(9).tolist()
    [0.398942278, 0.241970723]
    """
    z = _check_values("value", value, at_least=-MOST_REPORTS)
    spread = check_positive("variance", variance)
    return gaussian_terms(z, spread)


def discrete_gaussian_tail(value: ArrayLike, *, variance: float | Fraction) -> Floats:
    """Compute the probability that discrete Gaussian noise is at least a given distance from zero.

    Parameters
    ----------
    value : array_like of int
        Distances z, at least 0.
    variance : float or Fraction
        sigma squared, positive and at most 2**42.

    Returns
    -------
    ndarray of float64
        P(|Z| >= z), and 1 for z = 0. The result is never too small, and too large by at most 1e-11
        of its value.

    Raises
    ------
    ValueError
        If a value is negative or not whole, or variance is out of range.

    Examples
    --------
    >>> discrete_gaussian_tail([0, 1, 3], variance=1).round(9).tolist()
    [1.0, 0.601057722, 0.009134343]
    """
    z = _check_values("value", value, at_least=0)
    spread = check_summed_variance("variance", variance)
    tails = [
        1.0 if one == 0 else min(2 * float(_upper_tail(int(one), spread)), 1.0) for one in z.flat
    ]
    return np.array(tails, dtype=np.float64).reshape(z.shape)


def discrete_gaussian_variance(*, variance: float | Fraction) -> float:
    """Compute the actual variance of discrete Gaussian noise.

    Parameters
    ----------
    variance : float or Fraction
        sigma squared, the parameter of the distribution, positive and finite.

    Returns
    -------
    float
        E Z**2, which is less than sigma squared; the two agree to eight digits if `variance` is 1.2
        or more.

    Raises
    ------
    ValueError
        If variance is not positive and finite.

    References
    ----------
    Canonne, C., Kamath, G. and Steinke, T. (2020), The discrete Gaussian for differential
    privacy, NeurIPS, fact 18 and corollary 9.

    Examples
    --------
    >>> round(discrete_gaussian_variance(variance=1), 12)
    0.999999788768
    """
    spread = check_positive("variance", variance)
    if spread < 1:
        z = np.arange(1, 64)
        return float(2 * (z * z * gaussian_terms(z, spread)).sum())
    # This is the derivative of the logarithm of Poisson's sum.
    k = np.arange(1, 4)
    with np.errstate(under="ignore"):
        echoes = 2 * np.exp(-2 * pi * pi * spread * k * k)
        return float(spread - (4 * pi * pi * spread * k * k * echoes).sum() * spread)


def gaussian_terms(z: Floats | NDArray[np.int64], variance: float) -> Floats:
    """Compute the probabilities of the discrete Gaussian at values that were already checked.

    Parameters
    ----------
    z : ndarray
        Whole numbers.
    variance : float
        sigma squared, positive and finite.

    Returns
    -------
    ndarray of float64
        Probabilities, in the shape of z.

    Examples
    --------
    >>> gaussian_terms(np.array([0.0]), 16.0).round(9).tolist()
    [0.09973557]
    """
    with np.errstate(under="ignore", over="ignore"):
        return np.asarray(np.exp(-np.square(z, dtype=np.float64) / variance / 2) / _total(variance))


def check_summed_variance(name: str, variance: float | Fraction) -> float:
    """Reject a variance that is not positive or is above 2**42, where tails are too long to sum."""
    spread = check_positive(name, variance)
    if spread > MOST_VARIANCE:
        raise ValueError(f"{name} must be at most 2**42, got {variance!r}")
    return spread


def _total(variance: float) -> float:
    """Compute the sum of exp(-z**2 / (2 variance)) over all whole numbers."""
    k = np.arange(1, 64)
    with np.errstate(under="ignore", over="ignore"):
        if variance < 1:
            return float(1 + 2 * np.exp(-k * k / variance / 2).sum())
        echoes = np.exp(-2 * pi * pi * variance * k * k).sum()
        return float(sqrt(2 * pi * variance) * (1 + 2 * echoes))


def _upper_tail(least: int, variance: float) -> float:
    """Compute P(Z >= least) for least >= 1, summed term by term and rounded up."""
    # Beyond `last`, terms are below exp(-46) times the first and fall at least geometrically.
    last = ceil(sqrt(least * least + 2 * variance * _NEGLIGIBLE)) + 1
    total = 0.0
    for start in range(least, last, _CHUNK):
        total += float(gaussian_terms(np.arange(start, min(start + _CHUNK, last)), variance).sum())
    beyond = float(gaussian_terms(np.array([float(last)]), variance)[0])
    return (total + beyond / -expm1(-last / variance)) * _SLACK


def _inverse(scale: float) -> float:
    """Return 1 / scale, or a large float where the quotient would be infinite."""
    return min(1 / scale, 1e308)


def _check_values(name: str, value: ArrayLike, *, at_least: int) -> Floats:
    return np.asarray(check_whole_counts(name, value, at_least=at_least), dtype=np.float64)
