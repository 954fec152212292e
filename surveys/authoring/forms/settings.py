"""The form of a survey's settings, built from the declarations in surveys/models/settings.py."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone

from surveys.authoring.forms.addresses import find_address_problem, find_phone_problem
from surveys.authoring.forms.publication import PublicationForm
from surveys.authoring.launch_checks import describe_early_deletion
from surveys.form_fields import BrowserDay, BrowserMoment, PlainText, WholeNumber
from surveys.manifest.manifest import Publication
from surveys.models import Survey
from surveys.models.settings import SETTINGS, SettingsPage, list_setting_names
from surveys.planning.plan_sentences import describe_declining

_FIND_PROBLEM = {"url": find_address_problem, "tel": find_phone_problem}


def make_field(name: str) -> forms.Field:
    """Make the form field of a setting from its field in the model."""
    setting, stored = SETTINGS[name], Survey._meta.get_field(name)
    assert isinstance(stored, models.Field)
    words: dict[str, Any] = {
        "label": f"{setting.label} (optional)" if stored.blank else setting.label,
        "help_text": setting.help_text,
    }
    if isinstance(stored, models.BooleanField):
        return forms.BooleanField(required=False, **words)
    if isinstance(stored, models.DateTimeField):
        return BrowserMoment(**words)
    if isinstance(stored, models.DateField):
        return BrowserDay(**words)
    if stored.choices:
        return forms.ChoiceField(choices=stored.choices, **words)
    if isinstance(stored, models.IntegerField):
        low, high = setting.limits
        why = " Or leave it empty." if stored.blank else ""
        return WholeNumber(low=low, high=high, why=why, required=not stored.blank, **words)
    return _make_text_field(name, stored, words)


def _make_text_field(name: str, stored: models.Field[Any, Any], words: dict[str, Any]) -> PlainText:
    kind, noun = SETTINGS[name].kind, SETTINGS[name].noun or name.replace("_", " ")
    assert stored.max_length is not None
    is_long = isinstance(stored, models.TextField)
    line = forms.TextInput(attrs={"inputmode": kind, "autocomplete": "off"} if kind else {})
    return PlainText(
        name=noun,
        missing=f"Enter a {noun}.",
        max_length=stored.max_length,
        find_problem=_FIND_PROBLEM.get(kind),
        required=not stored.blank,
        lines=is_long,
        widget=forms.Textarea(attrs={"rows": 3}) if is_long else line,
        **words,
    )


class CreateForm(forms.Form):
    def __init__(self, data: Any = None) -> None:
        super().__init__(data, initial={"may_decline": True})
        for name in ("title", "introduction", "may_decline"):
            self.fields[name] = make_field(name)
        self.fields["may_decline"].help_text += f" {describe_declining()}"


class SettingsForm(PublicationForm):
    """All settings, or those of one page, which must agree with the settings of other pages."""

    def __init__(
        self,
        data: Any = None,
        *,
        survey: Survey | None = None,
        page: SettingsPage | None = None,
        blocks: int | None = None,
        now: datetime | None = None,
    ) -> None:
        """Build the form. If given, `blocks` is the number of blocks, which limits `drawn`.

        Dates must come after `now`.
        """
        stored: dict[str, Any] = {}
        if survey is not None:
            stored = {name: getattr(survey, name) for name in (*SETTINGS, "publication")}
            stored |= self.read_limits(survey)
        super().__init__(data, initial=stored)
        self.blocks, self.now = blocks, now or timezone.now()
        kept = self.fields if page in (None, SettingsPage.PRIVACY) else {}
        names = [name for name in SETTINGS if name in list_setting_names(page)]
        self.fields = {name: make_field(name) for name in names} | kept
        self._elsewhere = {name: stored[name] for name in stored if name not in self.fields}
        if "may_decline" in self.fields:
            self.fields[
                "may_decline"
            ].help_text += " A change here applies to all questions of this draft."

    @property
    def cards(self) -> dict[str, list[tuple[forms.BoundField, str]]]:
        """The fields of each card of the page, each with the text of its disclosure."""
        cards: dict[str, list[tuple[forms.BoundField, str]]] = {}
        for name, setting in SETTINGS.items():
            if name in self.fields:
                cards.setdefault(setting.card, []).append((self[name], setting.more))
        return cards

    @property
    def asks_consent(self) -> bool:
        """Whether the card about consent is open."""
        return any(field.value() or field.errors for field, _ in self.cards["consent"])

    def clean_drawn(self) -> int | None:
        drawn: int | None = self.cleaned_data["drawn"]
        if drawn is None or self.blocks is None or drawn < self.blocks:
            return drawn
        if self.blocks < 2:
            problem = (
                "There is nothing to draw from: the questions form fewer than two blocks. Leave "
                "it empty."
            )
        else:
            problem = (
                f"The questions form {self.blocks} blocks. Enter a whole number from 1 to "
                f"{self.blocks - 1}, or leave it empty to ask everyone everything."
            )
        raise ValidationError(problem, code="too_many")

    def clean_opens_at(self) -> datetime | None:
        return self._in_future(
            "opens_at",
            "The opening date has passed. Choose a later one, or leave it empty to accept "
            "reports as soon as you open the survey.",
        )

    def clean_closes_at(self) -> datetime | None:
        # `publication` is cleaned later. A survey with protected publication needs a closing date.
        chosen = self.data.get("publication") or self._elsewhere.get("publication")
        is_protected = chosen == Publication.PROTECTED
        return self._in_future(
            "closes_at",
            "The closing date has passed. Choose a later one"
            f"{'' if is_protected else ' or leave it empty'}.",
        )

    def _in_future(self, name: str, problem: str) -> datetime | None:
        value: datetime | None = self.cleaned_data[name]
        if value is not None and value <= self.now:
            raise ValidationError(problem, code="past")
        return value

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self._compare(
            "minimum_batch",
            "display_minimum",
            lambda batch, display: display >= batch,
            "“Fewest reports” cannot be below K ({first:,}), because results exist only for whole "
            "batches.",
        )
        here = "Raise this number or lower “Fewest reports”."
        there = "Lower this number, or raise the other one on the page “Start and end”."
        self._compare(
            "display_minimum",
            "cap",
            lambda display, cap: cap >= display,
            "A survey that closes after {second:,} people would never show a result, because "
            "“Fewest reports” is {first:,}. ",
            here,
            there,
        )
        self._compare(
            "display_minimum",
            "people_expected",
            lambda display, people: people >= display,
            "If {second:,} people answer, no result is ever shown, because “Fewest reports” is "
            "{first:,}. ",
            here,
            there,
        )
        self._compare(
            "cap",
            "people_expected",
            lambda cap, people: people <= cap,
            "The survey closes when {first:,} people have answered, so you cannot expect "
            "{second:,}. Lower this number or raise the other.",
        )
        self._compare(
            "opens_at",
            "closes_at",
            lambda opens, closes: closes > opens,
            "The closing date must come after the opening date. Choose a later one.",
        )
        problem = describe_early_deletion(
            delete_on=self.value_of("delete_on"),
            opens=self.value_of("opens_at"),
            closes=self.value_of("closes_at"),
            now=self.now,
        )
        if problem:
            self.refuse(delete_on=problem)
        nameless = "help_name" in cleaned and not cleaned["help_name"]
        if nameless and cleaned.get("help_phone"):
            self.add_error("help_name", "Say whose phone number it is.")
        elif nameless and cleaned.get("help_url"):
            self.add_error("help_name", "Say whose web address it is.")
        if self.value_of("coins") and self.value_of("may_decline"):
            why = "Two coins can only say Yes or No."
            self.refuse(
                may_decline=f"{why} Switch this off, or switch the two coins off.",
                coins=f"{why} Switch this off, or switch off declining on the page “Privacy”.",
            )
        return cleaned

    def value_of(self, name: str) -> Any:
        return super().value_of(name) if name in self.fields else self._elsewhere.get(name)

    def _compare(
        self,
        first: str,
        second: str,
        agree: Callable[[Any, Any], bool],
        problem: str,
        at_second: str = "",
        at_first: str = "",
    ) -> None:
        """Reject values that disagree, at the second field or, if it is missing, at the first."""
        one, other = self.value_of(first), self.value_of(second)
        if one is not None and other is not None and not agree(one, other):
            said = problem.format(first=one, second=other)
            self.refuse(**{second: said + at_second, first: said + at_first})
