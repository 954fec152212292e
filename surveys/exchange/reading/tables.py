"""The sheets of an XLSForm as tables, whose headers are read with pyxform's aliases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyxform.parsing.sheet_headers import process_header

from surveys.exchange.reading.files import Sheet
from surveys.exchange.reading.lines import FORMULA, Line


@dataclass(kw_only=True)
class Column:
    head: str
    tokens: tuple[str, ...]
    language: str | None = None  # the language of a label, as written in the file


@dataclass(kw_only=True)
class Table:
    """A sheet whose headers are read with pyxform's aliases."""

    columns: list[Column]
    lines: list[Line]

    def find(self, *tokens: str) -> str:
        """Return the header of the first matching column, or an empty string if there is none."""
        found = (one.head for one in self.columns if one.tokens == tokens)
        return next(found, "")


def read_table(sheet: Sheet | None, known: set[str], known_as: Mapping[str, Any]) -> Table:
    if sheet is None or not sheet.rows:
        return Table(columns=[], lines=[])
    (first, heads), *rows = sheet.rows.items()
    columns: dict[str, Column] = {}
    double = any("::" in head for head in heads.values())
    for letter, head in heads.items():
        taken = {one.head for one in columns.values()}
        _, tokens = process_header(head, double, known_as, known)
        shown = head if head not in taken else f"{head} (column {letter})"
        columns[letter] = Column(head=shown, tokens=tokens)
        if tokens[0] == "label":
            columns[letter].language = "::".join(tokens[1:])
    lines = []
    for number, row in rows:
        cells: dict[str, str] = {}
        line = Line(sheet=sheet.name, row=number, cells=cells)
        for letter, text in row.items():
            head = columns[letter].head if letter in columns else f"column {letter}"
            cells[head] = text
            if (number, letter) in sheet.formulas:
                line.note(head, FORMULA)
        lines.append(line)
    head_formulas = [letter for row, letter in sheet.formulas if row == first]
    for letter in head_formulas:
        lines[0:0] = [Line(sheet=sheet.name, row=first, cells={letter: heads[letter]})]
        lines[0].leave(FORMULA, letter)
    return Table(columns=list(columns.values()), lines=lines)
