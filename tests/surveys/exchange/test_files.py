"""Real files are odd (encodings, hidden sheets, formulas), and some are attacks on the reader."""

from __future__ import annotations

import io
import json
import os
from unittest import mock

import pytest
from openpyxl import load_workbook

from surveys.exchange import child
from surveys.exchange.child import TOO_MUCH, read_in_child
from surveys.exchange.reading.files import MAX_ROWS, Unreadable
from tests.support.questionnaires import (
    DICTIONARY,
    FIRST_SHEET,
    XLSFORM,
    add_entry,
    find_row,
    read,
    replace_entry,
    write_csv,
    write_many_rows,
    write_workbook,
)

WORKBOOK = write_workbook(XLSFORM)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_encodings_and_delimiters_make_no_difference(encoding: str, delimiter: str) -> None:
    rows = [*DICTIONARY, ["gr", "use", "", "yesno", "Größe – “groß”?", *[""] * 13]]
    content = write_csv(rows, encoding=encoding, delimiter=delimiter)
    if encoding == "utf-16-le":
        content = b"\xff\xfe" + content
    assert read(content) == read(write_csv(rows))


def test_short_heads_are_read_and_a_wrong_first_head_is_told() -> None:
    heads = [name.lower().replace(" ", "_") for name in DICTIONARY[0]]
    assert read(write_csv([heads, *DICTIONARY[1:]])) == read(write_csv(DICTIONARY))
    drafted = read(write_csv([["1", *DICTIONARY[0][1:]], *DICTIONARY[1:]]))
    assert any("“1”" in one["reason"] for one in drafted.outcomes)


def test_hidden_sheets_macros_and_formulas_are_told() -> None:
    sheets = XLSFORM | {"secret": [["Hidden notes"]]}
    drafted = read(add_entry(write_workbook(sheets, hidden=["secret"]), "xl/vbaProject.bin", b"x"))
    assert "hidden sheet “secret”" in find_row(drafted, 1, "secret")["reason"]
    assert any("macros" in one["reason"] for one in drafted.outcomes)
    book = load_workbook(io.BytesIO(WORKBOOK))
    book["survey"]["C4"] = '=HYPERLINK("https://example.org")'
    written = io.BytesIO()
    book.save(written)
    assert "does not contain the value of this formula" in str(
        find_row(read(written.getvalue()), 4)["notes"]
    )


def test_cells_behind_empty_rows_and_columns_are_read() -> None:
    book = load_workbook(io.BytesIO(WORKBOOK))
    book["survey"]["A500"], book["survey"]["B500"], book["survey"]["C500"] = "note", "far", "Far"
    book["survey"]["CZ5"] = "Lost?"
    written = io.BytesIO()
    book.save(written)
    drafted = read(written.getvalue())
    assert find_row(drafted, 500)["became"]
    assert ("column CZ", "Lost?") in [(note[0], note[1]) for note in find_row(drafted, 5)["notes"]]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (WORKBOOK[:3000], "damaged"),
        (add_entry(WORKBOOK, "xl/media/a.png", bytes(30_000_000)), "20 MB"),
        (write_many_rows(300_000), "20 MB"),
        (write_many_rows(MAX_ROWS + 1), "5,000 rows"),
        (write_csv([DICTIONARY[0], *[DICTIONARY[1]] * (MAX_ROWS + 1)]), "5,000 rows"),
        (b"\xd0\xcf\x11\xe0" + bytes(1000), "damaged"),
        (bytes(100), "neither a workbook"),
        (b"", "nor a REDCap data dictionary"),
        (write_workbook({"a": [["x"]], "b": [["y"]]}), "no sheet “survey”"),
        (write_workbook({"survey": [["name"], ["x"]]}), "no column “type”"),
        (b'a,"' + b"x" * 200_000, "quotation mark"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_do(content: bytes, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        read(content)
    assert len(write_many_rows(300_000)) < 1_000_000


def test_entries_that_lie_about_their_size_are_refused() -> None:
    big = replace_entry(WORKBOOK, FIRST_SHEET, b"<worksheet>" + b" " * 1_000_000)
    lying = big.replace((1_000_011).to_bytes(4, "little"), (11).to_bytes(4, "little"))
    with pytest.raises(Unreadable):
        read(lying)


def test_the_child_writes_no_more_than_its_parent_may_hold(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(child, "_limit", lambda: None)
    for most, name in ((child.MOST_WRITTEN, "parsed"), (100, "problem")):
        monkeypatch.setattr(child, "MOST_WRITTEN", most)
        with mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x\0" + WORKBOOK))):
            child.main()
        assert name in json.loads(capsys.readouterr().out)


def test_the_child_reads_without_secrets_and_ends_at_its_limits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_KEY", "not for the child")
    found = read_in_child(WORKBOOK, name="Ätna.xlsx")
    assert found["parsed"]["settings"]["title"] == "Lies"
    assert "problem" in read_in_child(b"x", name="x")
    for code in ("bytearray(child.MEMORY_BYTES)", "[0 for _ in iter(int, 1)]"):
        limited = (
            f"from surveys.exchange import child; child.CPU_SECONDS = 1; child._limit(); {code}"
        )
        monkeypatch.setattr("surveys.exchange.child.COMMAND", ["-c", limited])
        assert read_in_child(WORKBOOK, name="x") == {"problem": TOO_MUCH}
    assert "SECRET_KEY" in os.environ
