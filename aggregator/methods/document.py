"""The chapters of docs/methods with their sections, in the order of its index."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from django.conf import settings
from django.urls import reverse
from markdown_it.token import Token
from mdit_py_plugins.anchors.index import slugify

from aggregator.methods.markdown import INDEX, parse, read_text, render

# A line of the index: "1. [Title](name.md): what the chapter is about"
CHAPTER_LINE = re.compile(
    r"^\d+\. \[[^\]]+\]\((?:\.\./)?(?P<name>[a-z-]+)\.md\): (?P<about>.+)$", re.MULTILINE
)
CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^##? (.+)$", re.MULTILINE)
FIGURE_NAME = re.compile(r"[a-z0-9-]+\.svg")
GLOSSARY = "glossary"


@dataclass(frozen=True, kw_only=True)
class Section:
    """The content below a heading; the text below a chapter's title is also a section."""

    chapter: str
    anchor: str
    title: str
    html: str

    @property
    def url(self) -> str:
        return f"{reverse('aggregator:methods_chapter', args=[self.chapter])}#{self.anchor}"


@dataclass(frozen=True, kw_only=True)
class Chapter:
    name: str
    about: str
    lead: Section
    sections: tuple[Section, ...]

    @property
    def title(self) -> str:
        return self.lead.title

    @property
    def url(self) -> str:
        return reverse("aggregator:methods_chapter", args=[self.name])


def _docs() -> Path:
    return Path(settings.BASE_DIR) / "docs"


def _read(name: str) -> str:
    # The glossary serves the whole project, so it is outside the folder of the methods.
    folder = _docs() if name == GLOSSARY else _docs() / "methods"
    return (folder / f"{name}.md").read_text(encoding="utf-8")


@cache
def list_names() -> dict[str, str]:
    """Return the name of each chapter and what it is about, in the order of the index."""
    return {line["name"]: line["about"] for line in CHAPTER_LINE.finditer(_read(INDEX))}


@cache
def list_anchors() -> dict[str, str]:
    """Return the chapter of each anchor, without rendering chapters."""
    return {
        slugify(title): name
        for name in list_names()
        for title in HEADING.findall(CODE_BLOCK.sub("", _read(name)))
    }


@cache
def render_introduction() -> str:
    """Return the text of the index above its list of chapters."""
    tokens = parse(_read(INDEX), chapter=INDEX)
    title, chapters = (place for place, _ in _find_headings(tokens))
    return render(tokens[title + 3 : chapters])


def read_chapter(name: str) -> Chapter | None:
    return _render_chapter(name) if name in list_names() else None


@cache
def _render_chapter(name: str) -> Chapter:
    tokens = parse(_read(name), chapter=name)
    if name == GLOSSARY:
        _mark_terms(tokens)
    headings = [*_find_headings(tokens), (len(tokens), "")]
    lead, *sections = (
        Section(
            chapter=name,
            anchor=anchor,
            title=read_text(tokens[place : place + 3]),
            html=render(tokens[place + 3 : end]),  # after the heading's three tokens
        )
        for (place, anchor), (end, _) in pairwise(headings)
    )
    return Chapter(name=name, about=list_names()[name], lead=lead, sections=tuple(sections))


def _find_headings(tokens: list[Token]) -> list[tuple[int, str]]:
    return [
        (place, str(token.attrGet("id")))
        for place, token in enumerate(tokens)
        if token.type == "heading_open" and token.tag in {"h1", "h2"}
    ]


def _mark_terms(tokens: list[Token]) -> None:
    """Give each row of the glossary an id."""
    for row, cell, inside in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (row.type, cell.type) == ("tr_open", "td_open"):
            row.attrSet("id", anchor_of_term(read_text([inside])))


def anchor_of_term(term: str) -> str:
    return f"term-{slugify(term) or 'tilde'}"


def list_chapters() -> list[Chapter]:
    return [_render_chapter(name) for name in list_names()]


def find_section(anchor: str) -> Section | None:
    chapter = read_chapter(list_anchors().get(anchor, ""))
    if chapter is None:
        return None
    return next(each for each in (chapter.lead, *chapter.sections) if each.anchor == anchor)


@cache
def read_figure(name: str) -> bytes | None:
    """Return a figure of the methods, or None if no figure has this name."""
    path = _docs() / "figures" / name
    if not FIGURE_NAME.fullmatch(name) or not path.is_file():
        return None
    return path.read_bytes()
