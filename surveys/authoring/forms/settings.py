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
from surveys.models.settings import SETTINGS
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
        widget=forms.Textarea(attrs={"rows": 5}) if is_long else line,
        **words,
    )


class CreateForm(forms.Form):
    def __init__(self, data: Any = None) -> None:
        super().__init__(data, initial={"may_decline": True})
        for name in ("title", "introduction", "may_decline"):
            self.fields[name] = make_field(name)
        self.fields["may_decline"].help_text += f" {describe_declining()}"


class SettingsForm(PublicationForm):
    def __init__(self, *args: Any, blocks: int | None = None, **kwargs: Any) -> None:
        """Build the form; `blocks` is the survey's number of blocks, None to leave it unchecked."""
        super().__init__(*args, **kwargs)
        self.blocks = blocks
        self.fields = {name: make_field(name) for name in SETTINGS} | self.fields
        self.fields[
            "may_decline"
        ].help_text += f" A change here changes all questions of this draft. {describe_declining()}"

    @classmethod
    def from_survey(cls, survey: Survey, *, blocks: int | None = None) -> SettingsForm:
        stored = {name: getattr(survey, name) for name in (*SETTINGS, "publication")}
        return cls(initial=stored | cls.read_limits(survey), blocks=blocks)

    @property
    def cards(self) -> dict[str, list[forms.BoundField]]:
        """The fields of each card of the page."""
        cards: dict[str, list[forms.BoundField]] = {}
        for name, setting in SETTINGS.items():
            cards.setdefault(setting.card, []).append(self[name])
        return cards

    @property
    def asks_consent(self) -> bool:
        """Whether the card about consent is open."""
        return any(field.value() or field.errors for field in self.cards["consent"])

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
        is_protected = self.data.get("publication") == Publication.PROTECTED
        return self._in_future(
            "closes_at",
            "The closing date has passed. Choose a later one"
            f"{'' if is_protected else ' or leave it empty'}.",
        )

    def _in_future(self, name: str, problem: str) -> datetime | None:
        value: datetime | None = self.cleaned_data[name]
        if value is not None and value <= timezone.now():
            raise ValidationError(problem, code="past")
        return value

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self._compare(
            "minimum_batch",
            "display_minimum",
            lambda batch, display: display >= batch,
            "Results cannot need fewer reports than K ({first:,}): they exist only for whole "
            "batches.",
        )
        self._compare(
            "display_minimum",
            "cap",
            lambda display, cap: cap >= display,
            "A survey that closes after {second:,} people would never show a result, because "
            "results need at least {first:,}. Raise this number or lower “Fewest reports”.",
        )
        self._compare(
            "display_minimum",
            "people_expected",
            lambda display, people: people >= display,
            "If {second:,} people answer, no result is ever shown, because results need at least "
            "{first:,}. Raise this number or lower “Fewest reports”.",
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
            delete_on=cleaned.get("delete_on"),
            opens=cleaned.get("opens_at"),
            closes=cleaned.get("closes_at"),
            now=timezone.now(),
        )
        if problem:
            self.add_error("delete_on", problem)
        nameless = "help_name" in cleaned and not cleaned["help_name"]
        if nameless and cleaned.get("help_phone"):
            self.add_error("help_name", "Say whose phone number it is.")
        elif nameless and cleaned.get("help_url"):
            self.add_error("help_name", "Say whose web address it is.")
        if cleaned.get("coins") and cleaned.get("may_decline"):
            self.add_error(
                "may_decline",
                "Two coins can only say Yes or No. Switch this off, or switch the two coins off.",
            )
        return cleaned

    def _compare(
        self, first: str, second: str, agree: Callable[[Any, Any], bool], problem: str
    ) -> None:
        """Add the problem to the second field if both fields have values that do not agree."""
        one, other = self.cleaned_data.get(first), self.cleaned_data.get(second)
        if one is not None and other is not None and not agree(one, other):
            self.add_error(second, problem.format(first=one, second=other))
