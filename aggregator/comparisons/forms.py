"""The forms of the Compare page: one for each kind of comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict
from django.template.defaultfilters import truncatechars

from aggregator.comparisons.analysis import MAX_PREDICTORS
from aggregator.comparisons.choice import PREDICTORS, check_choice, find_through_batch
from aggregator.models import Comparison, Snapshot
from surveys.comparing.choice import GROUP, OUTCOME, UNKNOWN_QUESTION, NotComparable
from surveys.comparing.indicators import Indicator, list_indicators
from surveys.manifest.manifest import Manifest

Kind = Comparison.Kind
CHOOSE_KIND = "Choose what to compare."


def describe_choice(indicator: Indicator) -> str:
    answer = f"{truncatechars(indicator.answer, 40)} · " if indicator.answer else ""
    return f"Q{indicator.number} {answer}{truncatechars(indicator.question.text, 80)}"


class _IndicatorMixin:
    """Accepts every indicator of the survey, offered or not.

    `check_choice` and the worker explain why one cannot be used; Django would only call it invalid.
    """

    known: frozenset[str] = frozenset()

    def valid_value(self, value: Any) -> bool:
        return value in self.known


class IndicatorField(_IndicatorMixin, forms.ChoiceField):
    """A list to choose one indicator from."""


class IndicatorsField(_IndicatorMixin, forms.MultipleChoiceField):
    """Boxes to tick for several indicators."""


class ComparisonForm(forms.Form):
    """A choice of indicators; `names` holds it once the form is valid."""

    kind: ClassVar[Kind]

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        manifest: Manifest,
        snapshot: Snapshot,
        shown: Sequence[Indicator],
    ) -> None:
        super().__init__(data, auto_id=f"{self.kind.value}_%s")
        self.manifest, self.snapshot = manifest, snapshot
        self.names: list[str] = []
        self._in_order = [indicator.name for indicator in list_indicators(manifest)]
        groups = [indicator for indicator in shown if not indicator.is_number]
        for name, field in self.fields.items():
            takes_number = self.kind == Kind.TABLE and name == OUTCOME
            self._offer(field, shown if takes_number else groups)

    def _offer(self, field: forms.Field, indicators: Sequence[Indicator]) -> None:
        assert isinstance(field, IndicatorField | IndicatorsField)
        field.known = frozenset(self._in_order)
        choices = [(indicator.name, describe_choice(indicator)) for indicator in indicators]
        is_list = isinstance(field, IndicatorField)
        field.choices = [("", "Choose a question"), *choices] if is_list else choices

    def clean(self) -> None:
        if self.errors:
            return
        names = self.read_names()
        try:
            check_choice(
                manifest=self.manifest,
                kind=self.kind,
                names=names,
                is_final=self.snapshot.final,
            )
            find_through_batch(
                manifest=self.manifest, snapshot=self.snapshot, kind=self.kind, names=names
            )
        except NotComparable as error:
            self.add_error(self._find_field(error.field), str(error))
        else:
            self.names = names

    def read_names(self) -> list[str]:
        """The chosen indicators, the outcome first; none for all pairs."""
        return []

    def _find_field(self, name: str) -> str | None:
        """The field that an error belongs to: an outcome that is missing comes first."""
        if name and not self.cleaned_data[OUTCOME]:
            return OUTCOME
        return name or None


def _unknown() -> dict[str, str]:
    return {"invalid_choice": UNKNOWN_QUESTION}


class TwoQuestionsForm(ComparisonForm):
    kind = Kind.TABLE

    outcome = IndicatorField(
        required=False,
        help_text="Murmur compares its share of Yes, or its mean, between the groups.",
        error_messages=_unknown(),
    )
    group = IndicatorField(
        label="Groups",
        required=False,
        help_text="People who answered Yes and people who answered No form the two groups.",
        error_messages=_unknown(),
    )

    def read_names(self) -> list[str]:
        return [name for field in (OUTCOME, GROUP) if (name := self.cleaned_data[field])]


class RegressionForm(ComparisonForm):
    kind = Kind.REGRESSION

    outcome = IndicatorField(
        required=False,
        help_text="Murmur estimates how the odds of Yes depend on the predictors.",
        error_messages=_unknown(),
    )
    predictors = IndicatorsField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=f"One to {MAX_PREDICTORS}. More predictors need many more reports.",
        error_messages=_unknown(),
    )

    def read_names(self) -> list[str]:
        """Predictors in the order of the survey, so that one choice is one comparison."""
        chosen = self.cleaned_data[PREDICTORS]
        outcome = self.cleaned_data[OUTCOME]
        if not outcome:
            return []  # the first predictor must not take its place
        return [outcome, *(name for name in self._in_order if name in chosen)]


class PairsForm(ComparisonForm):
    kind = Kind.PAIRS


FORMS: Mapping[str, type[ComparisonForm]] = {
    form.kind.value: form for form in (TwoQuestionsForm, RegressionForm, PairsForm)
}
