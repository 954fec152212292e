"""Results that a worker refuses to show because too few people, or none, are behind them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surveys.comparing.indicators import Indicator

NOBODY = "Nobody is in the group {label}. Choose another group."


class TooFewToShow(Exception):
    """The message says what to choose instead."""


def check_not_empty(counts: NDArray[np.int64], indicators: Sequence[Indicator]) -> None:
    """Raise TooFewToShow if a declared group of these counts has nobody."""
    for axis, indicator in enumerate(indicators):
        if indicator.is_known and not counts.take(list(indicator.yes), axis=axis).any():
            raise TooFewToShow(NOBODY.format(label=indicator.label))
