"""The address of the chart bundle, which exists only once it was built."""

from django import template
from django.templatetags.static import static

from aggregator.results.chart_bundle import STATIC_NAME

register = template.Library()


@register.simple_tag
def chart_bundle() -> str:
    """Empty while there is none: pages then keep the picture and the table."""
    try:
        return static(STATIC_NAME)
    except ValueError:  # not in the manifest of static files
        return ""
