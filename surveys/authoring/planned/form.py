"""The form to plan a comparison of two questions."""

from __future__ import annotations

from typing import Any

from django import forms

from surveys.comparing.choice import GROUP, OUTCOME, NotComparable, check_two_questions
from surveys.comparing.indicators import list_indicators
from surveys.comparing.menus import GROUP_HELP, OUTCOME_HELP, AnswerMenu
from surveys.manifest.manifest import Manifest
from surveys.models.planned_comparisons import MAX_PLANNED

ALREADY_PLANNED = "This comparison is already planned."
TOO_MANY_PLANNED = f"You can plan {MAX_PLANNED} comparisons at most. Remove one first."


class PlannedForm(forms.Form):
    outcome = AnswerMenu(help_text=OUTCOME_HELP)
    group = AnswerMenu(label="Groups", help_text=GROUP_HELP)

    def __init__(self, data: Any = None, *, manifest: Manifest) -> None:
        super().__init__(data, auto_id="planned_%s")
        self.manifest = manifest
        indicators = list_indicators(manifest)
        known = frozenset(indicator.name for indicator in indicators)
        menus = {OUTCOME: indicators, GROUP: [one for one in indicators if not one.is_number]}
        for name, offered in menus.items():
            menu = self.fields[name]
            assert isinstance(menu, AnswerMenu)
            menu.offer(offered, known=known)

    def clean(self) -> None:
        if self.errors:
            return
        try:
            check_two_questions(manifest=self.manifest, names=self.read_names())
        except NotComparable as error:
            self.add_error(self._find_field(error.field), str(error))
            return
        if self.pair in self.manifest.planned_comparisons:
            self.add_error(None, ALREADY_PLANNED)
        elif len(self.manifest.planned_comparisons) >= MAX_PLANNED:
            self.add_error(None, TOO_MANY_PLANNED)

    def read_names(self) -> list[str]:
        return [name for field in (OUTCOME, GROUP) if (name := self.cleaned_data[field])]

    def _find_field(self, name: str) -> str | None:
        """Return the field that an error belongs to; a missing outcome takes precedence."""
        if name and not self.cleaned_data[OUTCOME]:
            return OUTCOME
        return name or None

    @property
    def pair(self) -> tuple[str, str]:
        """The names of the outcome and the group; the form must be valid."""
        return self.cleaned_data[OUTCOME], self.cleaned_data[GROUP]
