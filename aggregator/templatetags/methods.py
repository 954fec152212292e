"""Links to the paragraphs that explain the methods."""

from django import template
from django.urls import reverse

from aggregator.methods.document import list_anchors

register = template.Library()


@register.simple_tag
def method_url(anchor: str) -> str:
    """Return the address of the paragraph with this anchor.

    For a wrong anchor, which a test finds before any reader does, it is the table of contents.
    """
    name = list_anchors().get(anchor)
    if name is None:
        return reverse("aggregator:methods")
    return f"{reverse('aggregator:methods_chapter', args=[name])}#{anchor}"
