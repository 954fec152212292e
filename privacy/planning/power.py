"""How surely shares will be told apart, and how many people that takes.

Every figure assumes one test at a fixed end: a date or a number of people was settled beforehand
and kept. Shares are fractions, not percentage points.
"""

from __future__ import annotations

from math import ceil, log, log1p, sqrt
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

from privacy.checks import MOST_REPORTS, check_share, check_whole
from privacy.distributions import binomial
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.precision import smallest_number

Sides = Literal[1, 2]
# Exact power is not monotone, so every number of people up to a safe bound is tried.
_MOST_PEOPLE_EXACTLY = 1_000_000
_CHUNK = 8192


def power_one_sample(
    *,
    null: float,
    alternative: float,
    people: int,
    mechanism: RandomizedResponse,
    significance: float = 0.05,
    sides: Sides = 2,
) -> float:
    """Find how surely a share will be told from a given one.

    Parameters
    ----------
    null, alternative : float
        The share to be refuted and the true one, in [0, 1] and different.
    people : int
        Reports n, at least 1.
    mechanism : RandomizedResponse
        The question's mechanism.
    significance : float, optional
        Probability of refuting the null share when it is true, in (0, 1).
    sides : {1, 2}, optional
        1 tests in the direction of the alternative only.

    Returns
    -------
    float
        Probability of refuting the null share.

    Raises
    ------
    ValueError
        If a number is out of range or the shares are equal.

    Notes
    -----
    Phi((|p1 - p0| sqrt(n) - z s(p0)) / s(p1)), s(p) = sqrt(l (1 - l)) / d, plus the other tail if
    two-sided. Assumes one test at a fixed end and the normal approximation; see
    `exact_power_one_sample` for small n.

    References
    ----------
    Lachin, J. M. (1981), Introduction to sample size determination and power analysis for
    clinical trials, Controlled Clinical Trials 2(2).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(power_one_sample(
    ...     null=0.0, alternative=0.1, people=483, mechanism=coins, sides=1), 6)
    0.800575
    """
    _check_pair(null=null, alternative=alternative)
    people = check_whole("people", people, at_least=1)
    return _one_sample_power(
        null,
        alternative,
        people,
        c=mechanism.other_probability,
        d=mechanism.slope,
        quantile=_tail_quantile(significance, sides),
        sides=sides,
    )


def people_for_power_one_sample(
    *,
    null: float,
    alternative: float,
    power: float = 0.8,
    mechanism: RandomizedResponse,
    significance: float = 0.05,
    sides: Sides = 2,
) -> int:
    """Find how many people it takes to tell a share from a given one.

    Parameters
    ----------
    null, alternative : float
        The share to be refuted and the true one, in [0, 1] and different.
    power : float, optional
        Wanted probability of refuting the null share, in (0, 1).
    mechanism : RandomizedResponse
        The question's mechanism.
    significance : float, optional
        Probability of refuting the null share when it is true, in (0, 1).
    sides : {1, 2}, optional
        1 tests in the direction of the alternative only.

    Returns
    -------
    int
        The smallest number of people whose `power_one_sample` reaches the wanted power.

    Raises
    ------
    ValueError
        If a number is out of range or the shares are equal.

    Notes
    -----
    Assumes one test at a fixed end and the normal approximation.

    References
    ----------
    Lachin, J. M. (1981), Introduction to sample size determination and power analysis for
    clinical trials, Controlled Clinical Trials 2(2).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> people_for_power_one_sample(null=0.0, alternative=0.1, mechanism=coins, sides=1)
    483
    """
    _check_pair(null=null, alternative=alternative)
    power = check_share("power", power, ends="()")
    c, d = mechanism.other_probability, mechanism.slope
    quantile = _tail_quantile(significance, sides)
    return smallest_number(
        lambda people: (
            _one_sample_power(null, alternative, people, c=c, d=d, quantile=quantile, sides=sides)
            >= power
        )
    )


