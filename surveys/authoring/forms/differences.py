"""Find differences between a form and values stored while it was open, and put values in words."""

from __future__ import annotations

import hashlib
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
TYPED = "~"  # precedes the mark of a typed value on the page that offers a choice of values


@dataclass(frozen=True, kw_only=True)
class StoredValue:
    label: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A field with the value that the author typed and the value stored in the meantime."""

    choice: str  # the name of the two radio buttons
    label: str
    mine: str
    theirs: str
    is_mine: bool = True  # whether the author, and not only someone else, changed the field


def add_marks(stamp: str, *, stored: forms.Form, typed: forms.Form | None = None) -> str:
    """Add the marks of the stored and the typed value of each field to a stamp.

    When this stamp is sent with a later form, the marks show which fields its author changed.
    """
    marks = [mark(name, _write_as_sent(stored[name])) for name in stored.fields]
    if typed is not None:
        marks += [TYPED + mark(name, _write_as_sent(typed[name])) for name in typed.fields]
    return " ".join([stamp, *marks])


def mark(name: str, sent: str) -> str:
    text = sent.replace("\r\n", "\n").strip()
    return hashlib.sha256(f"{name}={text}".encode("utf-8", "surrogatepass")).hexdigest()[:8]


def list_differences(form: forms.Form, stored: forms.Form, *, stamp: str) -> list[Difference]:
    """List the fields in which a valid, submitted form differs from a stored one.

    `stamp` is the value that was submitted with the form.
    """
    return [
        Difference(
            choice=KEEP + name,
            label=str(form[name].label),
            mine=_describe(field, form[name].data),
            theirs=_describe(field, stored[name].initial),
            is_mine=mark(name, _write_as_sent(form[name])) not in stamp.split(),
        )
        for name, field in form.fields.items()
        if name in stored.fields and field.has_changed(stored[name].initial, form[name].data)
    ]


def take_theirs(
    posted: QueryDict,
    stored: forms.Form,
    *,
    typed: forms.Form,
    stamp: str,
    also: Collection[str] = (),
) -> QueryDict:
    """Replace typed values with stored ones where the author chose the stored ones.

    Fields that the author edited after the choice was offered keep the typed value. `typed` is the
    form as submitted. `also` names fields that the author's form did not have.
    """
    marks = stamp.split()
    has_typed = any(one.startswith(TYPED) for one in marks)
    taken = posted.copy()
    for name in stored.fields:
        if name not in also:
            if posted.get(KEEP + name) != THEIRS:
                continue
            now = _write_as_sent(typed[name]) if name in typed.fields else ""
            if has_typed and TYPED + mark(name, now) not in marks:
                continue
        # The form sends a rule both as text and as choices, but the stored form is only the text.
        for other in INPUTS if name == "rule" else (name,):
            taken.pop(other, None)
        taken[name] = _write_as_sent(stored[name])
    return taken


def _write_as_sent(bound: forms.BoundField) -> str:
    """Write the value of a field as a browser sends it."""
    value, widget = bound.value(), bound.field.widget
    if isinstance(widget, forms.CheckboxInput):
        return "on" if value else ""
    if isinstance(widget, forms.Select | forms.RadioSelect):
        return "" if value is None else str(value)
    return str(widget.format_value(value) or "")


def list_frozen(manifest: Manifest) -> list[StoredValue]:
    """List the nonempty settings, except those that pages describe in sentences."""
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
