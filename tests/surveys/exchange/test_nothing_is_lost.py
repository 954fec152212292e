"""Nothing is lost silently: each cell's content is in the draft or in the notes on its row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from surveys.exchange.drafting import Drafted
from surveys.exchange.heads import HEADS
from surveys.exchange.reading.files import Unreadable
from tests.support.questionnaires import (
    DICTIONARY,
    XLSFORM,
    Rows,
    Sheets,
    read,
    with_cell,
    write_csv,
    write_workbook,
)

SENTINEL = "Zqx7w"
OTHER_SHEETS: Sheets = XLSFORM | {"notes": [["For the team"], [None, "Ask Kim"]]}
FORMATS: dict[str, tuple[Sheets, Any]] = {
    "xlsform": (OTHER_SHEETS, write_workbook),
    "redcap": ({"": DICTIONARY}, lambda sheets: write_csv(sheets[""])),
}
# Without these columns, a file is neither an XLSForm nor a dictionary, so it is refused.
NEEDED = {("survey", "type"), ("", "Field Type"), ("", "Field Label")}


def is_told(drafted: Drafted, sheet: str, row: int, column: str) -> bool:
    if SENTINEL in json.dumps(drafted.definition):
        return True
    rows = [one for one in drafted.outcomes if (one["sheet"], one["row"]) == (sheet, row)]
    told = [(head, text) for one in rows for head, text, *_ in (*one["notes"], *one["cells"])]
    return any(head == column and SENTINEL in text for head, text in told)


def name_column(rows: Rows, sheet: str, place: int) -> str:
    if sheet == "notes":
        return f"column {'AB'[place]}"
    return list(HEADS)[place] if sheet == "" else str(rows[0][place])


@pytest.mark.parametrize("places", ["some", pytest.param("others", marks=pytest.mark.long)])
@pytest.mark.parametrize("name", FORMATS)
def test_a_sentinel_in_each_cell_is_in_the_draft_or_in_the_lists(name: str, places: str) -> None:
    sheets, write = FORMATS[name]
    cells = [
        (sheet, at, place)
        for sheet, rows in sheets.items()
        for at, row in enumerate(rows)
        for place, cell in enumerate(row)
        if cell not in (None, "")
    ]
    assert len(cells) > 100
    some = cells[::5]
    chosen = some if places == "some" else [one for one in cells if one not in some]
    lost = [where for where in chosen if not is_found(sheets, write, *where)]
    assert lost == []


def is_found(sheets: Sheets, write: Any, sheet: str, at: int, place: int) -> bool:
    rows, content = sheets[sheet], write(with_cell(sheets, sheet, at, place, SENTINEL))
    is_head = at == 0 and sheet != "notes"
    if is_head and (sheet, rows[0][place]) in NEEDED:
        with pytest.raises(Unreadable):
            read(content)
        return True
    drafted = read(content)
    if is_head:
        return SENTINEL in json.dumps([drafted.definition, drafted.outcomes])
    return is_told(drafted, sheet, at + 1, name_column(rows, sheet, place))


@pytest.mark.parametrize("name", FORMATS)
def test_every_row_is_in_exactly_one_list(name: str) -> None:
    sheets, write = FORMATS[name]
    outcomes = read(write(sheets)).outcomes
    found = sorted((one["sheet"], one["row"]) for one in outcomes if one["row"])
    first = {sheet: 0 if sheet == "notes" else 1 for sheet in sheets}
    assert found == sorted(
        (sheet, at + 1)
        for sheet, rows in sheets.items()
        for at, row in enumerate(rows)
        if at >= first[sheet] and any(cell not in (None, "") for cell in row)
    )
