"""Writes a table that scrolls sideways on small screens, by touch and by keyboard."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_block_tag(end_name="endtable")
def table(content: SafeString, labelled_by: str, look: str = "table-fit") -> SafeString:
    """Wrap the head and body of a table; `labelled_by` is the id of its heading."""
    return format_html(
        '<div class="table-wrap" tabindex="0" role="group" aria-labelledby="{}">'
        '<table class="table {}">{}</table></div>',
        labelled_by,
        look,
        content,
    )
