"""Fields whose stored value changed while a form was open."""

from __future__ import annotations

from dataclasses import dataclass

from django import forms

from surveys.formatting import moment


@dataclass(frozen=True, kw_only=True)
class StoredValue:
    label: str
    text: str


def list_stored(form: forms.Form, stored: forms.Form) -> list[StoredValue]:
    """List the fields in which a form that was sent differs from one made from what is stored."""
    return [
        StoredValue(label=str(form[name].label), text=_write(stored[name]))
        for name, field in form.fields.items()
        if name in stored.fields and field.has_changed(stored[name].initial, form[name].data)
    ]


def _write(bound: forms.BoundField) -> str:
    value, field = bound.initial, bound.field
    if isinstance(field, forms.BooleanField):
        return "on" if value else "off"
    if isinstance(field, forms.ChoiceField):
        return str(dict(field.choices).get(value, value))  # type: ignore[arg-type]
    if isinstance(field, forms.DateTimeField):
        return moment(value) if value else "empty"
    return "empty" if value in (None, "") else str(value)