def power_two_samples(
    *,
    first: float,
    second: float,
    people: int,
    mechanism: RandomizedResponse,
    significance: float = 0.05,
    sides: Sides = 2,
) -> float:
    """Find how surely two groups of equal size will be told apart.

    Parameters
    ----------
    first, second : float
        The true shares of the groups, in [0, 1] and different.
    people : int
        Reports in each group, at least 1.
    mechanism : RandomizedResponse
        The question's mechanism, the same in both groups; who is in which group is known.
    significance : float, optional
        Probability of telling equal groups apart, in (0, 1).
    sides : {1, 2}, optional
        1 tests in the direction of the true difference only.

    Returns
    -------
    float
        Probability of finding a difference.

    Raises
    ------
    ValueError
        If a number is out of range or the shares are equal.

    Notes
    -----
    Standard error s((p1 + p2) / 2) sqrt(2 / n) under equality, sqrt((s(p1)**2 + s(p2)**2) / n)
    otherwise, s as in `power_one_sample`. Assumes one test at a fixed end and the normal
    approximation.

    References
    ----------
    Lachin, J. M. (1981), Introduction to sample size determination and power analysis for
    clinical trials, Controlled Clinical Trials 2(2).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(power_two_samples(first=0.2, second=0.3, people=1000, mechanism=coins), 3)
    0.637
    """
    _check_pair(first=first, second=second)
    people = check_whole("people", people, at_least=1)
    return _two_sample_power(
        first,
        second,
        people,
        c=mechanism.other_probability,
        d=mechanism.slope,
        quantile=_tail_quantile(significance, sides),
        sides=sides,
    )


def people_for_power_two_samples(
    *,
    first: float,
    second: float,
    power: float = 0.8,
    mechanism: RandomizedResponse,
    significance: float = 0.05,
    sides: Sides = 2,
) -> int:
    """Find how many people each of two groups needs for telling them apart.

    Parameters
    ----------
    first, second : float
        The true shares of the groups, in [0, 1] and different.
    power : float, optional
        Wanted probability of finding a difference, in (0, 1).
    mechanism : RandomizedResponse
        The question's mechanism, the same in both groups; who is in which group is known.
    significance : float, optional
        Probability of telling equal groups apart, in (0, 1).
    sides : {1, 2}, optional
        1 tests in the direction of the true difference only.

    Returns
    -------
    int
        The smallest number of people per group whose `power_two_samples` reaches the wanted
        power.

    Raises
    ------
    ValueError
        If a number is out of range or the shares are equal.

    Notes
    -----
    Assumes one test at a fixed end and the normal approximation.

    References
    ----------
    Lachin, J. M. (1981), Introduction to sample size determination and power analysis for
    clinical trials, Controlled Clinical Trials 2(2).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> people_for_power_two_samples(first=0.2, second=0.3, mechanism=coins)
    1471
    """
    _check_pair(first=first, second=second)
    power = check_share("power", power, ends="()")
    c, d = mechanism.other_probability, mechanism.slope
    quantile = _tail_quantile(significance, sides)
    return smallest_number(
        lambda people: (
            _two_sample_power(first, second, people, c=c, d=d, quantile=quantile, sides=sides)
            >= power
        )
    )


