"""Gives templates the English names of languages, and the values of lang and dir attributes."""

from collections.abc import Iterable

from django import template

from surveys.manifest import languages

register = template.Library()
register.filter("language_name", languages.name_language)
register.filter("language_tag", languages.language_tag)
register.filter("direction", languages.direction)


@register.filter
def language_names(codes: Iterable[str]) -> str:
    """Write the English names as: English, French, Arabic."""
    return ", ".join(map(languages.name_language, codes))


@register.filter
def own_name(code: str) -> str:
    """Return the name of a language in that language."""
    return languages.NAMES[code]
