"""Writes times on respondents' pages, whose scripts show them in the device's time zone."""

from datetime import UTC, datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from surveys.formatting import moment

register = template.Library()


@register.filter
def time_element(value: datetime) -> SafeString:
    """Write a time element with the time in UTC, for browsers without scripts."""
    inside = value.astimezone(UTC)
    return format_html('<time datetime="{}">{}</time>', f"{inside:%Y-%m-%dT%H:%MZ}", moment(value))
