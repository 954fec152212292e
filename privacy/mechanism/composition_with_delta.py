"""The total privacy loss of several reports as an epsilon with a delta.

A bound with a delta is a weaker guarantee than the basic sum in `privacy.mechanism.accounting`.
Surveys state the basic sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import expm1, fsum, inf, log, prod, sqrt

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import expit

from privacy.checks import (
    check_epsilons,
    check_not_negative,
    check_positive,
    check_share,
    check_whole,
)
from privacy.mechanism.accounting import round_up_sum

# Up to this many combined losses are listed one by one; more are moved to a grid.
_LISTED = 2**18
_GRID = 2**17
# This factor covers the rounding of sums of positive terms, so that no delta is ever too small.
_SLACK = 1 + 1e-11


def exact_delta(*, epsilons: Sequence[float], epsilon: float) -> float:
    """Compute the delta at which a whole questionnaire is (epsilon, delta)-private.

    Parameters
    ----------
    epsilons : sequence of float
        Epsilon of every report of one person, each positive and finite; they may differ.
    epsilon : float
        The epsilon at which delta is computed, at least 0 and finite.

    Returns
    -------
    float
        Delta in [0, 1]. It is 0 if epsilon is at least the basic sum.

    Raises
    ------
    ValueError
        If there are no epsilons or a parameter is out of range.

    Notes
    -----
    Every epsilon-private mechanism is dominated by binary randomized response, whose losses +e and
    -e have probabilities 1 / (1 + exp(-e)) and 1 / (1 + exp(e)). The value is therefore exact for
    k = 2 and an upper bound for every k. With L the sum of the losses, delta is the expectation of
    (1 - exp(epsilon - L))+, raised by 1e-11 of its value to allow for rounding. Equal epsilons are
    merged into one binomial.

    If the sum L has more than 2**18 combinations, each distinct epsilon's losses are first moved to
    a grid whose width is the basic sum / 2**17. A loss between two grid points is split between
    them so that its probability under each hypothesis stays the same. The old pair of distributions
    is then a post-processing of the new pair, so the result is an upper bound. The excess falls
    with the square of the grid's width; in trials with 100 different values from 0.1 to 1.1 it
    stayed below 1e-5 in epsilon.

    References
    ----------
    Kairouz, P., Oh, S. and Viswanath, P. (2015), The composition theorem for differential
    privacy, ICML, theorem 3.3 (equal epsilons).
    Murtagh, J. and Vadhan, S. (2016), The complexity of computing the optimal composition of
    differential privacy, TCC, theorem 1.5 (different epsilons).
    Doroshenko, V., Ghazi, B., Kamath, P., Kumar, R. and Manurangsi, P. (2022), Connect the
    dots, PoPETs 2022(4) (the grid).

    Examples
    --------
    >>> round(exact_delta(epsilons=[1.0], epsilon=0.5), 9)
    0.287649137
    """
    check_epsilons("epsilons", epsilons)
    epsilon = check_not_negative("epsilon", epsilon)
    if epsilon >= round_up_sum("epsilons", epsilons):
        return 0.0
    losses, weights = _composed_losses(epsilons)
    return min(_hockey_stick(losses, weights, epsilon=epsilon), 1.0)


def exact_composition(*, epsilons: Sequence[float], delta: float) -> float:
    """Compute the smallest epsilon at which a whole questionnaire is (epsilon, delta)-private.

    Parameters
    ----------
    epsilons : sequence of float
        Epsilon of every report of one person, each positive and finite; they may differ.
    delta : float
        Delta, in (0, 1).

    Returns
    -------
    float
        Epsilon in nats, at least 0 and at most the basic sum.

    Raises
    ------
    ValueError
        If there are no epsilons or a parameter is out of range.

    Notes
    -----
    The function bisects `exact_delta` down to neighbouring floats and returns the upper end. The
    notes of `exact_delta` say when the result is exact.

    Examples
    --------
    >>> round(exact_composition(epsilons=[0.5] * 20, delta=1e-6), 9)
    9.98679787
    >>> round(exact_composition(epsilons=[0.2, 0.4] * 20, delta=1e-6), 6)
    9.849567
    """
    check_epsilons("epsilons", epsilons)
    delta = check_share("delta", delta, ends="()")
    losses, weights = _composed_losses(epsilons)
    if _hockey_stick(losses, weights, epsilon=0.0) <= delta:
        return 0.0
    low, high = 0.0, round_up_sum("epsilons", epsilons)
    while low < (middle := low + (high - low) / 2) < high:
        if _hockey_stick(losses, weights, epsilon=middle) <= delta:
            high = middle
        else:
            low = middle
            above = losses > low
            losses, weights = losses[above], weights[above]
    return high


def advanced_composition(*, epsilon: float, count: int, delta: float) -> float:
    """Bound the total epsilon of equal reports by the advanced composition theorem.

    Parameters
    ----------
    epsilon : float
        Epsilon of each report in nats, positive and finite.
    count : int
        Number m of reports of one person, at least 1.
    delta : float
        Delta, in (0, 1).

    Returns
    -------
    float
        epsilon sqrt(2 m ln(1 / delta)) + m epsilon (exp(epsilon) - 1). The result is infinite if it
        is too large for a float.

    Raises
    ------
    ValueError
        If count is not a whole number or a parameter is out of range.

    Notes
    -----
    If epsilon is ln 2 or more, this bound is worse than the basic sum; otherwise, it is better only
    if m > 2 ln(1 / delta) / (2 - exp(epsilon))**2. `exact_composition` is never worse.

    References
    ----------
    Dwork, C., Rothblum, G. and Vadhan, S. (2010), Boosting and differential privacy, FOCS,
    theorem III.3.

    Examples
    --------
    >>> round(advanced_composition(epsilon=0.5, count=20, delta=1e-6), 6)
    18.241153
    """
    epsilon = check_positive("epsilon", epsilon)
    count = check_whole("count", count, at_least=1)
    delta = check_share("delta", delta, ends="()")
    growth = expm1(epsilon) if epsilon < 700 else inf
    return epsilon * sqrt(2 * count * -log(delta)) + count * epsilon * growth


def zcdp_composition(*, epsilons: Sequence[float], delta: float) -> float:
    """Bound the total epsilon of a questionnaire by zero-concentrated differential privacy.

    Parameters
    ----------
    epsilons : sequence of float
        Epsilon of every report of one person, each positive and finite; they may differ.
    delta : float
        Delta, in (0, 1).

    Returns
    -------
    float
        rho + 2 sqrt(rho ln(1 / delta)) with rho = sum of epsilon**2 / 2.

    Raises
    ------
    ValueError
        If there are no epsilons, or a parameter or the sum of squares is out of range.

    Notes
    -----
    This bound is worse than the basic sum for surveys of typical size.

    References
    ----------
    Bun, M. and Steinke, T. (2016), Concentrated differential privacy, TCC, propositions 1.3
    and 1.4, lemma 1.7.

    Examples
    --------
    >>> round(zcdp_composition(epsilons=[0.5] * 20, delta=1e-6), 6)
    14.25394
    """
    check_epsilons("epsilons", epsilons)
    delta = check_share("delta", delta, ends="()")
    rho = round_up_sum("epsilons", [epsilon * epsilon / 2 for epsilon in epsilons])
    return rho + 2 * sqrt(rho * -log(delta))


def _composed_losses(
    epsilons: Iterable[float],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the possible sums of the losses, and their probabilities under the true hypothesis."""
    # Sort the epsilons, so that their order does not change even the last digit of the result.
    groups = sorted(Counter(map(float, epsilons)).items())
    if len(groups) > 1 and prod(count + 1 for _, count in groups) > _LISTED:
        return _losses_on_a_grid(groups)
    losses, weights = np.zeros(1), np.ones(1)
    for epsilon, count in groups:
        more, chances = _repeated_losses(epsilon, count)
        losses = np.add.outer(losses, more).ravel()
        weights = np.multiply.outer(weights, chances).ravel()
    return losses, weights