def exact_power_one_sample(
    *,
    null: float,
    alternative: float,
    people: int,
    mechanism: RandomizedResponse,
    significance: float = 0.05,
    sides: Sides = 2,
) -> float:
    """Find how surely the exact binomial test will tell a share from a given one.

    Parameters
    ----------
    null, alternative : float
        The share to be refuted and the true one, in [0, 1] and different.
    people : int
        Reports n, at least 1.
    mechanism : RandomizedResponse
        The question's mechanism.
    significance : float, optional
        Probability of refuting the null share when it is true is at most this, in (0, 1).
    sides : {1, 2}, optional
        1 tests in the direction of the alternative only.

    Returns
    -------
    float
        Probability of refuting the null share, summed over all counts.

    Raises
    ------
    ValueError
        If a number is out of range or the shares are equal.

    Notes
    -----
    Two-sided, each tail gets half the significance, as in the Clopper-Pearson interval.
    Assumes one test at a fixed end; no approximation. As n grows the power rises and drops
    like the teeth of a saw.

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
    _check_pair(null=null, alternative=alternative)
    people = check_whole("people", people, at_least=1, at_most=MOST_REPORTS)
    tail = _tail_significance(significance, sides)
    before, after = _reported(null, mechanism), _reported(alternative, mechanism)
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
    """Find the number of people from which on the exact test is surely powerful enough.

    Parameters
    ----------
    null, alternative : float
        The share to be refuted and the true one, in [0, 1] and different.
    power : float, optional
        Wanted probability of refuting the null share, in (0, 1).
    mechanism : RandomizedResponse
        The question's mechanism.
    significance : float, optional
        Probability of refuting the null share when it is true is at most this, in (0, 1).
    sides : {1, 2}, optional
        1 tests in the direction of the alternative only.

    Returns
    -------
    int
        The smallest number such that `exact_power_one_sample` reaches the wanted power there
        and for every larger number of people: some more or fewer reports do no harm.

    Raises
    ------
    ValueError
        If a number is out of range, the shares are equal, or so close that more than a million
        people might be needed; then use `people_for_power_one_sample`, whose approximation
        has long become exact.

    Notes
    -----
    Hoeffding's inequality, applied to the critical count and to missing it, gives a number of
    people from which on the power is surely reached; below it every number is tried. Assumes
    one test at a fixed end; no approximation.

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
    _check_pair(null=null, alternative=alternative)
    power = check_share("power", power, ends="()")
    tail = _tail_significance(significance, sides)
    before, after = _reported(null, mechanism), _reported(alternative, mechanism)
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


def _one_sample_power(
    null: float,
    alternative: float,
    people: int,
    *,
    c: float,
    d: float,
    quantile: float,
    sides: Sides,
) -> float:
    critical = quantile * _channel_spread(null, c=c, d=d)
    spread = _channel_spread(alternative, c=c, d=d)
    return _power(abs(alternative - null) * sqrt(people), critical, spread, sides)


def _two_sample_power(
    first: float, second: float, people: int, *, c: float, d: float, quantile: float, sides: Sides
) -> float:
    critical = quantile * _channel_spread((first + second) / 2, c=c, d=d) * sqrt(2)
    spreads = [_channel_spread(share, c=c, d=d) for share in (first, second)]
    return _power(
        abs(first - second) * sqrt(people), critical, sqrt(sum(s**2 for s in spreads)), sides
    )


def _power(shift: float, critical: float, spread: float, sides: Sides) -> float:
    found = float(ndtr((shift - critical) / spread))
    return found if sides == 1 else found + float(ndtr((-shift - critical) / spread))


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


def _channel_spread(share: float, *, c: float, d: float) -> float:
    """s(p): standard error of an estimated share from one report, for any channel l = c + d p."""
    reported = c + d * share
    return sqrt(reported * (1 - reported)) / d


def _reported(share: float, mechanism: RandomizedResponse) -> float:
    return mechanism.other_probability + mechanism.slope * share


def _tail_significance(significance: float, sides: Sides) -> float:
    significance = check_share("significance", significance, ends="()")
    if isinstance(sides, bool) or sides not in (1, 2):
        raise ValueError(f"sides must be 1 or 2, got {sides!r}")
    return significance / sides


def _tail_quantile(significance: float, sides: Sides) -> float:
    return -float(ndtri(_tail_significance(significance, sides)))


def _check_pair(**shares: float) -> None:
    for name, value in shares.items():
        check_share(name, value)
    (first, before), (second, after) = shares.items()
    if before == after:
        raise ValueError(f"{second} must differ from {first}, got {after!r}")
