"""The precision of shares, and the number of people needed.

Every result assumes a rule for ending the survey. With a "fixed end", a date or a number of people
was fixed beforehand and kept. In a "watched" survey, researchers see results at looks and may stop
at any look. Shares and half-widths are fractions, not percentage points.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, sqrt

from scipy.special import ndtri

from privacy.checks import MOST_REPORTS, check_level, check_positive, check_share, check_whole
from privacy.level import LEVEL
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.intervals import clopper_pearson
from privacy.shares.looks import planned_times, repeated_level

_TINY = 1e-12


def half_width(
    *, share: float, people: int, mechanism: RandomizedResponse, level: float = LEVEL
) -> float:
    """Find the half-width that the interval of a share will have.

    Parameters
    ----------
    share : float
        The expected true share, in [0, 1].
    people : int
        Number of reports n, at least 1.
    mechanism : RandomizedResponse
        The question's mechanism.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    float
        z sqrt(l (1 - l) / n) / d with l = c + d p.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    The result assumes a fixed end and the normal approximation, and is not clipped to [0, 1]. The
    interval shown afterwards is usually the likelihood-ratio interval, which has nearly the same
    length. For a watched survey, see `watched_half_width`.

    References
    ----------
    Warner, S. L. (1965), Randomized response: a survey technique for eliminating evasive
    answer bias, JASA 60(309) (k = 2).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(half_width(share=0.2, people=400, mechanism=coins), 3)
    0.093
    """
    share = check_share("share", share)
    people = check_whole("people", people, at_least=1)
    return (
        normal_quantile(level) * one_report_spread(share=share, mechanism=mechanism) / sqrt(people)
    )


def people_for_half_width(
    *, share: float, half_width: float, mechanism: RandomizedResponse, level: float = LEVEL
) -> int:
    """Find how many people must answer for a desired precision.

    Parameters
    ----------
    share : float
        The expected true share, in [0, 1].
    half_width : float
        Desired half-width, in (0, 1); .05 for "give or take 5 points".
    mechanism : RandomizedResponse
        The question's mechanism.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    int
        z**2 l (1 - l) / (d h)**2 with the exact normal quantile z, rounded up. This is the smallest
        number of people for which the half-width is at most the desired one.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    The result assumes a fixed end and the normal approximation. For a watched survey, see
    `people_for_watched_half_width`.

    References
    ----------
    Warner, S. L. (1965), Randomized response: a survey technique for eliminating evasive
    answer bias, JASA 60(309) (k = 2).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> people_for_half_width(share=0.2, half_width=0.05, mechanism=coins)
    1399
    """
    share = check_share("share", share)
    half_width = check_share("half_width", half_width, ends="()")
    return round_up_people(
        (normal_quantile(level) * one_report_spread(share=share, mechanism=mechanism) / half_width)
        ** 2
    )


def watched_half_width(
    *,
    share: float,
    people: int,
    mechanism: RandomizedResponse,
    expected: float | None = None,
    level: float = LEVEL,
) -> float:
    """Find the half-width that the interval of a share will have in a watched survey.

    Parameters
    ----------
    share : float
        The expected true share, in [0, 1].
    people : int
        Number of reports n at the look in question, at least 1.
    mechanism : RandomizedResponse
        The question's mechanism.
    expected : float or None, optional
        Number of reports that the survey announces as expected, positive. If None, it is `people`.
    level : float, optional
        Confidence level for all looks together, in (0, 1).

    Returns
    -------
    float
        Half the length of the interval at a look at n reports, before the interval is clipped to
        [0, 1]. The expected number (c + d p) n of these reports show the symbol.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    The interval is the guaranteed one, at the level of this look (see
    `privacy.shares.looks.planned_times`). The length is interpolated between whole numbers of
    reports that show the symbol.

    References
    ----------
    Jennison, C. and Turnbull, B. W. (2000), Group Sequential Methods with Applications to Clinical
    Trials, section 9.2 (repeated confidence intervals).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(watched_half_width(share=0.2, people=1399, mechanism=coins), 4)
    0.0585
    >>> round(watched_half_width(share=0.2, people=140, mechanism=coins, expected=1399), 3)
    0.289
    """
    share = check_share("share", share)
    people = check_whole("people", people, at_least=1, at_most=MOST_REPORTS)
    number = people if expected is None else check_positive("expected", expected)
    shown = people * reported_share(share, mechanism)
    fewer = min(floor(shown), people - 1)
    # With a channel that is almost the identity, the ends are reported shares, and nothing is cut
    # off at 0 or 1.
    found = clopper_pearson(
        successes=[fewer, fewer + 1],
        total=people,
        other_probability=_TINY,
        slope=1 - 3 * _TINY,
        level=watched_level(level, time=people / number),
    )
    lengths = found.high - found.low
    length = lengths[0] + (shown - fewer) * (lengths[1] - lengths[0])
    return float(length) / (2 * mechanism.slope)


def watched_level(level: float = LEVEL, *, time: float = 1.0) -> float:
    """Find the level of one interval at one of the usual looks.

    Parameters
    ----------
    level : float, optional
        Confidence level for all looks together, in (0, 1).
    time : float, optional
        Number of reports at this look as a fraction of the number expected, positive.

    Returns
    -------
    float
        Value of `privacy.shares.looks.repeated_level` at the usual looks up to this time.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> round(watched_level(), 4), round(watched_level(time=0.1), 4)
    (0.9768, 0.9996)
    """
    return repeated_level(level, times=planned_times(time))


def people_for_watched_half_width(
    *, share: float, half_width: float, mechanism: RandomizedResponse, level: float = LEVEL
) -> int:
    """Find how many people must answer for a desired precision in a watched survey.

    Parameters
    ----------
    share : float
        The expected true share, in [0, 1].
    half_width : float
        Desired half-width, in (0, 1).
    mechanism : RandomizedResponse
        The question's mechanism.
    level : float, optional
        Confidence level for all looks together, in (0, 1).

    Returns
    -------
    int
        A number of people for which `watched_half_width` is at most the desired half-width, but is
        larger with one person fewer, or 2**53 if more people are needed.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    The result assumes that the survey announces the number of people as expected before it opens. A
    half-width of 5 points or less requires about a third more people than with a fixed end.

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> people_for_watched_half_width(share=0.2, half_width=0.05, mechanism=coins)
    1913
    """
    half_width = check_share("half_width", half_width, ends="()")

    def reached(people: int) -> bool:
        if people >= MOST_REPORTS:
            return True  # floats cannot count more people
        width = watched_half_width(share=share, people=people, mechanism=mechanism, level=level)
        return width <= half_width

    return smallest_number(reached)


def one_report_spread(*, share: float, mechanism: RandomizedResponse) -> float:
    """Find s(p) = sqrt(l (1 - l)) / d: an estimated share's standard error from one report."""
    share = check_share("share", share)
    reported = reported_share(share, mechanism)
    return sqrt(reported * (1 - reported)) / mechanism.slope


def smallest_number(reached: Callable[[int], bool]) -> int:
    """Find the smallest number of people that reaches a goal, if all larger numbers reach it."""
    high = 1
    while not reached(high):
        high *= 2
    low = high // 2  # not reached, or 0
    while high - low > 1:
        middle = (low + high) // 2
        if reached(middle):
            high = middle
        else:
            low = middle
    return high


def reported_share(share: float, mechanism: RandomizedResponse) -> float:
    """Compute l = c + d p, the expected share of reports that show a symbol of share p."""
    return mechanism.other_probability + mechanism.slope * share


def round_up_people(people: float) -> int:
    """Round up to a number of people, at least 1."""
    # Rounding errors in the last bits must not turn an exact integer into the next one.
    return max(1, ceil(people * (1 - 1e-12)))


def normal_quantile(level: float) -> float:
    """Find z such that a two-sided normal interval of +- z standard errors has this level."""
    level = check_level(level)
    return float(ndtri((1 + level) / 2))
