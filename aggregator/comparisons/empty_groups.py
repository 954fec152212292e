"""Leave out groups that no one is in, or reject a comparison that depends on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aggregator.comparisons.result import TooFewToShow
from surveys.comparing.indicators import Answer, Factor, Indicator

NOBODY = "No one is in the group {label}. Choose another group."
ONE_GROUP_ONLY = "All people are in one group of Q{number}. Choose another question."


def check_not_empty(counts: NDArray[np.int64], indicators: Sequence[Indicator]) -> list[Indicator]:
    """Leave out empty groups of declared factors; raise TooFewToShow if too few are left."""

    def has_people(answer: Answer, axis: int) -> bool:
        return bool(counts.take(list(answer), axis=axis).any())

    kept: list[Indicator] = []
    for axis, indicator in enumerate(indicators):
        found = indicator
        if isinstance(indicator, Factor) and indicator.is_known:
            answers = [answer for answer in indicator.answers if has_people(answer, axis)]
            if len(answers) < 2:
                raise TooFewToShow(ONE_GROUP_ONLY.format(number=indicator.number))
            found = indicator.with_answers(answers)
        elif indicator.is_known and not has_people(indicator.yes, axis):
            raise TooFewToShow(NOBODY.format(label=indicator.label))
        kept.append(found)
    return kept
