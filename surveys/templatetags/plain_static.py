"""Links to static files on pages that must load even if nothing else works."""

from urllib.parse import urljoin

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def plain_static(path: str) -> str:
    """Return the unhashed URL of a static file, without reading the manifest of hashes."""
    return urljoin(str(settings.STATIC_URL), path)
