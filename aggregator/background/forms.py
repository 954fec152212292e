"""The form in which the owner leaves out proposed questions or merges more of their groups."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from django import forms
from django.http import QueryDict

from aggregator.background.levels import Background, Level, Levels
from surveys.manifest.questions import ManifestQuestion

BY_ITSELF = "by itself"
NOT_SENT = "Part of the form did not arrive, so nothing was chosen. Send it again."


@dataclass(frozen=True, kw_only=True)
class OfferedQuestion:
    """One proposed question in the form, with a check box and a menu for each group."""

    question: ManifestQuestion
    included: forms.BoundField
    groups: tuple[tuple[str, forms.BoundField], ...]  # the name of each group, and its menu


class BackgroundForm(forms.Form):
    """A choice within the proposal; `background` holds the choice once the form is valid.

    If a check box is not sent, its question is left out, so an empty request would leave out all
    questions permanently. The hidden field shows that the page sent the form. `nobody` lists the
    groups that contain nobody, by question and code; such groups are neither offered nor counted.
    """

    is_sent = forms.BooleanField(required=False, initial=True, widget=forms.HiddenInput)

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        proposed: Background,
        questions: Mapping[str, ManifestQuestion],
        nobody: Set[tuple[str, int]],
    ) -> None:
        super().__init__(data)
        self._proposed, self._questions, self._nobody = proposed, questions, nobody
        for one in proposed:
            question = questions[one.question]
            self.fields[one.question] = forms.BooleanField(
                required=False, initial=True, label=f"Q{question.number} in the file"
            )
            offered = self._list_offered(one)
            for level in offered:
                others = [other for other in offered if other != level]
                self.fields[_name_field(one, level)] = forms.ChoiceField(
                    required=False,
                    label=question.name_codes(level),
                    choices=[("", BY_ITSELF)]
                    + [(str(other[0]), f"with {question.name_codes(other)}") for other in others],
                )

    def clean(self) -> None:
        if not self.cleaned_data["is_sent"]:
            raise forms.ValidationError(NOT_SENT)

    @property
    def offered(self) -> list[OfferedQuestion]:
        return [
            OfferedQuestion(
                question=self._questions[one.question],
                included=self[one.question],
                groups=tuple(
                    (
                        self._questions[one.question].name_codes(level),
                        self[_name_field(one, level)],
                    )
                    for level in self._list_offered(one)
                )
                if len(self._list_offered(one)) > 2
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
            if sum(self._has_people(merged, level) for level in merged.levels) > 1
        )

    def _list_offered(self, one: Levels) -> list[Level]:
        return [level for level in one.shown if self._has_people(one, level)]

    def _has_people(self, one: Levels, level: Level) -> bool:
        return any((one.question, code) not in self._nobody for code in level)

    def _number_levels(self, one: Levels) -> list[int]:
        """Number the levels so that merged levels share a number, which is their smallest code."""
        numbers = {level[0]: level[0] for level in one.levels}
        for level in self._list_offered(one):
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
