"""Writes times on respondents' pages. Their scripts show them in the device's time zone."""

from datetime import UTC, datetime

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import pgettext

register = template.Library()


@register.filter
def time_element(value: datetime) -> SafeString:
    """Write a time element with the time in UTC, for browsers without scripts."""
    inside = value.astimezone(UTC)
    text = date_format(inside, pgettext("format of a moment", "j F Y, H:i"))
    return format_html('<time datetime="{}">{} UTC</time>', f"{inside:%Y-%m-%dT%H:%MZ}", text)
