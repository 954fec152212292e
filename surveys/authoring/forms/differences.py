"""What differs between a form and what was stored while it was open, and values in words."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django import forms
from django.http import QueryDict

from surveys.authoring.forms.rule_choice import INPUTS
from surveys.formatting import day, moment, whole
from surveys.manifest.manifest import Manifest
from surveys.models.settings import SETTINGS

KEEP, THEIRS = "keep-", "theirs"


@dataclass(frozen=True, kw_only=True)
class StoredValue:
    label: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A field with what its author typed, and what was stored in the meantime."""

    choice: str  # the name of the two radio buttons
    label: str
    mine: str
    theirs: str


def list_differences(form: forms.Form, stored: forms.Form) -> list[Difference]:
    """List the fields in which a submitted form, which is valid, differs from a stored one."""
    return [
        Difference(
            choice=KEEP + name,
            label=str(form[name].label),
            mine=_describe(field, form[name].data),
            theirs=_describe(field, stored[name].initial),
        )
        for name, field in form.fields.items()
        if name in stored.fields and field.has_changed(stored[name].initial, form[name].data)
    ]


def take_theirs(posted: QueryDict, stored: forms.Form, *, also: Collection[str] = ()) -> QueryDict:
    """Put what is stored in the place of what was typed, where the author chose so.

    `also` are fields that the author's form did not have.
    """
    chosen = [name for name in stored.fields if name in also or posted.get(KEEP + name) == THEIRS]
    taken = posted.copy()
    for name in chosen:
        # A rule is sent in two ways, and only one of them is what is stored.
        for other in INPUTS if name == "rule" else (name,):
            taken.pop(other, None)
        value, widget = stored[name].value(), stored.fields[name].widget
        if isinstance(widget, forms.CheckboxInput):
            taken.update({name: "on"} if value else {})
        elif isinstance(widget, forms.Select | forms.RadioSelect):
            taken[name] = "" if value is None else str(value)
        else:
            taken[name] = widget.format_value(value) or ""
    return taken


def list_frozen(manifest: Manifest) -> list[StoredValue]:
    """List the settings that are not empty, except those that pages describe in their own words."""
    listed = {name: setting.label for name, setting in SETTINGS.items() if setting.is_listed}
    return [
        StoredValue(label=listed[name], text=_write(value))
        for name in listed
        if (value := getattr(manifest, name, None)) not in (None, "")
    ]


def _describe(field: forms.Field, value: Any) -> str:
    if isinstance(field, forms.ChoiceField):
        words = {str(code): str(text) for code, text in field.choices}  # type: ignore[misc, union-attr]
        return words.get("" if value is None else str(value), str(value))
    if isinstance(value, str):
        value = field.to_python(value)
    return "empty" if value in (None, "") else _write(value)


def _write(value: object) -> str:
    match value:
        case bool():
            return "on" if value else "off"
        case int():
            return whole(value)
        case datetime():
            return moment(value)
        case date():
            return day(value)
    return str(value)
