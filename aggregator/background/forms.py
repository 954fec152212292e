"""The owner's choice: leave proposed questions out, or merge more of their groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django import forms
from django.http import QueryDict

from aggregator.background.levels import Background, Level, Levels
from surveys.manifest.questions import ManifestQuestion

BY_ITSELF = "by itself"


@dataclass(frozen=True, kw_only=True)
class OfferedQuestion:
    """One proposed question in the form: whether it is in the file, and a menu for each group."""

    question: ManifestQuestion
    included: forms.BoundField
    groups: tuple[tuple[str, forms.BoundField], ...]  # the name of each group, and its menu


class BackgroundForm(forms.Form):
    """A choice within the proposal; `background` holds it once the form is valid."""

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        proposed: Background,
        questions: Mapping[str, ManifestQuestion],
    ) -> None:
        super().__init__(data)
        self._proposed, self._questions = proposed, questions
        for one in proposed:
            question = questions[one.question]
            self.fields[one.question] = forms.BooleanField(
                required=False, initial=True, label=f"Q{question.number} in the file"
            )
            for level in one.shown:
                others = [other for other in one.shown if other != level]
                self.fields[_name_field(one, level)] = forms.ChoiceField(
                    required=False,
                    label=one.name(level, question),
                    choices=[("", BY_ITSELF)]
                    + [(str(other[0]), f"with {one.name(other, question)}") for other in others],
                )

    @property
    def offered(self) -> list[OfferedQuestion]:
        return [
            OfferedQuestion(
                question=self._questions[one.question],
                included=self[one.question],
                groups=tuple(
                    (one.name(level, self._questions[one.question]), self[_name_field(one, level)])
                    for level in one.shown
                )
                if len(one.shown) > 2
                else (),
            )
            for one in self._proposed
        ]

    @property
    def background(self) -> Background:
        return tuple(
            merged
            for one in self._proposed
            if self.cleaned_data[one.question]
            for merged in [one.merge(self._number_levels(one))]
            if len(merged.levels) > 1
        )

    def _number_levels(self, one: Levels) -> list[int]:
        """Number the levels so that merged ones share a number: the smallest code among them."""
        numbers = {level[0]: level[0] for level in one.levels}
        for level in one.shown:
            chosen = self.cleaned_data[_name_field(one, level)]
            if chosen:
                first, second = numbers[level[0]], numbers[int(chosen)]
                numbers = {
                    code: min(first, second) if number in (first, second) else number
                    for code, number in numbers.items()
                }
        return [numbers[level[0]] for level in one.levels]


def _name_field(one: Levels, level: Level) -> str:
    return f"{one.question}-{level[0]}"
