"""Put stored values into words: those that changed while a form was open, and frozen ones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from django import forms

from surveys.formatting import day, moment, whole
from surveys.manifest.manifest import Manifest
from surveys.models.settings import SETTINGS


@dataclass(frozen=True, kw_only=True)
class StoredValue:
    label: str
    text: str


def list_stored(form: forms.Form, stored: forms.Form) -> list[StoredValue]:
    """List the stored values of the fields in which a submitted form differs from a stored one."""
    return [
        StoredValue(label=str(form[name].label), text=_describe(stored[name]))
        for name, field in form.fields.items()
        if name in stored.fields and field.has_changed(stored[name].initial, form[name].data)
    ]


def list_frozen(manifest: Manifest) -> list[StoredValue]:
    """List the settings that are not empty, except those that pages describe in their own words."""
    listed = {name: setting.label for name, setting in SETTINGS.items() if setting.is_listed}
    return [
        StoredValue(label=listed[name], text=_write(value))
        for name in listed
        if (value := getattr(manifest, name, None)) not in (None, "")
    ]


def _describe(bound: forms.BoundField) -> str:
    value, field = bound.initial, bound.field
    if isinstance(field, forms.ChoiceField):
        return str(dict(field.choices).get(value, value))  # type: ignore[arg-type]
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
