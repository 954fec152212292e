"""The content of the report of a study, which the page, the PDF and the Word file show.

A report of a study is for readers of results. It is not a respondent's report, which is a row of
scrambled codes. Everything here is plain data; the modules in `sections/` write it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from enum import StrEnum
from typing import Any, ClassVar

from surveys.axis import Whisker

# Increase this whenever the same content would give different files.
LAYOUT_VERSION = 2


class Tone(StrEnum):
    PLAIN = "plain"
    NOTICE = "notice"  # what a reader must know before using a figure
    TO_PASTE = "to_paste"  # text for a paper


@dataclass(frozen=True, kw_only=True)
class Words:
    """A piece of text, either the author's in the survey's language, or Murmur's."""

    text: str
    is_authors: bool = False


@dataclass(frozen=True, kw_only=True)
class Heading:
    """The heading of a question or of a comparison, inside a section."""

    kind: ClassVar[str] = "heading"
    words: Words
    number: str = ""  # "Q3"


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    kind: ClassVar[str] = "paragraph"
    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, kw_only=True)
class Listing:
    kind: ClassVar[str] = "listing"
    items: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Fact:
    name: str
    value: Words


@dataclass(frozen=True, kw_only=True)
class Facts:
    kind: ClassVar[str] = "facts"
    rows: tuple[Fact, ...]


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of a table; its first cell names it, and its whisker shows the figures as a picture.

    A heading is one cell, which names all rows below it.
    """

    cells: tuple[Words, ...]
    whisker: Whisker | None = None
    is_heading: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    """`widths` lists the relative widths of the columns of words; other columns contain figures.

    `axis` heads the column of whiskers; it is empty if there are no whiskers.
    """

    kind: ClassVar[str] = "table"
    caption: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]
    widths: tuple[int, ...]
    notes: tuple[str, ...] = ()
    axis: str = ""

    @property
    def columns(self) -> int:
        return len(self.header) + bool(self.axis)


Part = Heading | Paragraph | Listing | Facts | Table


@dataclass(frozen=True, kw_only=True)
class Section:
    anchor: str
    heading: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, kw_only=True)
class StudyReport:
    """The whole report; `tag` and `direction` describe the language of the author's words."""

    title: str
    tag: str
    direction: str
    # What readers must know first, such as that the report is interim or describes a rehearsal.
    marks: tuple[str, ...]
    facts: Facts
    sections: tuple[Section, ...]
    # The day on which the survey closed, which is the date of the files.
    day: date | None = None

    @property
    def row_count(self) -> int:
        """The number of rows in all tables."""
        parts = (part for section in self.sections for part in section.parts)
        return sum(len(part.rows) for part in parts if isinstance(part, Table))


def list_texts(report: StudyReport) -> Iterator[str]:
    """Yield every piece of text in the report, in reading order."""
    yield report.title
    yield from report.marks
    for part in (report.facts, *(part for one in report.sections for part in (one, *one.parts))):
        if isinstance(part, Section):
            yield part.heading
        elif isinstance(part, Heading):
            yield from (part.number, part.words.text) if part.number else (part.words.text,)
        elif isinstance(part, Paragraph):
            yield part.text
        elif isinstance(part, Listing):
            yield from part.items
        elif isinstance(part, Facts):
            for fact in part.rows:
                yield from (fact.name, fact.value.text)
        else:
            yield from (part.caption, *part.header)
            yield from (words.text for row in part.rows for words in row.cells)
            yield from part.notes


def to_json(report: StudyReport) -> dict[str, Any]:
    """Convert the report to JSON values; each part names its kind."""
    day = report.day.isoformat() if report.day else None
    return asdict(report) | {
        "day": day,
        "facts": _write_part(report.facts),
        "sections": [
            asdict(section) | {"parts": [_write_part(part) for part in section.parts]}
            for section in report.sections
        ],
    }


def _write_part(part: Part) -> dict[str, Any]:
    return asdict(part) | {"kind": part.kind}


def identify(report: StudyReport) -> str:
    """Return everything that determines the content of the files, as one string."""
    return json.dumps([LAYOUT_VERSION, to_json(report)], ensure_ascii=False, sort_keys=True)
