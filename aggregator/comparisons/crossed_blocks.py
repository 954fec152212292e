"""Whether a comparison would show too much about the few people who were asked several blocks.

Where each block has a file of rows of its own, no file says which rows belong to people who were
asked another block too. A comparison across blocks counts exactly these people.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aggregator.results.groups.equations import count_people_needed
from surveys.comparing.indicators import Indicator
from surveys.manifest.manifest import Manifest

NOBODY = "Nobody is in the group {label}. Choose another group."
FEW_ASKED = (
    "Too few people were asked all of these questions, or not all of them, to hide anybody among "
    "them. Choose questions from the same block."
)


class TooFewToShow(Exception):
    """The message says what to choose instead."""


def check_not_empty(counts: NDArray[np.int64], indicators: Sequence[Indicator]) -> None:
    """Raise TooFewToShow if a declared group of these counts has nobody."""
    for axis, indicator in enumerate(indicators):
        if indicator.is_known and not counts.take(list(indicator.yes), axis=axis).any():
            raise TooFewToShow(NOBODY.format(label=indicator.label))


def may_cross(
    manifest: Manifest, indicators: Sequence[Indicator], asked: NDArray[np.int64]
) -> bool:
    """Whether many people, or nobody, were asked each combination of these blocks.

    `asked` has an axis for each block: whether it was not drawn, or was.
    """
    blocks = {one.symbol.block for one in indicators} - {None}
    if manifest.drawn is None or len(blocks) < 2:
        return True
    needed = max(count_people_needed(manifest, block=block) for block in blocks)
    return not ((asked > 0) & (asked < needed)).any()
