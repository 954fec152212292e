"""The total privacy loss of several releases about the same people.

Each function returns a valid upper bound, rounded up. The basic bound is the sum of the losses. The
smallest bound for pure releases comes from
`privacy.mechanism.composition_with_delta.exact_composition`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, expm1, fsum, inf, log, log1p, nextafter, sqrt

from privacy.checks import (
    check_epsilons,
    check_not_negative,
    check_positive,
    check_share,
    check_whole,
)

# This factor covers the rounding of a handful of operations, so that a loss is never understated.
_SLACK = 1 + 1e-14


def pure_rho(epsilon: float | Fraction) -> float:
    """Convert an epsilon without delta to zero-concentrated privacy.

    Parameters
    ----------
    epsilon : float or Fraction
        Epsilon in nats, positive and finite.

    Returns
    -------
    float
        epsilon**2 / 2, rounded up.

    Raises
    ------
    ValueError
        If epsilon is not positive and finite, or its square is not finite.

    References
    ----------
    Bun, M. and Steinke, T. (2016), Concentrated differential privacy, TCC, proposition 1.4.

    Examples
    --------
    >>> pure_rho(0.5)
    0.125
    """
    check_positive("epsilon", epsilon)
    return round_up_fraction("epsilon", Fraction(epsilon) ** 2 / 2)


def zcdp_epsilon(*, rho: float, delta: float) -> float:
    """Convert zero-concentrated privacy to an epsilon with a delta.

    Parameters
    ----------
    rho : float
        Sum of the rho values of all releases, at least 0 and finite.
    delta : float
        Delta, in (0, 1).

    Returns
    -------
    float
        Epsilon in nats, at least 0, rounded up. It is 0 for rho = 0.

    Raises
    ------
    ValueError
        If rho or delta is out of range.

    Notes
    -----
    The result is the minimum over alpha > 1 of rho alpha + (ln(1 / delta) + (alpha - 1) ln(1 - 1 /
    alpha) - ln alpha) / (alpha - 1). The derivative is 0 where rho (alpha - 1)**2 + ln alpha =
    ln(1 / delta). The left side increases with alpha, so there is only one such point. Any alpha
    gives a valid bound; the bisection only affects how tight the bound is.

    References
    ----------
    Canonne, C., Kamath, G. and Steinke, T. (2020), The discrete Gaussian for differential
    privacy, NeurIPS, proposition 12.

    Examples
    --------
    >>> round(zcdp_epsilon(rho=0.1, delta=1e-6), 9)
    2.141938928
    """
    rho = check_not_negative("rho", rho)
    delta = check_share("delta", delta, ends="()")
    if rho == 0:
        return 0.0
    needed = -log(delta)
    # Search for alpha - 1 in this interval. At the upper end, one term alone reaches `needed`.
    low, high = 0.0, min(sqrt(needed) / sqrt(rho), 1 / delta)
    while low < (middle := low + (high - low) / 2) < high:
        if rho * middle * middle + log1p(middle) < needed:
            low = middle
        else:
            high = middle
    excess = (needed - log1p(high)) / high - log1p(1 / high)
    # Bound the rounding error of the terms rather than of their sum, in which terms may cancel.
    error = (rho * (1 + high) + needed / high + log1p(1 / high)) * 1e-15
    return max(rho * (1 + high) + excess + error, 0.0)


def advanced_sum(*, epsilons: Sequence[float], delta: float) -> float:
    """Bound the total epsilon of releases, whose epsilons may differ, by advanced composition.

    Parameters
    ----------
    epsilons : sequence of float
        Epsilon of every release, each positive and finite.
    delta : float
        Delta, in (0, 1).

    Returns
    -------
    float
        sqrt(2 ln(1 / delta) sum of epsilon**2) + sum of epsilon (exp(epsilon) - 1), rounded up;
        infinite if an epsilon exceeds 350.

    Raises
    ------
    ValueError
        If there are no epsilons or a parameter is out of range.

    Notes
    -----
    The bound is valid for a series whose epsilons were fixed beforehand, but not as a rule for when
    to stop. With equal epsilons, it equals
    `privacy.mechanism.composition_with_delta.advanced_composition` apart from rounding. The proof
    is the same: losses lie within +-epsilon, their means are at most epsilon (exp(epsilon) - 1),
    and Azuma's inequality bounds the rest.

    References
    ----------
    Dwork, C., Rothblum, G. and Vadhan, S. (2010), Boosting and differential privacy, FOCS,
    theorem III.3.

    Examples
    --------
    >>> round(advanced_sum(epsilons=[0.05] * 200, delta=1e-6), 9)
    4.229633153
    """
    check_epsilons("epsilons", epsilons)
    delta = check_share("delta", delta, ends="()")
    values = [float(epsilon) for epsilon in epsilons]
    if max(values) > 350:
        return inf
    squares = fsum(value * value for value in values)
    means = fsum(value * expm1(value) for value in values)
    return (sqrt(2 * -log(delta) * squares) + means) * _SLACK


def parallel_epsilon(*, epsilons: Sequence[float]) -> float:
    """Return the total epsilon of releases about disjoint groups of people.

    Parameters
    ----------
    epsilons : sequence of float
        Epsilon of every release, each positive and finite. No person is in two releases.

    Returns
    -------
    float
        The largest epsilon, because each person is in only one release.

    Raises
    ------
    ValueError
        If there are no epsilons, or an epsilon is not positive and finite.

    References
    ----------
    McSherry, F. (2009), Privacy integrated queries, SIGMOD, theorem 4.

    Examples
    --------
    >>> parallel_epsilon(epsilons=[0.5, 0.25])
    0.5
    """
    check_epsilons("epsilons", epsilons)
    return max(float(epsilon) for epsilon in epsilons)


def group_delta(*, epsilon: float, delta: float, people: int) -> float:
    """Bound the delta of a group of people at `people` times the epsilon of one person.

    Parameters
    ----------
    epsilon : float
        Epsilon for one person in nats, positive and finite.
    delta : float
        Delta for one person, in [0, 1].
    people : int
        Number g of people in the group, at least 1.

    Returns
    -------
    float
        delta (exp(g epsilon) - 1) / (exp(epsilon) - 1), rounded up, but at most 1. The epsilon of
        the group is g epsilon.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    The bound is the sum of delta exp(i epsilon) over i from 0 to g - 1. It follows from the
    triangle inequality of the hockey-stick divergence along a chain of neighbours.

    References
    ----------
    Vadhan, S. (2017), The complexity of differential privacy, lemma 2.2 (g exp(g epsilon) delta,
    which is looser).

    Examples
    --------
    >>> round(group_delta(epsilon=0.5, delta=1e-6, people=3) * 1e6, 9)
    5.367003099
    """
    epsilon = check_positive("epsilon", epsilon)
    delta = check_share("delta", delta)
    people = check_whole("people", people, at_least=1)
    if delta == 0 or people == 1:
        return delta
    if people > 700 / epsilon:
        # Take the logarithm of the bound without the -1 in the numerator, which is below a float's
        # precision.
        logarithm = log(delta) + people * epsilon - epsilon - log(-expm1(-epsilon))
        return 1.0 if logarithm >= 0 else min(exp(logarithm) * (1 + 1e-12), 1.0)
    return min(delta * (expm1(people * epsilon) / expm1(epsilon)) * (1 + 1e-12), 1.0)


def round_up_fraction(argument: str, value: Fraction) -> float:
    """Convert an exact number to the nearest float that is not below it.

    Parameters
    ----------
    argument : str
        Name of the argument that the value comes from, for the error message.
    value : Fraction
        Number to convert, not negative.

    Returns
    -------
    float
        The smallest float that is at least the value.

    Raises
    ------
    ValueError
        If the value is too large for a float.

    Examples
    --------
    >>> round_up_fraction("epsilon", Fraction(1, 3)) >= Fraction(1, 3)
    True
    """
    try:
        rounded = float(value)
    except OverflowError:
        raise ValueError(f"{argument} is too large for a float") from None
    return rounded if Fraction(rounded) >= value else nextafter(rounded, inf)
