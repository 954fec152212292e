"""The levels of background questions: groups of codes that the file of rows merges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Level = tuple[int, ...]  # codes as sent


@dataclass(frozen=True, kw_only=True)
class Levels:
    """How the file of rows distinguishes the answers to one declared question.

    Each code as sent belongs to one level. Codes that no page shows share a level.
    """

    question: str
    levels: tuple[Level, ...]
    hidden: frozenset[int]

    def is_hidden(self, level: Level) -> bool:
        """Return whether a level contains a group that no page shows."""
        return not self.hidden.isdisjoint(level)

    @property
    def shown(self) -> tuple[Level, ...]:
        return tuple(level for level in self.levels if not self.is_hidden(level))

    def number_codes(self) -> NDArray[np.int64]:
        """Return the number of each code's level, in the order of the codes."""
        numbers = {code: place for place, level in enumerate(self.levels) for code in level}
        return np.array([numbers[code] for code in sorted(numbers)])

    def is_coarser(self, other: Levels) -> bool:
        """Return whether each level of `other` equals or lies within one of these levels."""
        return self.hidden == other.hidden and all(
            any(set(level) <= set(own) for own in self.levels) for level in other.levels
        )

    def merge(self, numbers: Sequence[int]) -> Levels:
        """Merge levels with the same number; `numbers` has one number for each level."""
        merged = {
            number: tuple(
                sorted(
                    code
                    for level, own in zip(self.levels, numbers, strict=True)
                    for code in level
                    if own == number
                )
            )
            for number in numbers
        }
        return Levels(question=self.question, levels=tuple(merged.values()), hidden=self.hidden)


Background = tuple[Levels, ...]


def is_within(background: Background, proposed: Background) -> bool:
    """Return whether a background distinguishes only what the proposed one distinguishes."""
    found = [(one, find_levels(proposed, one.question)) for one in background]
    return all(levels is not None and one.is_coarser(levels) for one, levels in found)


def find_levels(background: Background | None, name: str) -> Levels | None:
    """Return the levels of a question, or None if the background does not contain it."""
    return next((one for one in background or () if one.question == name), None)


def write_background(background: Background) -> list[dict[str, Any]]:
    """Convert a background for a JSON field."""
    return [
        {
            "question": one.question,
            "levels": [list(level) for level in one.levels],
            "hidden": sorted(one.hidden),
        }
        for one in background
    ]


def read_background(stored: Sequence[dict[str, Any]]) -> Background:
    return tuple(
        Levels(
            question=one["question"],
            levels=tuple(tuple(level) for level in one["levels"]),
            hidden=frozenset(one["hidden"]),
        )
        for one in stored
    )
