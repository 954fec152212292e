"""Menus of answers, grouped by question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

from django import forms
from django.forms.renderers import BaseRenderer
from django.forms.utils import flatatt
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from surveys.comparing.choice import UNKNOWN_QUESTION
from surveys.comparing.indicators import Indicator, shorten

# Questions are cut to this length, because a menu is as wide as its longest line.
QUESTION_LENGTH = 70
OUTCOME_HELP = "What should be compared?"
GROUP_HELP = "Those who gave this answer are compared with all others."
NOTHING_CHOSEN = "Choose an answer"
# The label of each question, and the value and text of each of its answers.
Offered = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


class AnswerSelect(forms.Select):
    """A menu whose options are rendered once and shared by all menus of a page.

    Django would render a template for each option, which takes a tenth of a second for the menus of
    fifty questions.
    """

    offered: Offered = ()

    def render(
        self,
        name: str,
        value: Any,
        attrs: dict[str, Any] | None = None,
        renderer: BaseRenderer | None = None,
    ) -> SafeString:
        options = _write_options(self.offered)
        if value:
            chosen = f'<option value="{escape(value)}"'
            options = options.replace(chosen, f"{chosen} selected")
        final = self.build_attrs(self.attrs, {**(attrs or {}), "name": name})
        return format_html(
            '<select{}><option value="">{}</option>{}</select>',
            flatatt(final),
            NOTHING_CHOSEN,
            mark_safe(options),  # noqa: S308 - escaped by _write_options
        )


@lru_cache(maxsize=16)
def _write_options(offered: Offered) -> str:
    return "".join(
        format_html('<optgroup label="{}">', label)
        + "".join(
            format_html('<option value="{}">{}</option>', value, text) for value, text in answers
        )
        + "</optgroup>"
        for label, answers in offered
    )


class AnswerMenu(forms.ChoiceField):
    """A field for choosing one indicator.

    The field accepts every indicator of the survey, even one that the menu does not offer. Later
    checks explain why an indicator cannot be used, whereas Django would only call it invalid.
    """

    widget = AnswerSelect
    known: frozenset[str] = frozenset()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            required=False, error_messages={"invalid_choice": UNKNOWN_QUESTION}, **kwargs
        )

    def offer(self, indicators: Sequence[Indicator], *, known: frozenset[str]) -> None:
        assert isinstance(self.widget, AnswerSelect)
        self.known = known
        self.widget.offered = list_offered(indicators)

    def valid_value(self, value: Any) -> bool:
        return value in self.known


def list_offered(indicators: Sequence[Indicator]) -> Offered:
    """List the answers of each question under its number and text."""
    by_question = groupby(indicators, key=lambda indicator: indicator.question.name)
    return tuple(_list_answers(tuple(group)) for _, group in by_question)


def _list_answers(indicators: tuple[Indicator, ...]) -> tuple[str, tuple[tuple[str, str], ...]]:
    question = indicators[0].question
    label = f"Q{question.number} {shorten(question.text, QUESTION_LENGTH)}"
    return label, tuple((one.name, one.choice_text) for one in indicators)
