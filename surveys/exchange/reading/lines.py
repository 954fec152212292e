"""The rows of a file, and what became of each cell. No cell is lost silently.

A reader *takes* a cell whose content is in the draft, and *notes* any other cell with a reason.
`finish` notes the cells that the reader forgot.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

# A note of the kind "change" affects the questions that are asked. A note of the kind "same" does
# not.
Kind = Literal["change", "same"]
_LONGEST = 300
# Control characters, and characters that reorder text (surveys.form_fields).
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
NO_PLACE = "Murmur has no such column."
FORMULA = (
    "The file does not contain the value of this formula. Save the file in a spreadsheet program."
)


@dataclass(kw_only=True)
class Line:
    """A row. `cells` maps the headers of columns to the row's cells."""

    sheet: str
    row: int
    cells: dict[str, str]
    name: str = ""
    text: str = ""
    notes: list[tuple[str, str, Kind]] = field(default_factory=list)  # column, reason, kind
    left: str = ""  # the reason if the row is left out
    column: str = ""  # the column of the cell that is the reason for leaving the row out
    taken: set[str] = field(default_factory=set)

    def take(self, column: str) -> str:
        self.taken.add(column)
        return self.cells.get(column, "")

    def note(self, column: str, reason: str, kind: Kind = "change") -> None:
        """Note why the draft lacks a cell's content. The reason begins with a capital letter."""
        self.taken.add(column)
        if (column, reason, kind) not in self.notes:
            self.notes.append((column, reason, kind))

    def leave(self, reason: str, column: str = "") -> None:
        """Leave the whole row out. A second call does not replace the first reason."""
        if not self.left:
            self.left, self.column = reason, column

    def finish(self) -> None:
        for column in self.cells:
            if column not in self.taken and not self.left:
                self.note(column, NO_PLACE)


def show(text: str) -> str:
    """Replace hidden characters, which could reorder the text that authors read."""
    return HIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def cut(text: str) -> str:
    """Shorten text for the lists, and add its length to show that something is missing."""
    text = show(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
