"""Find how many people an estimate describes, and how many direct answers would be as precise."""

from __future__ import annotations

from dataclasses import dataclass

from aggregator.results.estimands import Among
from aggregator.results.estimate import Estimate, QuestionResult
from surveys.formatting import whole


@dataclass(frozen=True, kw_only=True)
class People:
    """Roughly how many people a share or mean of only some people describes."""

    heading: str  # what these people did
    number: str  # "95 (0–245)", or "95" if the people are counted
    is_counted: bool


def find_people(question: QuestionResult, estimate: Estimate) -> People | None:
    """Estimate how many people `estimate` describes; return None for everyone or if unknown."""
    everyone = {
        one.estimand.name: one for one in question.estimates if one.estimand.of is Among.EVERYONE
    }
    of = estimate.estimand.of
    if of is Among.EVERYONE:
        return None
    if of is Among.YES and "yes" in everyone:
        return _find_people("Said Yes", everyone["yes"])
    if "asked" in everyone:
        return _find_people("Asked", everyone["asked"])
    if "refused" in everyone:
        return _find_people("Answered", everyone["refused"], is_rest=True)
    return None


def _find_people(heading: str, share: Estimate, *, is_rest: bool = False) -> People | None:
    """Turn a share of everyone, or its complement, into a number of people."""
    if not share.is_shown or share.displayed is None:
        return None
    ends = (share.displayed, share.low, share.high)
    if is_rest:
        ends = (1 - share.displayed, 1 - share.high, 1 - share.low)
    value, low, high = (whole(round(share.total * end)) for end in ends)
    is_counted = share.low == share.high  # only unscrambled answers have no interval
    number = value if is_counted else f"{value} ({low}–{high})"
    return People(heading=heading, number=number, is_counted=is_counted)


def find_effective_size(estimate: Estimate) -> float | None:
    """Find how many direct answers would be as precise; return None if there is no such number.

    For a share of only some people, these are direct answers from those people.
    """
    if not estimate.is_shown:
        return None
    share, error = estimate.displayed, estimate.standard_error
    is_part = not estimate.is_mean and estimate.estimand.of is not Among.EVERYONE
    if is_part and share is not None and error and 0 < share < 1:
        return share * (1 - share) / error**2
    return estimate.effective_sample_size
