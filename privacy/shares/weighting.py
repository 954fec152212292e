"""Estimates weighted by known population shares of strata, or by one weight for each report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privacy.mechanism.mechanisms import RandomizedResponse


@dataclass(frozen=True, kw_only=True, eq=False)
class PostStratifiedShare:
    """A share combined from strata of known size in the population.

    Attributes
    ----------
    share : float
        Weighted mean of the strata's estimates, as a fraction that may lie outside [0, 1].
    variance, standard_error : float
        Variance and standard error of `share`.
    weights : ndarray of float64, shape (strata,)
        The weights used; they sum to one.
    """

    share: float
    variance: float
    standard_error: float
    weights: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class WeightedShare:
    """A share estimated from reports with individual weights.

    Attributes
    ----------
    share : float
        Unclipped estimate as a fraction, which may lie outside [0, 1].
    standard_error : float
        Standard error of `share`, from the effective sample size.
    reported_share : float
        Weighted share of reports showing the symbol.
    effective_sample_size : float
        Number of equally weighted reports that would give the same precision.
    effective_successes : float
        How many of these reports show the symbol; usually not a whole number.
    approximate : bool
        Always True: an interval computed from the effective counts is approximate and must be
        shown as such.
    """

    share: float
    standard_error: float
    reported_share: float
    effective_sample_size: float
    effective_successes: float
    approximate: bool = True


def post_stratify(
    *, estimates: ArrayLike, variances: ArrayLike, weights: ArrayLike
) -> PostStratifiedShare:
    """Combine the estimates of all strata, weighted by their shares of the population.

    Parameters
    ----------
    estimates : array of float, shape (strata,)
        Unclipped estimate in each stratum.
    variances : array of float, shape (strata,)
        Variances of the estimates, each at least 0.
    weights : array of float, shape (strata,)
        Shares of the strata in the population, or numbers proportional to these shares; at least 0
        and not all 0. They are divided by their sum.

    Returns
    -------
    PostStratifiedShare
        The share, its variance and the weights used.

    Raises
    ------
    ValueError
        If an argument has the wrong shape, is not finite or is negative where it must not be; if
        all weights are 0; or if a stratum's estimate is missing or not a number. Such a stratum has
        to be merged with another: leaving it out would change the population.

    Notes
    -----
    The share is the sum of w_h p_h, and its variance the sum of w_h**2 v_h, for strata defined by
    public variables and for independent reports. Combine unclipped estimates: clipping each of them
    would bias the sum.

    References
    ----------
    Holt, D. and Smith, T. M. F. (1979), Post stratification, JRSS A 142(1), pp. 33-46 (mean
    and variance given the numbers of reports in the strata).

    Examples
    --------
    >>> combined = post_stratify(estimates=[0.1, 0.4], variances=[0.0004, 0.0009], weights=[3, 1])
    >>> round(combined.share, 6), round(combined.standard_error, 6)
    (0.175, 0.016771)
    """
    shares = _check_array("estimates", estimates)
    spreads = _check_array("variances", variances)
    raw = _check_array("weights", weights)
    if not shares.shape == spreads.shape == raw.shape:
        raise ValueError(
            "estimates, variances and weights must have one entry for every stratum, got "
            f"{shares.size}, {spreads.size} and {raw.size}"
        )
    for name, values in (("estimates", shares), ("variances", spreads)):
        if not np.isfinite(values).all():
            stratum = int(np.argmin(np.isfinite(values)))
            raise ValueError(
                f"{name} must be finite in every stratum, got {values[stratum]} in stratum "
                f"{stratum}; merge a stratum without reports with another one"
            )
    if spreads.min() < 0:
        raise ValueError(f"variances must not be negative, got {spreads.min()}")
    used = _check_weights(raw)
    used = used / used.sum()
    variance = float(used**2 @ spreads)
    return PostStratifiedShare(
        share=float(used @ shares),
        variance=variance,
        standard_error=float(np.sqrt(variance)),
        weights=used,
    )


def weighted_share(
    *, reports: ArrayLike, weights: ArrayLike, mechanism: RandomizedResponse
) -> WeightedShare:
    """Estimate a true share from reports that carry individual weights.

    Parameters
    ----------
    reports : array of int or bool, shape (reports,)
        1 if the report shows the symbol of interest, otherwise 0.
    weights : array of float, shape (reports,)
        Weights of the reports, at least 0 and not all 0; their scale does not matter.
    mechanism : RandomizedResponse
        The mechanism that produced the reports.

    Returns
    -------
    WeightedShare
        The estimate with its standard error and effective counts, marked as approximate.

    Raises
    ------
    ValueError
        If an argument has the wrong shape, a report is neither 0 nor 1, a weight is negative or
        not finite, or all weights are 0.

    Notes
    -----
    With l = sum of w_i y_i / sum of w_i, the estimate is (l - c) / d. The effective sample size m
    is (sum of w_i)**2 / sum of w_i**2. The standard error, sqrt(l (1 - l) / m) / d, is a
    large-sample approximation, best for weights that are unrelated to the answers. The effective
    counts may replace counts only in fixed-end intervals, with the argument `effective` (see
    `privacy.shares.intervals.likelihood_ratio`).

    References
    ----------
    Kish, L. (1965), Survey sampling, section 11.7 (effective sample size).

    Examples
    --------
    >>> coins = RandomizedResponse(symbols=2, threshold=3 * 2**30)
    >>> estimate = weighted_share(reports=[1, 0, 0, 1], weights=[1, 1, 1, 2], mechanism=coins)
    >>> round(estimate.share, 6), round(estimate.effective_sample_size, 6)
    (0.7, 3.571429)
    >>> round(estimate.effective_successes, 6), estimate.approximate
    (2.142857, True)
    """
    shown = np.asarray(reports)
    if shown.ndim != 1 or shown.size == 0:
        raise ValueError(f"reports must be a list of at least one report, got {shown.shape}")
    if shown.dtype.kind not in "biu" or not np.isin(shown, (0, 1)).all():
        raise ValueError(f"reports must be 0 or 1, got {shown.dtype}: {shown[:5]}")
    raw = _check_array("weights", weights)
    if raw.shape != shown.shape:
        raise ValueError(
            f"weights must have one entry for each of {shown.size} reports, got {raw.size}"
        )
    used = _check_weights(raw)
    total = float(used.sum())
    reported = min(1.0, float(used @ shown) / total)
    effective = total**2 / float(used @ used)
    spread = float(np.sqrt(reported * (1 - reported) / effective))
    return WeightedShare(
        share=(reported - mechanism.other_probability) / mechanism.slope,
        standard_error=spread / mechanism.slope,
        reported_share=reported,
        effective_sample_size=effective,
        effective_successes=effective * reported,
    )


def _check_array(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a list of at least one number, got {array.shape}")
    return array


def _check_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Check weights and scale the largest to one, so that squares neither overflow nor vanish."""
    if not np.isfinite(weights).all():
        raise ValueError(f"weights must be finite, got {weights[~np.isfinite(weights)][0]}")
    if weights.min() < 0:
        raise ValueError(f"weights must not be negative, got {weights.min()}")
    if weights.max() == 0:
        raise ValueError("weights must not all be 0")
    scaled: NDArray[np.float64] = weights / weights.max()
    return scaled
