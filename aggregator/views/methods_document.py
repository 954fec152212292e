"""docs/methods.md as a page: the formulas behind every estimate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path

from django.conf import settings
from markdown_it import MarkdownIt
from mdit_py_plugins.anchors import anchors_plugin

HEADING = re.compile(r'<h([23]) id="([^"]+)"[^>]*>(.*?)</h')
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)  # marks where scripts/tables fills in tables
FIGURE_NAME = re.compile(r"[a-z0-9-]+\.svg")


def _docs() -> Path:
    return Path(settings.BASE_DIR) / "docs"


@cache
def render_methods() -> str:
    """Return the HTML of the document without its title, which the page's own <h1> shows.

    The text is ours, but HTML in it is escaped all the same.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.use(anchors_plugin, max_level=4)
    text = (_docs() / "methods.md").read_text(encoding="utf-8")
    _, _, body = text.partition("\n")
    html: str = markdown.render(COMMENT.sub("", body))
    # In the repository, pictures are next to the file; here, they are below the page.
    html = html.replace('src="figures/', 'src="/methods/figures/')
    # A wide table scrolls on its own, by keyboard too, and does not widen the page.
    html = html.replace("<pre>", '<pre tabindex="0">')
    html = html.replace("<table>", '<div class="table-wrap" tabindex="0"><table class="table">')
    return html.replace("</table>", "</table></div>")


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """A group of methods in the table of contents."""

    anchor: str
    title: str
    methods: list[tuple[str, str]]


@cache
def list_chapters() -> list[Chapter]:
    chapters: list[Chapter] = []
    for level, anchor, title in HEADING.findall(render_methods()):
        if level == "2":
            chapters.append(Chapter(anchor=anchor, title=unescape(title), methods=[]))
        else:
            chapters[-1].methods.append((anchor, unescape(title)))
    return chapters


@cache
def read_figure(name: str) -> bytes | None:
    """Return a picture of the document; None if there is no such picture."""
    path = _docs() / "figures" / name
    if not FIGURE_NAME.fullmatch(name) or not path.is_file():
        return None
    return path.read_bytes()
