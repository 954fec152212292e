"""The usual strength of a draft's questions, so that pages mention only what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from surveys.manifest.strength import TWO_COINS
from surveys.models import Question


def find_usual_strength(questions: Iterable[Question]) -> int:
    """Return the most frequent flips of scrambled questions or, in a tie, the earliest of these."""
    found = Counter(one.flips for one in questions if one.described.is_scrambled)
    return found.most_common(1)[0][0] if found else TWO_COINS
