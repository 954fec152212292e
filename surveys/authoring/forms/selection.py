"""The form that changes several questions of a draft at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.db.models import TextChoices
from django.http import QueryDict
from django.utils.text import Truncator

from surveys.authoring.answer_options import call_all
from surveys.manifest.questions import REFUSED_TEXT
from surveys.manifest.strength import OFFERED_FLIPS, name_flips
from surveys.models import Question


class Change(TextChoices):
    MOVE = "move", "Move"
    STRENGTH = "strength", "Set"
    DECLINING = "declining", "Set"
    TOGETHER = "together", "Set"
    DUPLICATE = "duplicate", "Duplicate"
    DELETE = "delete", "Delete"


class SelectionForm(forms.Form):
    """The form for the selected questions. Each button sends an action. Four actions use a field.

    If `everything` is sent, all questions count as selected.
    """

    question = forms.TypedMultipleChoiceField(
        coerce=int,
        error_messages={
            "required": "Select at least one question.",
            "invalid_choice": "A selected question was deleted in another window. Select again.",
        },
    )
    action = forms.ChoiceField(
        choices=Change.choices,
        error_messages=dict.fromkeys(("required", "invalid_choice"), "Press one of the buttons."),
    )
    after = forms.TypedChoiceField(
        label="Move them",
        coerce=int,
        empty_value=None,
        required=False,
        error_messages={
            "invalid_choice": "You chose to move the questions after one that was deleted. "
            "Choose another one."
        },
    )
    flips = forms.TypedChoiceField(
        label="Strength",
        choices=[(flips, name_flips(flips)) for flips in OFFERED_FLIPS],
        coerce=int,
        empty_value=None,
        required=False,
        error_messages={"invalid_choice": "There is no such strength."},
    )
    declining = forms.ChoiceField(
        label=f"“{REFUSED_TEXT}”",
        choices=[("on", "Offer it"), ("", "Do not offer it")],
        initial="on",
        required=False,
        error_messages={"invalid_choice": "Choose whether to offer this answer."},
    )

    together = forms.ChoiceField(
        label="Pages",
        choices=[("on", "Together"), ("", "One each")],
        initial="on",
        required=False,
        error_messages={"invalid_choice": "Choose whether the questions share pages."},
    )

    def __init__(self, data: QueryDict | None, *, questions: Sequence[Question]) -> None:
        """Build the form. The page keeps the author's choices, and lists errors at the top."""
        called = call_all(questions)
        if data and "everything" in data:
            data = data.copy()
            data.setlist("question", [str(one.pk) for one in questions])
        super().__init__(data if data and "action" in data else None)
        self._offer("question", [(one.pk, called[str(one.pk)]) for one in questions])
        behind = [
            (one.pk, f"After {called[str(one.pk)]}: {Truncator(one.text).chars(60)}")
            for one in questions
        ]
        self._offer("after", [("", "To the top"), *behind])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("action") == Change.STRENGTH and cleaned.get("flips") is None:
            self.add_error("flips", "Choose one of the strengths in the list.")
        return cleaned

    def _offer(self, name: str, choices: Sequence[tuple[Any, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.TypedChoiceField | forms.TypedMultipleChoiceField)
        field.choices = choices

    @property
    def ticked(self) -> list[int]:
        """The keys of the questions that stay selected."""
        found = self["question"].value() if self.is_bound else []
        return [int(key) for key in found or [] if str(key).isdecimal() and len(key) < 20]

    @property
    def choices(self) -> list[tuple[forms.BoundField, str, str]]:
        """Each field with the value and the text of its button."""
        pairs = {"after": Change.MOVE, "flips": Change.STRENGTH, "declining": Change.DECLINING}
        pairs["together"] = Change.TOGETHER
        return [(self[name], action.value, str(action.label)) for name, action in pairs.items()]
