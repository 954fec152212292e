"""Read numbers, ranges and texts in the rows of an XLSForm, and say which cells have no effect."""

from __future__ import annotations

import re
from typing import Any

from surveys.exchange.reading import reasons as say
from surveys.exchange.reading.conditions import read_bounds, read_closed_list
from surveys.exchange.reading.lines import Line
from surveys.exchange.reading.redcap import read_whole
from surveys.exchange.reading.tables import Table


def read_number(kind: str, line: Line, table: Table) -> dict[str, Any] | None:
    type_head = table.find("type")
    if kind == "decimal":
        line.note(type_head, say.WHOLE)
    if kind == "range":
        head = table.find("parameters")
        given = dict(re.findall(r"(\w+)\s*=\s*(\S+?)(?:[,;\s]|$)", line.cells.get(head, "")))
        low = read_whole(given.pop("start", "1"))
        high = read_whole(given.pop("end", "10"))
        step = read_whole(given.pop("step", "1"))
        line.take(head)
        if given or (low is None and high is None):
            line.note(head, "Only start, end and step are read.")
        if step != 1:
            line.note(head, "Every whole number is an answer.")
        if low is not None and high is not None and 2 <= high - low <= 10:
            return {"type": "scale", "minimum": low, "maximum": high}
    else:
        head = table.find("bind", "constraint")
        low, high = read_bounds(line.cells.get(head, "")) or (None, None)
    if low is None or high is None:
        line.leave(say.NO_BOUNDS, head or type_head)
        return None
    line.take(head)
    return {"type": "number", "minimum": low, "maximum": high}


def read_free_text(line: Line, table: Table) -> dict[str, Any] | None:
    """Read a free-text question as a choice if its constraint lists all answers."""
    head = table.find("bind", "constraint")
    options = read_closed_list(line.cells.get(head, ""))
    if len(options) < 2:
        return None
    line.take(head)
    line.note(table.find("type"), "Becomes a choice among the texts that the constraint allows.")
    return {"type": "choice", "options": options}


def note_columns(line: Line, table: Table, *, is_closed: bool) -> None:
    """Note what follows from each column that Murmur lacks."""
    for column in table.columns:
        if column.head not in line.cells or column.head in line.taken:
            continue
        tokens = column.tokens
        if tokens[:2] in say.WITHOUT_EFFECT:
            line.note(column.head, say.NO_EFFECT, "same")
        elif tokens[:1] in say.LACKING:
            line.note(column.head, say.LACKING[tokens[:1]])
        elif tokens == ("bind", "constraint") and is_closed:
            line.note(column.head, say.CLOSED_ALREADY, "same")
        elif tokens == ("bind", "calculate"):
            line.note(column.head, say.NEVER_FILLED)
        elif tokens == ("parameters",):
            line.note(column.head, "Answers keep their order.")
