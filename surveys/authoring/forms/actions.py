"""The forms of single buttons that send data: opening a survey, moving a question."""

from __future__ import annotations

from django import forms

STEPS = {"up": -1, "down": 1}


class LaunchForm(forms.Form):
    """`manifest` is the hash of what the author saw, so that nothing else is frozen."""

    manifest = forms.CharField(required=False, widget=forms.HiddenInput)
    # Required only for a large total, which the service decides.
    confirmed = forms.BooleanField(
        required=False,
        label=(
            "I know: if a person’s answers hang together, their codes make a guess about them "
            "practically certain."
        ),
    )


class MoveForm(forms.Form):
    direction = forms.ChoiceField(choices=[(name, name) for name in STEPS])

    @property
    def step(self) -> int:
        return STEPS[self.cleaned_data["direction"]]
