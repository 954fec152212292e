"""Scores, added up by client/parts/score.js for respondents and by this module for simulations.

A score is a question (a number, a choice or Yes/No) whose answer the respondent's device computes
from the answers to the items of a scale. Everything after the respondent's page treats a score as
an ordinary question of its type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import TextChoices

from privacy.mechanism.drawing import MAX_RANGE
from surveys.manifest.question_types import QuestionType

LEAST_ITEMS, MOST_ITEMS = 2, 30
LEAST_OPTIONS, MOST_OPTIONS = 2, 11
LEAST_BANDS, MOST_BANDS = 2, 6
MOST_WEIGHT = 100
FURTHEST_VALUE = 1000


class Output(TextChoices):
    """The result of a score that is scrambled and sent."""

    TOTAL = "total", "The total: you learn its mean"
    BANDS = "bands", "Bands: you learn how many people are in each"
    CUT_OFF = "cut_off", "A cut-off: you learn how many people reach it"


CARRIERS = {
    Output.TOTAL: QuestionType.NUMBER,
    Output.BANDS: QuestionType.CHOICE,
    Output.CUT_OFF: QuestionType.YES_NO,
}
_OUTPUTS = {carrier: output for output, carrier in CARRIERS.items()}


@dataclass(frozen=True, kw_only=True)
class ScoredItem:
    """One line of a scale. For a reversed item, the highest value counts as the lowest."""

    text: str
    weight: int = 1
    reversed: bool = False


@dataclass(frozen=True, kw_only=True)
class ScoredOption:
    """An answer that all items share, and its value."""

    text: str
    value: int


@dataclass(frozen=True, kw_only=True)
class Score:
    """The rules by which a total is computed and by which the answer follows from the total.

    Without bounds, the total is the answer. Otherwise, the answer is the number of bounds that the
    total reaches: the code of a band, or 1 for a total that reaches the cut-off. A second code of a
    scale is a question without a page. In this case, `of` names the question that has the items.
    """

    items: tuple[ScoredItem, ...]
    options: tuple[ScoredOption, ...]
    bounds: tuple[int, ...] = ()
    of: str = ""

    @property
    def minimum(self) -> int:
        """The smallest total. A reversed item has the same smallest value as other items."""
        return min(one.value for one in self.options) * sum(one.weight for one in self.items)

    @property
    def maximum(self) -> int:
        return max(one.value for one in self.options) * sum(one.weight for one in self.items)

    def find_total(self, chosen: Sequence[int]) -> int:
        """Add up the values of the chosen options. `chosen` contains their positions, from 0."""
        values = [one.value for one in self.options]
        ends = min(values) + max(values)
        return sum(
            item.weight * (ends - values[place] if item.reversed else values[place])
            for item, place in zip(self.items, chosen, strict=True)
        )

    def find_answer(self, chosen: Sequence[int]) -> int:
        """Return the answer of the question that carries the score."""
        total = self.find_total(chosen)
        return sum(bound <= total for bound in self.bounds) if self.bounds else total

    def find_problem(self) -> str:
        """Say why these items and bounds do not form a score, or return "" if they do."""
        values = [one.value for one in self.options]
        weights = [one.weight for one in self.items]
        found: list[tuple[str, Sequence[int], int, int]] = [
            ("the number of items", [len(self.items)], LEAST_ITEMS, MOST_ITEMS),
            ("the number of answers", [len(self.options)], LEAST_OPTIONS, MOST_OPTIONS),
            ("a weight", weights, 1, MOST_WEIGHT),
            ("a value", values, -FURTHEST_VALUE, FURTHEST_VALUE),
            ("the number of bounds", [len(self.bounds)], 0, MOST_BANDS - 1),
        ]
        for what, numbers, low, high in found:
            for number in numbers:
                if type(number) is not int or not low <= number <= high:
                    return f"{what} must lie in [{low}, {high}], got {number!r}"
        if not 0 < self.maximum - self.minimum < MAX_RANGE:
            return f"totals from {self.minimum} to {self.maximum} are no range"
        ends = (self.minimum, *self.bounds, self.maximum + 1)
        if any(type(one) is not int for one in ends) or list(ends) != sorted(set(ends)):
            return f"bounds must rise from {self.minimum} to {self.maximum}, got {self.bounds}"
        return ""

    def is_reachable(self, low: int, high: int) -> bool:
        """Return whether some answers add up to a total in this range."""
        values = [one.value for one in self.options]
        reached = 1  # bit i says whether the smallest sum plus i can be reached
        for item in self.items:
            shifts = {item.weight * (value - min(values)) for value in values}
            reached = _add_shifted(reached, shifts)
        asked = (1 << (high - low + 1)) - 1
        return bool(reached >> (low - self.minimum) & asked)


def _add_shifted(reached: int, shifts: set[int]) -> int:
    found = 0
    for shift in shifts:
        found |= reached << shift
    return found


def write_total(total: int) -> str:
    return f"{total:,}".replace("-", "\N{MINUS SIGN}")


def find_output(carrier: str) -> Output:
    """Return the output that a question of this type carries."""
    return _OUTPUTS[QuestionType(carrier)]
