"""How precisely a share among those who answer will be known, and how many people that takes.

Some people prefer not to say or are not asked; they send a code too. Every result assumes a rule
for ending the survey, as in `privacy.planning.precision`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from privacy.checks import (
    check_share,
    check_symbols,
    check_whole,
)
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.precision import (
    normal_quantile,
    reported_share,
    round_up_people,
    smallest_number,
)
from privacy.shares.bets import betting_sequence
from privacy.shares.ratio_cells import conditional_cells


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
        The expected true share among those who answer, in [0, 1].
    outside : sequence of float
        Shares of people whose code is not an answer: those who prefer not to say, and those who
        are not asked. One or more, each in [0, 1), together below 1.
    half_width : float
        Desired half-width of the share among those who answer, in (0, 1).
    mechanism : RandomizedResponse
        The question's mechanism, with one symbol for each share in `outside` and at least two for
        answers.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    int
        People taking part, including those outside; rounded up.

    Raises
    ------
    ValueError
        If a number is out of range or the mechanism leaves fewer than two answers.

    Notes
    -----
    Uses the delta method, which agrees with Fieller's interval when the denominator is known
    precisely. Assumes a fixed end and the normal approximation; for a watched survey see
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
    return round_up_people((normal_quantile(level) * spread / half_width) ** 2)


def watched_half_width_among_answerers(
    *,
    share: float,
    outside: Sequence[float],
    people: int,
    mechanism: RandomizedResponse,
    level: float = 0.95,
) -> float:
    """Find how precise a share among answerers will be in a watched survey.

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
    The sequence of `privacy.shares.bets.betting_sequence` at the expected counts, rounded to whole
    reports: valid at every look; no end has to be fixed.

    Examples
    --------
    >>> three = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> round(watched_half_width_among_answerers(
    ...     share=0.2, outside=[0.05], people=1941, mechanism=three), 3)
    0.096
    """
    share = check_share("share", share)
    parts = _check_outside(outside, mechanism)
    people = check_whole("people", people, at_least=1)
    answers, covered = mechanism.symbols - len(parts), 1 - sum(parts)
    others = covered * (1 - share) / (answers - 1)
    truth = [covered * share, *[others] * (answers - 1), *parts]
    counts = [round(people * reported_share(part, mechanism)) for part in truth]
    if not any(counts):
        return max(share, 1 - share)  # too few people to expect half a report of any symbol: [0, 1]
    cells = conditional_cells(counts=counts, mechanism=mechanism, event=[0], among=range(answers))
    found = betting_sequence(cells=cells, level=level, concentration=None)
    # The larger distance: clipping at 0 or 1 makes an interval look more precise than it is.
    return max(found.high - share, share - found.low)


def people_for_watched_half_width_among_answerers(
    *,
    share: float,
    outside: Sequence[float],
    half_width: float,
    mechanism: RandomizedResponse,
    level: float = 0.95,
) -> int:
    """Find how many people must take part in a watched survey when some will not answer.

    Parameters
    ----------
    share, outside, mechanism, level
        As for `watched_half_width_among_answerers`.
    half_width : float
        Desired distance to the further end of the interval, in (0, 1/2).

    Returns
    -------
    int
        People taking part, including those outside.

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
    7744
    """
    half_width = check_share("half_width", half_width, ends="()")

    def reached(people: int) -> bool:
        width = watched_half_width_among_answerers(
            share=share, outside=outside, people=people, mechanism=mechanism, level=level
        )
        return width <= half_width

    return smallest_number(reached)


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


def _check_outside(outside: Sequence[float], mechanism: RandomizedResponse) -> list[float]:
    parts = [check_share("outside", part, ends="[)") for part in outside]
    if not parts or sum(parts) >= 1:
        raise ValueError(
            f"outside must be shares that leave some people who answer, got {outside!r}"
        )
    check_symbols("mechanism", mechanism.symbols, at_least=len(parts) + 2)
    return parts