def _repeated_losses(epsilon: float, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Repeat binary randomized response m times: the loss for l flips is (m - 2 l) epsilon."""
    flips = np.arange(count + 1)
    losses: NDArray[np.float64] = np.multiply(count - 2.0 * flips, epsilon, dtype=np.float64)
    return losses, scipy.stats.binom.pmf(flips, count, expit(-epsilon))


def _losses_on_a_grid(
    groups: Sequence[tuple[float, int]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    step = fsum(epsilon * count for epsilon, count in groups) / _GRID
    first, weights = 0, np.ones(1)
    for epsilon, count in groups:
        losses, chances = _repeated_losses(epsilon, count)
        cells = np.floor(losses / step).astype(np.int64)
        # Each chance is divided between two grid points: x for the upper, 1 - x for the lower. This
        # keeps the sum of chance times exp(-loss) unchanged, which is the probability under the
        # other hypothesis.
        upper = np.clip(np.expm1(cells * step - losses) / np.expm1(-step), 0.0, 1.0)
        moves = np.bincount(
            np.concatenate([cells, cells + 1]) - cells.min(),
            np.concatenate([chances * (1 - upper), chances * upper]),
        )
        # Add the terms directly, not by Fourier transform. All terms are positive, so even the
        # smallest probabilities stay accurate.
        grown = np.zeros(len(weights) + len(moves) - 1)
        for move in np.flatnonzero(moves):
            grown[move : move + len(weights)] += moves[move] * weights
        first, weights = first + int(cells.min()), grown
    return np.multiply(first + np.arange(len(weights)), step, dtype=np.float64), weights


def _hockey_stick(
    losses: NDArray[np.float64], weights: NDArray[np.float64], *, epsilon: float
) -> float:
    above = losses > epsilon
    return float(-(weights[above] * np.expm1(epsilon - losses[above])).sum()) * _SLACK
