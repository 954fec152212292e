"""The power to detect a difference between shares, and the number of people needed.

Every result assumes one test at a fixed end: a date or a number of people was fixed beforehand and
kept. Shares are fractions, not percentage points.
"""

from __future__ import annotations

from math import sqrt
from typing import Literal

from scipy.special import ndtr, ndtri

from privacy.checks import check_share, check_whole
from privacy.level import SIGNIFICANCE
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.precision import smallest_number

Sides = Literal[1, 2]


def power_two_samples(
    *,
    first: float,
    second: float,
    people: int,
    mechanism: RandomizedResponse,
    significance: float = SIGNIFICANCE,
    sides: Sides = 2,
) -> float:
    """Compute the power to detect a difference between two groups of equal size.

    Parameters
    ----------
    first, second : float
        The true shares of the groups, in [0, 1] and different.
    people : int
        Number of reports in each group, at least 1.
    mechanism : RandomizedResponse
        The question's mechanism, the same in both groups. It is known who is in which group.
    significance : float, optional
        Probability of finding a difference between equal groups, in (0, 1).
    sides : {1, 2}, optional
        1 for a test only in the direction of the true difference, 2 for a two-sided test.

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
    The standard error is s((p1 + p2) / 2) sqrt(2 / n) under the hypothesis of equal shares, and
    sqrt((s(p1)**2 + s(p2)**2) / n) otherwise, with s(p) = sqrt(l (1 - l)) / d and l = c + d p. The
    result assumes one test after an end that was fixed in advance, and the normal approximation.

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
    check_pair(first=first, second=second)
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
    significance: float = SIGNIFICANCE,
    sides: Sides = 2,
) -> int:
    """Find how many people each of two groups needs to detect their difference.

    Parameters
    ----------
    first, second : float
        The true shares of the groups, in [0, 1] and different.
    power : float, optional
        Desired probability of finding a difference, in (0, 1).
    mechanism : RandomizedResponse
        The question's mechanism, the same in both groups. It is known who is in which group.
    significance : float, optional
        Probability of finding a difference between equal groups, in (0, 1).
    sides : {1, 2}, optional
        1 for a test only in the direction of the true difference, 2 for a two-sided test.

    Returns
    -------
    int
        The smallest number of people per group for which `power_two_samples` reaches the desired
        power.

    Raises
    ------
    ValueError
        If a number is out of range or the shares are equal.

    Notes
    -----
    The result assumes one test after an end that was fixed in advance, and the normal
    approximation.

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
    check_pair(first=first, second=second)
    power = check_share("power", power, ends="()")
    c, d = mechanism.other_probability, mechanism.slope
    quantile = _tail_quantile(significance, sides)
    return smallest_number(
        lambda people: (
            _two_sample_power(first, second, people, c=c, d=d, quantile=quantile, sides=sides)
            >= power
        )
    )


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


def _channel_spread(share: float, *, c: float, d: float) -> float:
    """Compute s(p), an estimated share's standard error from one report with l = c + d p."""
    reported = c + d * share
    return sqrt(reported * (1 - reported)) / d


def tail_significance(significance: float, sides: Sides) -> float:
    """Check a significance level and return the part of it that each tail gets."""
    significance = check_share("significance", significance, ends="()")
    if isinstance(sides, bool) or sides not in (1, 2):
        raise ValueError(f"sides must be 1 or 2, got {sides!r}")
    return significance / sides


def _tail_quantile(significance: float, sides: Sides) -> float:
    return -float(ndtri(tail_significance(significance, sides)))


def check_pair(**shares: float) -> None:
    """Reject two shares, given by name, that are out of range or equal."""
    for name, value in shares.items():
        check_share(name, value)
    (first, before), (second, after) = shares.items()
    if before == after:
        raise ValueError(f"{second} must differ from {first}, got {after!r}")
