"""Describe segments, a few profiles of answers that people typically give to yes/no questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from aggregator.comparisons.result import Profile, SegmentsResult, TooFewToShow
from privacy.associations.contradictions import find_contradiction
from privacy.associations.segments import MOST_QUESTIONS, TooFewRowsError, estimate_segments
from surveys.comparing.choice import NotComparable, check_together, list_symbols
from surveys.comparing.indicators import Indicator
from surveys.manifest.manifest import Manifest

QUESTIONS = "questions"  # the field of a form that an error belongs to
AFTER_CLOSE = (
    "Profiles are computed only once the survey has closed and all its reports are counted."
)
HOW_MANY = "Choose two to six different questions."
PLAIN_ONLY = (
    "{label} cannot be part of a profile. Choose scrambled yes/no questions that everyone who is "
    "asked must answer."
)
TOO_FEW_ROWS = (
    "The most likely table of these answers has fewer than {segments} different rows, so it cannot "
    "have {segments} profiles. Choose fewer profiles, or other questions."
)
TOO_SMALL = (
    "A profile would have fewer than {minimum:,} people, which is too few to show. Choose fewer "
    "profiles, or other questions."
)


def check_segments(manifest: Manifest, chosen: Sequence[Indicator], *, is_final: bool) -> None:
    """Raise NotComparable unless profiles of these questions can be computed."""
    if not is_final:
        raise NotComparable(AFTER_CLOSE)
    if not 2 <= len(list_symbols(chosen)) == len(chosen) <= MOST_QUESTIONS:
        raise NotComparable(HOW_MANY, field=QUESTIONS)
    for indicator in chosen:
        if not indicator.is_plain:
            raise NotComparable(PLAIN_ONLY.format(label=indicator.label), field=QUESTIONS)
    check_together(manifest, chosen, field=QUESTIONS)


def analyse_segments(
    *,
    indicators: Sequence[Indicator],
    counts: NDArray[np.int64],
    segments: int,
    minimum: int,
    after_each: Callable[[], None] = lambda: None,
) -> SegmentsResult:
    """Describe the profiles; raise TooFewToShow if one has fewer than `minimum` people.

    `after_each` is called after each sample of the bootstrap.
    """
    variables = [indicator.variable for indicator in indicators]
    try:
        found = estimate_segments(
            counts=counts, variables=variables, segments=segments, after_each=after_each
        )
    except TooFewRowsError as error:
        raise TooFewToShow(TOO_FEW_ROWS.format(segments=segments)) from error
    if found.total * found.segments.sizes.min() < minimum:
        raise TooFewToShow(TOO_SMALL.format(minimum=minimum))
    return SegmentsResult(
        n=found.total,
        contradiction=find_contradiction(counts=counts, variables=variables),
        profiles=tuple(
            Profile(size=size, size_spread=size_spread, shares=tuple(shares), spread=spread)
            for size, size_spread, shares, spread in zip(
                found.segments.sizes.tolist(),
                found.size_spread.tolist(),
                found.segments.centres.tolist(),
                found.spread.tolist(),
                strict=True,
            )
        ),
    )
