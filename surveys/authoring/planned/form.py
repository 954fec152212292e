"""The form for planning a comparison of two questions, or a regression."""

from __future__ import annotations

from typing import Any

from django import forms

from surveys.comparing.choice import (
    GROUP,
    OUTCOME,
    PREDICTORS,
    NotComparable,
    check_planned,
    sort_predictors,
)
from surveys.comparing.indicators import list_indicators, list_names, list_predictors
from surveys.comparing.menus import GROUP_HELP, OUTCOME_HELP, AnswerMenu
from surveys.manifest.manifest import Manifest
from surveys.models.planned_comparisons import MAX_PLANNED

ALREADY_PLANNED = "This comparison is already planned."
TOO_MANY_PLANNED = f"You can plan {MAX_PLANNED} comparisons at most. Remove one first."


class PlannedForm(forms.Form):
    outcome = AnswerMenu(help_text=OUTCOME_HELP)
    group = AnswerMenu(label="Groups", help_text=GROUP_HELP)
    predictor_2 = AnswerMenu(label="Predictor 2")
    predictor_3 = AnswerMenu(label="Predictor 3")
    predictor_4 = AnswerMenu(label="Predictor 4")
    predictor_5 = AnswerMenu(label="Predictor 5")
    predictor_6 = AnswerMenu(label="Predictor 6")

    def __init__(self, data: Any = None, *, manifest: Manifest, is_short: bool = False) -> None:
        """Build the form. A short form has no menus for further predictors, which would be long."""
        super().__init__(data, auto_id="planned_%s")
        if is_short:
            self.fields = {name: self.fields[name] for name in (OUTCOME, GROUP)}
        self.manifest = manifest
        outcomes = list_indicators(manifest)
        groups = [one for one in list_predictors(manifest) if not one.is_number]
        for name, menu in self.fields.items():
            assert isinstance(menu, AnswerMenu)
            menu.offer(outcomes if name == OUTCOME else groups, known=list_names(manifest))

    def clean(self) -> None:
        if self.errors:
            return
        try:
            check_planned(manifest=self.manifest, names=self.names)
        except NotComparable as error:
            self.add_error(self._find_field(error.field), str(error))
            return
        if tuple(self.names) in self.manifest.planned_comparisons:
            self.add_error(None, ALREADY_PLANNED)
        elif len(self.manifest.planned_comparisons) >= MAX_PLANNED:
            self.add_error(None, TOO_MANY_PLANNED)

    @property
    def names(self) -> list[str]:
        """The chosen answers, with the outcome first."""
        chosen = {name for field, name in self.cleaned_data.items() if name and field != OUTCOME}
        outcome = self.cleaned_data[OUTCOME]
        return [outcome, *sort_predictors(self.manifest, chosen)] if outcome else []

    def _find_field(self, name: str) -> str | None:
        """Return the field that an error belongs to. A missing outcome takes precedence."""
        if name and not self.cleaned_data[OUTCOME]:
            return OUTCOME
        return GROUP if name == PREDICTORS else name or None

    @property
    def more_predictors(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name not in (OUTCOME, GROUP)]
