"""The forms behind single buttons: open a survey, move a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from surveys.authoring.launch_checks import ExceededLimit

STEPS = {"up": -1, "down": 1}
_PREFIX = "acknowledge_"


class LaunchForm(forms.Form):
    """The form that opens a survey.

    `manifest` is the hash of the manifest that the author saw; no other one is frozen. Each limit
    that the survey exceeds has a box, and the author must tick all of them.
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


class MoveForm(forms.Form):
    direction = forms.ChoiceField(choices=[(name, name) for name in STEPS])

    @property
    def step(self) -> int:
        return STEPS[self.cleaned_data["direction"]]
