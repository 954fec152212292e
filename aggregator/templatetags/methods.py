"""Links to the paragraphs that explain the methods."""

from django import template
from django.urls import reverse

register = template.Library()


@register.simple_tag
def method_url(anchor: str) -> str:
    """Return the address of the paragraph with this anchor."""
    return f"{reverse('aggregator:methods')}#{anchor}"
