"""The forms behind single buttons, such as those that open a survey or move a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.http import QueryDict

from surveys.authoring.budget import GOALS
from surveys.authoring.launch_checks import ExceededLimit
from surveys.planning.remedies import RemedyKind

BUDGET_PAGES = ("questions", "edit", "launch")  # pages with the budget and its remedies
STEPS = {"up": -1, "down": 1}
_PREFIX = "acknowledge_"


class LaunchForm(forms.Form):
    """The form that opens a survey.

    `manifest` is the hash of the manifest that the author saw; no other manifest is frozen. Each
    limit that the survey exceeds has a box, and the author must tick all of them.
    """

    manifest = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, limits: Sequence[ExceededLimit] = ()) -> None:
        super().__init__(data)
        for limit in limits:
            self.fields[_PREFIX + limit.key] = forms.BooleanField(
                label=f"I have read this: {limit.text}",
                help_text=limit.reason,
                error_messages={
                    "required": f"Tick the box to open the survey all the same: {limit.text}"
                },
            )

    @property
    def limits(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(_PREFIX)]

    @property
    def acknowledged(self) -> list[str]:
        """The limits whose boxes are ticked, once the form is valid."""
        return [
            name.removeprefix(_PREFIX)
            for name, ticked in self.cleaned_data.items()
            if name.startswith(_PREFIX) and ticked
        ]


class UndoForm(forms.Form):
    """The form that undoes a step. Afterwards, the author sees the `page` with the button again."""

    stamp = forms.CharField()
    page = forms.ChoiceField(choices=[(name, name) for name in BUDGET_PAGES])


class RemedyForm(UndoForm):
    """The form behind one remedy. `keep` is sent for each question that keeps its strength."""

    kind = forms.TypedChoiceField(choices=[(one, one) for one in RemedyKind], coerce=RemedyKind)
    goal = forms.ChoiceField(choices=[(name, name) for name in GOALS])

    @property
    def kept(self) -> list[str] | None:
        """The keys of the questions that keep their strength, or None if the kind is not SOME."""
        is_some = self.cleaned_data["kind"] == RemedyKind.SOME
        return cast(QueryDict, self.data).getlist("keep") if is_some else None


class MoveForm(forms.Form):
    direction = forms.ChoiceField(choices=[(name, name) for name in STEPS])

    @property
    def step(self) -> int:
        return STEPS[self.cleaned_data["direction"]]
