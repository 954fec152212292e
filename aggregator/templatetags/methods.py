"""Links to the paragraphs that explain the methods."""

from django import template
from django.urls import reverse

from aggregator.methods.document import list_anchors

register = template.Library()


@register.simple_tag
def method_url(anchor: str) -> str:
    """Return the URL of the paragraph with this anchor."""
    name = list_anchors().get(anchor)
    if name is None:
        return address_of_contents(anchor)
    return f"{reverse('aggregator:methods_chapter', args=[name])}#{anchor}"


def address_of_contents(anchor: str) -> str:  # noqa: ARG001 - tests fail with it
    """Return the URL to which a wrong anchor leads; in tests, a wrong anchor is an error."""
    return reverse("aggregator:methods")
