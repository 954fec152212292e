"""How precisely shares will be known, and how many people that takes.

Every figure assumes a rule for ending the survey. "Fixed end": a date or a number of people was
settled beforehand and kept. "Watched": somebody looks as the reports come in and may stop at
any time. Shares and half-widths are fractions, not percentage points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, exp, log, log1p, sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln, ndtri

from privacy.checks import (
    check_distribution,
    check_level,
    check_positive,
    check_share,
    check_symbols,
    check_whole,
)
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional import dirichlet_sequence_share


def half_width(
    *, share: float, people: int, mechanism: RandomizedResponse, level: float = 0.95
) -> float:
    """Find how far, give or take, an estimated share will be known.

    Parameters
    ----------
    share : float
        The true share one expects, in [0, 1].
    people : int
        Reports n, at least 1.
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
    Assumes a fixed end and the normal approximation, not cut to [0, 1]; the interval shown
    afterwards is the likelihood-ratio one, nearly as long. For a watched survey see
    `watched_half_width`.

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
        _normal_quantile(level) * one_report_spread(share=share, mechanism=mechanism) / sqrt(people)
    )


def people_for_half_width(
    *, share: float, half_width: float, mechanism: RandomizedResponse, level: float = 0.95
) -> int:
    """Find how many people must answer for a wanted precision.

    Parameters
    ----------
    share : float
        The true share one expects, in [0, 1].
    half_width : float
        Wanted half-width, in (0, 1); .05 for "give or take 5 points".
    mechanism : RandomizedResponse
        The question's mechanism.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    int
        z**2 l (1 - l) / (d h)**2, with the exact normal quantile, rounded up: the smallest
        number of people whose half-width is at most the wanted one.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    Assumes a fixed end and the normal approximation. For a watched survey see
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
    return _round_up(
        (_normal_quantile(level) * one_report_spread(share=share, mechanism=mechanism) / half_width)
        ** 2
    )


def watched_half_width(
    *, share: float, people: int, mechanism: RandomizedResponse, level: float = 0.95
) -> float:
    """Find how far, give or take, a share will be known in a survey that is watched.

    Parameters
    ----------
    share : float
        The true share one expects, in [0, 1].
    people : int
        Reports n at the look in question, at least 1.
    mechanism : RandomizedResponse
        The question's mechanism.
    level : float, optional
        Confidence level for all looks together, in (0, 1).

    Returns
    -------
    float
        Half the length, before cutting to [0, 1], of the confidence sequence after n reports of
        which the expected number (c + d p) n show the symbol.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    Assumes the Beta(1/2, 1/2)-mixture confidence sequence, which holds at every look at once:
    looking and stopping at will are allowed, no end need be fixed.

    References
    ----------
    Robbins, H. (1970), Statistical methods related to the law of the iterated logarithm,
    Annals of Mathematical Statistics 41(5).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(watched_half_width(share=0.2, people=1399, mechanism=coins), 3)
    0.094
    """
    share = check_share("share", share)
    people = check_whole("people", people, at_least=1)
    level = check_level(level)
    reported = _reported(share, mechanism)
    shown, hidden = people * reported, people * (1 - reported)
    limit = float(betaln(0.5 + shown, 0.5 + hidden) - betaln(0.5, 0.5)) + log1p(-level)
    low = _lowest_kept(shown, hidden, limit)
    high = 1 - _lowest_kept(hidden, shown, limit)
    return (high - low) / (2 * mechanism.slope)


def people_for_watched_half_width(
    *, share: float, half_width: float, mechanism: RandomizedResponse, level: float = 0.95
) -> int:
    """Find how many people must answer for a wanted precision in a survey that is watched.

    Parameters
    ----------
    share : float
        The true share one expects, in [0, 1].
    half_width : float
        Wanted half-width, in (0, 1).
    mechanism : RandomizedResponse
        The question's mechanism.
    level : float, optional
        Confidence level for all looks together, in (0, 1).

    Returns
    -------
    int
        The smallest number of people whose `watched_half_width` is at most the wanted one.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    Assumes the Beta(1/2, 1/2)-mixture confidence sequence; no end need be fixed. For
    5 points and less it takes about four times as many people as a fixed end.

    References
    ----------
    Robbins, H. (1970), Statistical methods related to the law of the iterated logarithm,
    Annals of Mathematical Statistics 41(5).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> people_for_watched_half_width(share=0.2, half_width=0.05, mechanism=coins)
    5472
    """
    half_width = check_share("half_width", half_width, ends="()")
    return smallest_number(
        lambda people: (
            watched_half_width(share=share, people=people, mechanism=mechanism, level=level)
            <= half_width
        )
    )


def people_for_half_width_among_answerers(
    *,
    share: float,
    outside: Sequence[float],
    half_width: float,
    mechanism: RandomizedResponse,
    level: float = 0.95,
) -> int:
    """Find how many people must take part when some will not answer.

    Parameters
    ----------
    share : float
        The true share one expects among those who answer, in [0, 1].
    outside : sequence of float
        Shares of people whose code is none of an answer: who will prefer not to say, who will not
        be asked. One or more, each in [0, 1), together below 1.
    half_width : float
        Wanted half-width of the share among those who answer, in (0, 1).
    mechanism : RandomizedResponse
        The question's mechanism; those outside have a symbol each, the answers two or more.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    int
        People taking part, those outside included; rounded up.

    Raises
    ------
    ValueError
        If a number is out of range or the mechanism leaves fewer than two answers.

    Notes
    -----
    The delta method, which is Fieller's interval when the denominator is well known. Assumes a
    fixed end and the normal approximation; for a watched survey see
    `people_for_watched_half_width_among_answerers`.

    References
    ----------
    Fieller, E. C. (1954), Some problems in interval estimation, JRSS B 16(2).

    Examples
    --------
    >>> three = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> people_for_half_width_among_answerers(
    ...     share=0.2, outside=[0.05], half_width=0.05, mechanism=three)
    1941
    """
    share = check_share("share", share)
    parts = _check_outside(outside, mechanism)
    half_width = check_share("half_width", half_width, ends="()")
    spread = one_report_conditional_spread(
        share=share, covered=1 - sum(parts), mechanism=mechanism, outside=len(parts)
    )
    return _round_up((_normal_quantile(level) * spread / half_width) ** 2)


def watched_half_width_among_answerers(
    *,
    share: float,
    outside: Sequence[float],
    people: int,
    mechanism: RandomizedResponse,
    level: float = 0.95,
) -> float:
    """Find how precise a share among answerers will be in a survey that is watched.

    Parameters
    ----------
    share : float
        The true share among those who answer, in [0, 1].
    outside, mechanism
        As for `people_for_half_width_among_answerers`.
    people : int
        People taking part, at least 1.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    float
        The larger distance from the share to an end of the interval, so at most 1.

    Raises
    ------
    ValueError
        As for `people_for_half_width_among_answerers`.

    Notes
    -----
    The Dirichlet-mixture sequence of `privacy.shares.conditional.dirichlet_sequence_share` at the
    expected counts, rounded to whole reports: holds at every look, no end need be fixed.

    Examples
    --------
    >>> three = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> round(watched_half_width_among_answerers(
    ...     share=0.2, outside=[0.05], people=1941, mechanism=three), 3)
    0.119
    """
    share = check_share("share", share)
    parts = _check_outside(outside, mechanism)
    people = check_whole("people", people, at_least=1)
    answers, covered = mechanism.symbols - len(parts), 1 - sum(parts)
    others = covered * (1 - share) / (answers - 1)
    truth = [covered * share, *[others] * (answers - 1), *parts]
    counts = [round(people * _reported(part, mechanism)) for part in truth]
    if not any(counts):
        return max(share, 1 - share)  # so few that no symbol expects half a report: [0, 1]
    found = dirichlet_sequence_share(
        counts=counts,
        mechanism=mechanism,
        symbol=0,
        among=range(answers),
        level=level,
    )
    # The larger reach: an interval that is cut at 0 or 1 looks shorter than it is precise.
    return max(found.high - share, share - found.low)


def people_for_watched_half_width_among_answerers(
    *,
    share: float,
    outside: Sequence[float],
    half_width: float,
    mechanism: RandomizedResponse,
    level: float = 0.95,
) -> int:
    """Find how many people a share among answerers takes in a survey that is watched.

    Parameters
    ----------
    share, outside, mechanism, level
        As for `watched_half_width_among_answerers`.
    half_width : float
        Wanted distance to the further end of the interval, in (0, 1/2).

    Returns
    -------
    int
        People taking part, those outside included.

    Raises
    ------
    ValueError
        As for `watched_half_width_among_answerers`, or if half_width is out of range.

    Examples
    --------
    >>> three = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> needed = people_for_watched_half_width_among_answerers(
    ...     share=0.2, outside=[0.05], half_width=0.05, mechanism=three)
    >>> needed
    12704
    """
    half_width = check_share("half_width", half_width, ends="()")

    def reached(people: int) -> bool:
        width = watched_half_width_among_answerers(
            share=share, outside=outside, people=people, mechanism=mechanism, level=level
        )
        return width <= half_width

    return smallest_number(reached)


def design_effect(*, share: float, mechanism: RandomizedResponse) -> float:
    """Find how many times more people it takes than a direct question would.

    Parameters
    ----------
    share : float
        The true share, in (0, 1): at 0 and 1 a direct question is exact.
    mechanism : RandomizedResponse
        The question's mechanism.

    Returns
    -------
    float
        l (1 - l) / (d**2 p (1 - p)); for k = 2 it is 1 + t (1 - t) / ((2 t - 1)**2 p (1 - p)).

    Raises
    ------
    ValueError
        If share is out of range.

    Notes
    -----
    A ratio of variances: assumes a fixed end, and no interval.

    References
    ----------
    Warner, S. L. (1965), Randomized response: a survey technique for eliminating evasive
    answer bias, JASA 60(309) (k = 2).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> round(design_effect(share=0.2, mechanism=coins), 4)
    5.6875
    """
    share = check_share("share", share, ends="()")
    return one_report_spread(share=share, mechanism=mechanism) ** 2 / (share * (1 - share))


def mean_variance_ratio(*, shares: Sequence[float], mechanism: RandomizedResponse) -> float:
    """Compare two ways to learn the mean of a rating scale, at the same epsilon.

    Parameters
    ----------
    shares : sequence of float, length k
        True shares one expects of the values 0, 1, ..., k - 1.
    mechanism : RandomizedResponse
        The mechanism that would report the value itself, as one of k symbols.

    Returns
    -------
    float
        Variance of the mean from k symbols over that from one bit; above 1 the bit is better,
        though it tells the mean only.

    Raises
    ------
    ValueError
        If shares are not k shares that sum to one.

    Notes
    -----
    The bit is 1 with probability x / (k - 1) for value x, then passes through binary randomized
    response with the same epsilon. A ratio of variances: assumes a fixed end, and no interval.

    References
    ----------
    Ding, B., Kulkarni, J. and Yekhanin, S. (2017), Collecting telemetry data privately, NeurIPS
    (one-bit mean).

    Examples
    --------
    >>> five = RandomizedResponse.from_flips(symbols=5, flips=25)
    >>> round(mean_variance_ratio(shares=[0.05, 0.2, 0.5, 0.2, 0.05], mechanism=five), 1)
    1.3
    """
    truth = check_distribution("shares", shares, symbols=mechanism.symbols)
    values = np.arange(mechanism.symbols)
    reported = mechanism.channel() @ truth
    many = (reported @ values**2 - (reported @ values) ** 2) / mechanism.slope**2
    top = mechanism.symbols - 1
    bit = RandomizedResponse.from_epsilon(symbols=2, epsilon=mechanism.epsilon)
    mean = min(1.0, float(truth @ values) / top)
    return float(many / (top * one_report_spread(share=mean, mechanism=bit)) ** 2)


def too_many_options(*, symbols: int, epsilon: float) -> bool:
    """Say whether a question has too many options for its epsilon.

    Parameters
    ----------
    symbols : int
        Number of symbols k, at least 2.
    epsilon : float
        In nats, positive and finite.

    Returns
    -------
    bool
        True if k > 3 exp(epsilon) + 2: then other mechanisms, such as unary encoding, would
        be more accurate.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    Compares variances: assumes a fixed end, and no interval.

    References
    ----------
    Wang, T., Blocki, J., Li, N. and Jha, S. (2017), Locally differentially private protocols for
    frequency estimation, USENIX Security (direct encoding is best for k < 3 exp(epsilon) + 2).

    Examples
    --------
    >>> too_many_options(symbols=11, epsilon=1.0986), too_many_options(symbols=12, epsilon=1.0986)
    (False, True)
    """
    symbols = check_whole("symbols", symbols, at_least=2)
    epsilon = check_positive("epsilon", epsilon)
    # At 25 flips of 100 the limit is exactly 11; a threshold rounded down must not cross it.
    return symbols > 3 * exp(epsilon) + 2 + 0.001


def one_report_spread(*, share: float, mechanism: RandomizedResponse) -> float:
    """Find s(p) = sqrt(l (1 - l)) / d: an estimated share's standard error from one report."""
    share = check_share("share", share)
    reported = _reported(share, mechanism)
    return sqrt(reported * (1 - reported)) / mechanism.slope


