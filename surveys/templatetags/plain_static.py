"""Static files for pages that must load even when nothing else works."""

from urllib.parse import urljoin

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def plain_static(path: str) -> str:
    """The unhashed address of a static file, without asking for the manifest of hashes."""
    return urljoin(str(settings.STATIC_URL), path)
