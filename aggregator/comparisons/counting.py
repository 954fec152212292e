"""Count how many reports show each combination of the codes of several indicators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.cross_tabulation import cross_tabulate
from surveys.comparing.indicators import Indicator


def cross_tabulate_indicators(
    packed: bytes, *, size: int, columns: Columns, indicators: Sequence[Indicator]
) -> NDArray[np.int64]:
    """Cross-tabulate the codes of several indicators over the reports that contain all of them."""
    masks = find_masks(columns, indicators)
    symbols = [
        place
        for indicator in indicators
        for place in (indicator.gate_place, indicator.place)
        if place is not None
    ]
    wanted = [*masks, *(columns.places[place] for place in symbols)]
    counts = cross_tabulate(packed, size=size, ks=columns.ks, columns=wanted)
    drawn: NDArray[np.int64] = counts[(1,) * len(masks)]
    return drawn.reshape([indicator.codes for indicator in indicators])


def find_masks(columns: Columns, indicators: Sequence[Indicator]) -> list[int]:
    """Find the columns that say who was asked these indicators, or none if everybody was asked."""
    masks = (columns.masks[indicator.place] for indicator in indicators)
    return list(dict.fromkeys(mask for mask in masks if mask is not None))
