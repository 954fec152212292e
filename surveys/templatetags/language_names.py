"""Languages in templates: their English names, and what the lang and dir attributes say."""

from collections.abc import Iterable

from django import template

from surveys.manifest import languages

register = template.Library()
register.filter("language_name", languages.name_language)
register.filter("language_tag", languages.language_tag)
register.filter("direction", languages.direction)


@register.filter
def language_names(codes: Iterable[str]) -> str:
    """English, French, Arabic"""
    return ", ".join(map(languages.name_language, codes))


@register.filter
def own_name(code: str) -> str:
    """What the speakers of a language call it."""
    return languages.NAMES[code]