def one_report_conditional_spread(
    *, share: float, covered: float, mechanism: RandomizedResponse, outside: int
) -> float:
    """Find the standard error of a share among the covered truths, from one report.

    The residual of a report is 1 - p if it shows the symbol, -p if it shows another covered
    one, and 0 if it shows one of those outside; how the others divide up does not matter.
    """
    share = check_share("share", share)
    covered = check_share("covered", covered, ends="(]")
    # The symbol of interest and at least one other are covered.
    outside = check_whole("outside", outside, at_least=0, at_most=mechanism.symbols - 2)
    c, d = mechanism.other_probability, mechanism.slope
    symbol = c + d * covered * share
    others = (mechanism.symbols - outside - 1) * c + d * covered * (1 - share)
    square = symbol * (1 - share) ** 2 + others * share**2
    mean = symbol * (1 - share) - others * share
    return sqrt(square - mean**2) / (d * covered)


def smallest_number(reached: Callable[[int], bool]) -> int:
    """Find the smallest number of people that reaches a goal which, once reached, stays reached."""
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


def _reported(share: float, mechanism: RandomizedResponse) -> float:
    return mechanism.other_probability + mechanism.slope * share


def _check_outside(outside: Sequence[float], mechanism: RandomizedResponse) -> list[float]:
    parts = [check_share("outside", part, ends="[)") for part in outside]
    if not parts or sum(parts) >= 1:
        raise ValueError(f"outside must be shares that leave somebody to answer, got {outside!r}")
    check_symbols("mechanism", mechanism.symbols, at_least=len(parts) + 2)
    return parts


def _lowest_kept(shown: float, hidden: float, limit: float) -> float:
    """Lower end, among reported shares, of the confidence sequence at these counts."""

    def excess(reported: float) -> float:
        return limit - shown * log(reported) - hidden * log1p(-reported)

    tiny = 1e-300
    if excess(tiny) <= 0:
        return 0.0
    return float(brentq(excess, tiny, shown / (shown + hidden), xtol=1e-15))


def _round_up(people: float) -> int:
    # An exact integer must not become the next one by the last bits of a product.
    return max(1, ceil(people * (1 - 1e-12)))


def _normal_quantile(level: float) -> float:
    level = check_level(level)
    return float(ndtri((1 + level) / 2))
