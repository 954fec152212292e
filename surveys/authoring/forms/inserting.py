"""The forms that choose a survey, and the questions to insert from it into a draft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.text import Truncator

from surveys.authoring.answer_options import call_all
from surveys.models import Question, Survey

_SHOWN_LETTERS = 160


class SourceForm(forms.Form):
    survey = forms.ChoiceField(
        label="From which survey?",
        error_messages={"invalid_choice": "You have no such survey. Choose one from the list."},
    )

    def __init__(self, data: Mapping[str, Any] | None, *, surveys: Sequence[Survey]) -> None:
        super().__init__(data)
        field = self.fields["survey"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(one.slug, f"{one.title} ({one.slug})") for one in surveys]


class InsertForm(forms.Form):
    questions = forms.TypedMultipleChoiceField(
        label="Questions to insert",
        coerce=int,
        help_text="A rule is inserted with its question if you also tick the questions that the "
        "rule needs.",
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "required": "Tick at least one question.",
            "invalid_choice": "A ticked question was deleted. Check your ticks.",
        },
    )

    def __init__(self, data: Any, *, questions: Sequence[Question]) -> None:
        super().__init__(data)
        called, field = call_all(questions), self.fields["questions"]
        assert isinstance(field, forms.TypedMultipleChoiceField)
        field.choices = [
            (one.pk, f"{called[str(one.pk)].capitalize()}: {_cut(one.text)}") for one in questions
        ]


def _cut(text: str) -> str:
    return Truncator(text).chars(_SHOWN_LETTERS)
