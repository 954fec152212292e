"""What most questions of a draft have, so that it is set once and said only where it differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from surveys.manifest.strength import TWO_COINS
from surveys.models import Question


def find_usual_strength(questions: Iterable[Question]) -> int:
    """Return the flips of most scrambled questions, the earliest if as many have others."""
    found = Counter(one.flips for one in questions if one.described.is_scrambled)
    return found.most_common(1)[0][0] if found else TWO_COINS
