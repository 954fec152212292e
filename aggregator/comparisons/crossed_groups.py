"""Whether a comparison would show how few people belong to several groups at once.

Who belongs to a declared group, and who was asked which blocks of questions, is known. A comparison
that uses two of these says how many people belong to each crossing of them. It is refused if some
crossing has few people, even one that only subtracting or another comparison would show.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.cross_tabulation import cross_tabulate
from aggregator.comparisons.counting import find_masks
from aggregator.results.small_groups import hide_small_groups
from surveys.comparing.indicators import Indicator

HIDDEN_GROUP = (
    "The group {label} is too small to show, or showing it would reveal the size of a group that "
    "is. Choose another group."
)
SMALL_CROSSING = (
    "Crossed with one another, these background questions have groups of fewer than {minimum:,} "
    "people, where nobody could hide. Choose one of them at a time."
)
FEW_ASKED = (
    "In some of these groups, fewer than {minimum:,} people were asked all of these questions, or "
    "were not asked all of them, so nobody could hide there. Choose a background question with "
    "fewer or larger groups, or compare without one."
)


class TooFewToShow(Exception):
    """The message says what to choose instead."""


def count_known(
    packed: bytes, *, size: int, columns: Columns, indicators: Sequence[Indicator]
) -> NDArray[np.int64]:
    """Count one batch by all that is known: first the drawn blocks, then the declared codes."""
    wanted = find_masks(columns, indicators)
    wanted += [columns.places[one.place] for one in indicators if one.is_known]
    return cross_tabulate(packed, size=size, ks=columns.ks, columns=wanted)


def check_crossings(
    people: NDArray[np.int64], indicators: Sequence[Indicator], *, minimum: int
) -> None:
    """Raise TooFewToShow unless every crossing in these counts has nobody or enough people.

    All groups of a declared question are crossed, not only the chosen one: two comparisons with
    different groups could be subtracted. Groups that no page shows count as one.
    """
    known = [indicator for indicator in indicators if indicator.is_known]
    masks = people.ndim - len(known)
    crossed = people
    for axis, indicator in enumerate(known, start=masks):
        groups = people.sum(axis=tuple(set(range(people.ndim)) - {axis}))
        hidden = hide_small_groups(groups.tolist(), minimum=minimum)
        is_empty = not groups[list(indicator.yes)].any()
        if is_empty or not hidden.isdisjoint(indicator.yes):
            raise TooFewToShow(HIDDEN_GROUP.format(label=indicator.label))
        crossed = merge_codes(crossed, axis, sorted(hidden))
    if crossed.ndim > 1 and ((crossed > 0) & (crossed < minimum)).any():
        message = FEW_ASKED if len(known) == 1 else SMALL_CROSSING
        raise TooFewToShow(message.format(minimum=minimum))


def merge_codes(counts: NDArray[np.int64], axis: int, codes: Sequence[int]) -> NDArray[np.int64]:
    """Add up the cells of these codes."""
    together = counts.take(codes, axis=axis).sum(axis=axis, keepdims=True)
    return np.concatenate([np.delete(counts, codes, axis=axis), together], axis=axis)
