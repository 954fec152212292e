"""Finds the targets of the links in a form's error summary."""

from django import template
from django.forms import BoundField, RadioSelect

register = template.Library()


@register.filter
def control_id(field: BoundField) -> str:
    """Return the id of the control, or of the first one in a group of radio buttons."""
    if isinstance(field.field.widget, RadioSelect):
        return f"{field.auto_id}_0"
    return field.id_for_label
