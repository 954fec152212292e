"""Whether an estimate is precise enough to publish, or to show at all: a pure rule on numbers.

It starts from the standards by which the US National Center for Health Statistics presents
proportions (Parker et al. 2017). What these standards suppress is shown here with a mark of
caution, because the interval beside it is honest. Figures whose interval says next to nothing are
hidden.
"""

from __future__ import annotations

from enum import StrEnum

ENOUGH_PEOPLE = 30.0
FEWEST_PEOPLE = 10.0
NARROW = 0.05  # precise enough whatever the share
WIDE = 0.3
WIDEST = 0.5
RELATIVELY_WIDE = 1.3  # of the share
# The number of people must not depend on the estimate: shares that came out far from 0 by chance
# would be shown, and those that came out at 0 would not.
COMPARED_AT = 0.2


class Reliability(StrEnum):
    """How an estimate may be used; a column of estimates.csv."""

    PUBLISHABLE = "publishable"
    CAUTION = "caution"
    NOT_SHOWN = "not_shown"  # on pages and charts; files and the API have every estimate


def rate_share(
    *, share: float, standard_error: float, interval: tuple[float, float], total: int
) -> Reliability:
    """Rate a share as it is displayed, which is inside its 95 % interval.

    `total` is the number of reports in which the question was asked: no report counts as more than
    one direct answer.
    """
    people = find_effective_people(standard_error=standard_error, total=total)
    width = interval[1] - interval[0]
    if people < FEWEST_PEOPLE or width > WIDEST:
        return Reliability.NOT_SHOWN
    is_narrow = width <= NARROW or width <= min(WIDE, RELATIVELY_WIDE * share)
    if people >= ENOUGH_PEOPLE and is_narrow:
        return Reliability.PUBLISHABLE
    return Reliability.CAUTION


def rate_mean(
    *, standard_error: float, interval: tuple[float, float], scale: tuple[float, float], total: int
) -> Reliability:
    """Rate a mean by its error and the width of its 95 % interval, as parts of all possible values.

    How much single answers differ is not estimated; it is taken to be as much as where 20 % of the
    people are at one end of the scale and all others at the other end.
    """
    length = scale[1] - scale[0]
    people = find_effective_people(standard_error=standard_error / length, total=total)
    width = (interval[1] - interval[0]) / length
    if people < FEWEST_PEOPLE or width > WIDEST:
        return Reliability.NOT_SHOWN
    is_precise = people >= ENOUGH_PEOPLE and width <= WIDE
    return Reliability.PUBLISHABLE if is_precise else Reliability.CAUTION


def find_effective_people(*, standard_error: float, total: int) -> float:
    """Find how many direct answers would be as precise if the true share were 20 %."""
    spread, variance = COMPARED_AT * (1 - COMPARED_AT), standard_error**2
    # If all codes are alike, the error is 0, which matches no number of people.
    return spread / variance if variance * total > spread else float(total)
