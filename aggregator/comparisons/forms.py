"""The forms of the Compare page, one for each kind of comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict

from aggregator.comparisons.choice import (
    check_choice,
    check_people,
    find_through_batch,
)
from aggregator.comparisons.segments import HOW_MANY, QUESTIONS
from aggregator.models import Comparison, RowsFile, SealedHalf, Snapshot
from privacy.associations.segments import SEGMENTS
from surveys.comparing.choice import (
    GROUP,
    MAX_PREDICTORS,
    OUTCOME,
    PREDICTORS,
    NotComparable,
    sort_predictors,
)
from surveys.comparing.indicators import Factor, Indicator, list_names
from surveys.comparing.menus import GROUP_HELP, OUTCOME_HELP, AnswerMenu
from surveys.manifest.manifest import Manifest

Kind = Comparison.Kind
CHOOSE_KIND = "Choose what to compare."
# The menus of further predictors are collapsed in the form.
FIRST_PREDICTORS = 3


class ComparisonForm(forms.Form):
    """A form for choosing indicators; once it is valid, `names` holds the chosen ones."""

    kind: ClassVar[Kind]
    segments = 0  # the chosen number of profiles

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        manifest: Manifest,
        snapshot: Snapshot,
        rows_file: RowsFile | None,
        half: SealedHalf | None,
        shown: Sequence[Indicator],
    ) -> None:
        super().__init__(data, auto_id=f"{self.kind.value}_%s")
        self.manifest, self.snapshot, self.rows_file = manifest, snapshot, rows_file
        self.half = half
        self.names: list[str] = []
        for name, menu in self.fields.items():
            if isinstance(menu, AnswerMenu):
                offered = [one for one in shown if self.takes(name, one)]
                menu.offer(offered, known=list_names(manifest))

    def takes(self, field: str, indicator: Indicator) -> bool:
        """Return whether a menu offers an indicator."""
        return not indicator.is_number and not isinstance(indicator, Factor)

    def clean(self) -> None:
        if self.errors:
            return
        names = self.read_names()
        try:
            check_people(self.manifest, self.snapshot)
            check_choice(
                manifest=self.manifest,
                kind=self.kind,
                names=names,
                is_final=self.snapshot.final,
                rows_file=self.rows_file,
                half=self.half,
            )
            find_through_batch(
                manifest=self.manifest, snapshot=self.snapshot, kind=self.kind, names=names
            )
        except NotComparable as error:
            self.add_error(self.find_field(error.field), str(error))
        else:
            self.names = names

    def read_names(self) -> list[str]:
        """Return the names of the chosen indicators, outcome first, or no names for all pairs."""
        return []

    def find_field(self, name: str) -> str | None:
        """Return the field that an error belongs to; a missing outcome takes precedence."""
        if name and not self.cleaned_data[OUTCOME]:
            return OUTCOME
        return name or None


class TwoQuestionsForm(ComparisonForm):
    kind = Kind.TABLE

    outcome = AnswerMenu(help_text=OUTCOME_HELP)
    group = AnswerMenu(label="Groups", help_text=GROUP_HELP)

    def takes(self, field: str, indicator: Indicator) -> bool:
        is_outcome = field == OUTCOME and indicator.is_number
        return is_outcome or super().takes(field, indicator)

    def read_names(self) -> list[str]:
        return [name for field in (OUTCOME, GROUP) if (name := self.cleaned_data[field])]


class RegressionForm(ComparisonForm):
    """The form of a regression; each predictor has a numbered menu with its own label."""

    kind = Kind.REGRESSION

    outcome = AnswerMenu(help_text="The answer to be explained.")
    predictor_1 = AnswerMenu(label="Predictor 1")
    predictor_2 = AnswerMenu(label="Predictor 2")
    predictor_3 = AnswerMenu(label="Predictor 3")
    predictor_4 = AnswerMenu(label="Predictor 4")
    predictor_5 = AnswerMenu(label="Predictor 5")
    predictor_6 = AnswerMenu(label="Predictor 6")

    def takes(self, field: str, indicator: Indicator) -> bool:
        is_factor = field != OUTCOME and isinstance(indicator, Factor)
        return is_factor or super().takes(field, indicator)

    def read_names(self) -> list[str]:
        """Return the outcome, then the predictors in survey order, not in the order chosen."""
        chosen = {self.cleaned_data[name] for name in self._predictors} - {""}
        outcome = self.cleaned_data[OUTCOME]
        if not outcome:
            return []  # the first predictor must not take the outcome's place
        return [outcome, *sort_predictors(self.manifest, chosen)]

    def find_field(self, name: str) -> str | None:
        found = super().find_field(name)
        return self._predictors[0] if found == PREDICTORS else found

    @property
    def first_predictors(self) -> list[forms.BoundField]:
        return [self[name] for name in self._predictors[:FIRST_PREDICTORS]]

    @property
    def more_predictors(self) -> list[forms.BoundField]:
        return [self[name] for name in self._predictors[FIRST_PREDICTORS:]]

    @property
    def has_more(self) -> bool:
        """Whether any of the further menus is used."""
        return any(field.value() for field in self.more_predictors)

    @property
    def _predictors(self) -> list[str]:
        return [predictor_field(number) for number in range(1, MAX_PREDICTORS + 1)]


def predictor_field(number: int) -> str:
    return f"predictor_{number}"


class PairsForm(ComparisonForm):
    kind = Kind.PAIRS


class SegmentsForm(ComparisonForm):
    kind = Kind.SEGMENTS

    questions = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple, error_messages={"required": HOW_MANY}
    )
    profiles = forms.TypedChoiceField(coerce=int, choices=[(one, str(one)) for one in SEGMENTS])

    def __init__(self, *args: Any, shown: Sequence[Indicator], **kwargs: Any) -> None:
        super().__init__(*args, shown=shown, **kwargs)
        self.fields[QUESTIONS].choices = [  # type: ignore[attr-defined]
            (one.name, f"{one.label} {one.question.text}") for one in shown if one.is_plain
        ]

    def read_names(self) -> list[str]:
        self.segments = self.cleaned_data["profiles"]
        return sort_predictors(self.manifest, self.cleaned_data[QUESTIONS])

    def find_field(self, name: str) -> str | None:
        return name or None


FORMS: Mapping[str, type[ComparisonForm]] = {
    form.kind.value: form for form in (TwoQuestionsForm, RegressionForm, PairsForm, SegmentsForm)
}
