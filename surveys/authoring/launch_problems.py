"""A problem that launch_checks.py finds. On pages, its text ends with a link to the fix."""

from __future__ import annotations

from typing import Self

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from surveys.models.settings import find_page


class Problem(str):
    """A problem in plain text. On a page, its last part is a link."""

    _said: str
    _repair: str
    _href: str

    def __new__(cls, said: str, repair: str, *, href: str) -> Self:
        made = super().__new__(cls, f"{said} {repair}")
        made._said, made._repair, made._href = said, repair, href
        return made

    def __html__(self) -> SafeString:
        return format_html('{} <a href="{}">{}</a>', self._said, self._href, self._repair)


def link_setting(slug: str, name: str) -> str:
    """Return the URL of the form field for a setting."""
    return f"{reverse('surveys:settings_page', args=[slug, find_page(name)])}#id_{name}"


def link_question(slug: str, pk: int) -> str:
    """Return the URL that opens a question in the editor."""
    return link_questions(slug, f"question-{pk}")


def link_questions(slug: str, part: str) -> str:
    return f"{reverse('surveys:questions', args=[slug])}#{part}"
