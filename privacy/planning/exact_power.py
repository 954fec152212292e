"""The exact power of the binomial test of one share, and how many people that takes.

Every result assumes one test at a fixed end: a date or a number of people was fixed beforehand and
kept.
"""

from __future__ import annotations

from math import ceil, log, log1p, sqrt

import numpy as np

from privacy.checks import MOST_REPORTS, check_share, check_whole
from privacy.distributions import binomial
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.power import Sides, check_pair, tail_significance
from privacy.planning.precision import reported_share

# Exact power is not monotone, so every number of people up to a safe bound is tried.
_MOST_PEOPLE_EXACTLY = 1_000_000
_CHUNK = 8192


def exact_power_one_sample(
    *,
    null: float,
    alternative: float,
    people: int,
    mechanism: RandomizedResponse,
    significance: float = 0.05,
    sides: Sides = 2,
) -> float:
    """Compute the power of the exact binomial test of a share against a given one.

    Parameters
    ----------
    null, alternative : float
        The share to be rejected and the true share, in [0, 1] and different.
    people : int
        Reports n, at least 1.
    mechanism : RandomizedResponse
        The question's mechanism.
    significance : float, optional
        Upper bound of the probability of rejecting the null share when it is true, in (0, 1).
    sides : {1, 2}, optional
        1 tests in the direction of the alternative only.

    Returns
    -------
    float
        Probability of rejecting the null share, summed over all counts.

    Raises
    ------
    ValueError
        If a number is out of range or the shares are equal.

    Notes
    -----
    In a two-sided test, each tail gets half the significance, as in the Clopper-Pearson interval.
    Assumes one test at a fixed end; no approximation. As n grows, the power rises and drops in a
    sawtooth pattern.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934), The use of confidence or fiducial limits
    illustrated in the case of the binomial, Biometrika 26(4).
    Chernick, M. R. and Liu, C. Y. (2002), The saw-toothed behavior of power versus sample size
    and software solutions, The American Statistician 56(2).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(exact_power_one_sample(
    ...     null=0.0, alternative=0.1, people=483, mechanism=coins, sides=1), 4)
    0.7678
    """
    check_pair(null=null, alternative=alternative)
    people = check_whole("people", people, at_least=1, at_most=MOST_REPORTS)
    tail = tail_significance(significance, sides)
    before, after = reported_share(null, mechanism), reported_share(alternative, mechanism)
    return float(_exact_power(np.array([people]), before, after, tail=tail, sides=sides)[0])


def people_for_exact_power_one_sample(
    *,
    null: float,
    alternative: float,
    power: float = 0.8,
    mechanism: RandomizedResponse,
    significance: float = 0.05,
    sides: Sides = 2,
) -> int:
    """Find the number of people from which the exact test always has the desired power.

    Parameters
    ----------
    null, alternative : float
        The share to be rejected and the true share, in [0, 1] and different.
    power : float, optional
        Desired probability of rejecting the null share, in (0, 1).
    mechanism : RandomizedResponse
        The question's mechanism.
    significance : float, optional
        Upper bound of the probability of rejecting the null share when it is true, in (0, 1).
    sides : {1, 2}, optional
        1 tests in the direction of the alternative only.

    Returns
    -------
    int
        The smallest number such that `exact_power_one_sample` reaches the desired power there and
        for every larger number of people, so extra reports do no harm.

    Raises
    ------
    ValueError
        If a number is out of range, the shares are equal, or so close that more than a million
        people might be needed; then use `people_for_power_one_sample`, whose approximation
        is practically exact there.

    Notes
    -----
    Hoeffding's inequality, applied to the critical count and to the probability of missing it,
    gives a number of people from which the power is always reached; below it, every number is
    tried. Assumes one test at a fixed end; no approximation.

    References
    ----------
    Hoeffding, W. (1963), Probability inequalities for sums of bounded random variables, JASA
    58(301), theorem 1.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> people_for_exact_power_one_sample(null=0.0, alternative=0.1, mechanism=coins, sides=1)
    522
    """
    check_pair(null=null, alternative=alternative)
    power = check_share("power", power, ends="()")
    tail = tail_significance(significance, sides)
    before, after = reported_share(null, mechanism), reported_share(alternative, mechanism)
    # The critical count is at most n l0 + sqrt(n ln(1 / tail) / 2) + 1, and falling short of it
    # has probability at most exp(-2 (n (l1 - l0) - sqrt(n ln(1 / tail) / 2) - 1)**2 / n).
    reach = sqrt(-log(tail) / 2) + sqrt(-log1p(-power) / 2)
    distance = abs(after - before)
    root = (reach + sqrt(reach**2 + 4 * distance)) / (2 * distance)
    if root**2 > _MOST_PEOPLE_EXACTLY:
        raise ValueError(
            "alternative must be further from null for an exact search, "
            f"got {alternative!r} and {null!r}"
        )
    stop = ceil(root**2) + 1
    while stop > 1:
        start = max(1, stop - _CHUNK)
        people = np.arange(start, stop)
        powers = _exact_power(people, before, after, tail=tail, sides=sides)
        short = people[powers < power]
        if len(short):
            return int(short[-1]) + 1
        stop = start
    return 1


def _exact_power(
    people: np.ndarray, before: float, after: float, *, tail: float, sides: Sides
) -> np.ndarray:
    """Probability of a count in the rejection region, for several n at once."""
    if after < before:
        before, after = 1 - before, 1 - after  # counts the other reports instead
    # isf is the smallest s with P(count > s) <= tail: all larger counts are rejected.
    binom = binomial()
    power = binom.sf(binom.isf(tail, people, before), people, after)
    if sides == 2:
        power = power + binom.sf(binom.isf(tail, people, 1 - before), people, 1 - after)
    return np.asarray(power)
