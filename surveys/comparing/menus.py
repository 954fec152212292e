"""Menus of answers, grouped by question."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from django import forms

from surveys.comparing.choice import UNKNOWN_QUESTION
from surveys.comparing.indicators import Indicator, shorten

# A menu is as wide as its longest line.
QUESTION_LENGTH = 70
OUTCOME_HELP = "What should be compared?"
GROUP_HELP = "People who gave this answer, and all others."
NOTHING_CHOSEN = "Choose an answer"


class AnswerMenu(forms.ChoiceField):
    """A menu to choose one indicator from.

    It accepts every indicator of the survey, offered or not: the checks explain why one cannot be
    used, where Django would only call it invalid.
    """

    known: frozenset[str] = frozenset()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            required=False, error_messages={"invalid_choice": UNKNOWN_QUESTION}, **kwargs
        )

    def offer(self, indicators: Sequence[Indicator], *, known: frozenset[str]) -> None:
        self.known = known
        self.choices = list_choices(indicators)

    def valid_value(self, value: Any) -> bool:
        return value in self.known


def list_choices(indicators: Sequence[Indicator]) -> list[Any]:
    """List the answers of each question under its number and text."""
    by_question = groupby(indicators, key=lambda indicator: indicator.question)
    return [
        ("", NOTHING_CHOSEN),
        *(
            (
                f"Q{question.number} {shorten(question.text, QUESTION_LENGTH)}",
                [(indicator.name, indicator.choice_text) for indicator in group],
            )
            for question, group in by_question
        ),
    ]
