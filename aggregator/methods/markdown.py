"""Turn the Markdown of docs/methods into HTML, and links between files into links between pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import PurePosixPath

from django.urls import reverse
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

from aggregator.methods.formulas import add_formulas

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)  # marks where scripts/tables fills in tables
INDEX = "README"  # the file that lists the chapters in their order
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:")  # https:, mailto:


@cache
def _markdown() -> MarkdownIt:
    """Return a parser that escapes HTML in the text, although the text is ours."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    return add_formulas(markdown).use(anchors_plugin, max_level=4)


def parse(text: str, *, chapter: str) -> list[Token]:
    tokens = _markdown().parse(COMMENT.sub("", text))
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("href", resolve_link(str(child.attrGet("href")), chapter=chapter))
            elif child.type == "image":
                name = PurePosixPath(str(child.attrGet("src"))).name
                child.attrSet("src", reverse("aggregator:methods_figure", args=[name]))
    return tokens


def resolve_link(link: str, *, chapter: str) -> str:
    """Return the URL on this site for a link in a file.

    Links within a chapter also name the chapter, because its sections also appear on other pages.
    """
    path, _, anchor = link.partition("#")
    if OUTSIDE.match(link):
        return link
    name = PurePosixPath(path).stem if path else chapter
    page = (
        reverse("aggregator:methods")
        if name == INDEX
        else reverse("aggregator:methods_chapter", args=[name])
    )
    return f"{page}#{anchor}" if anchor else page


def render(tokens: Sequence[Token]) -> str:
    markdown = _markdown()
    html: str = markdown.renderer.render(tokens, markdown.options, {})
    # Wide tables and formulas scroll in their own boxes, also by keyboard, and not with the page.
    html = html.replace('<div class="math block">', '<div class="formula" tabindex="0">')
    html = html.replace("<pre>", '<pre tabindex="0">')
    html = html.replace("<table>", '<div class="table-wrap" tabindex="0"><table class="table">')
    return html.replace("</table>", "</table></div>")


def read_text(tokens: Sequence[Token]) -> str:
    """Return the text of a heading or a cell without Markdown."""
    return "".join(
        child.content for token in tokens for child in token.children or () if child.content
    )
