"""The address of the chart bundle, which exists only once it has been built."""

from django import template
from django.templatetags.static import static

from aggregator.results.charts.bundle import STATIC_NAME

register = template.Library()


@register.simple_tag
def chart_bundle() -> str:
    """Return nothing while there is no bundle: pages then keep the picture and the table."""
    try:
        return static(STATIC_NAME)
    except ValueError:  # not in the manifest of static files
        return ""
