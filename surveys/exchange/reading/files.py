"""Read a workbook (XLSForm) or a CSV file as sheets of text, without spaces around cells.

This runs in the child process (child.py).

pyxform's own reader stops after 60 empty rows, skips columns without a header and does not say
which column a cell is in. The cells are therefore read here, and are converted to text as in
pyxform.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from openpyxl import load_workbook
from openpyxl.cell.cell import ERROR_CODES
from openpyxl.utils import get_column_letter
from pyxform.xls2json_backends import is_empty, xls_value_to_unicode, xlsx_value_to_str
from xlrd import open_workbook

MAX_UNPACKED = 20_000_000
MAX_ROWS = 5_000
MAX_CELLS = 200_000
_ZIP, _OLD_WORKBOOK = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_LONGEST_FIELD = 100_000


class Unreadable(Exception):
    """The file cannot be read at all. The message says why, and what to do about it."""


@dataclass(kw_only=True)
class Sheet:
    """The cells that are not empty, keyed by row number and then by the letters of the column."""

    name: str
    rows: dict[int, dict[str, str]] = field(default_factory=dict)
    is_hidden: bool = False
    # Cells with a formula whose value is not in the file; their text is the formula.
    formulas: set[tuple[int, str]] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True)
class File:
    sheets: Sequence[Sheet]
    is_workbook: bool
    has_macros: bool = False


def read_file(content: bytes) -> File:
    """Read the sheets of a file, or raise Unreadable."""
    if content.startswith(_ZIP):
        return _read_workbook(content)
    if content.startswith(_OLD_WORKBOOK):
        return File(sheets=_read_old_workbook(content), is_workbook=True)
    return File(sheets=[_read_csv(content)], is_workbook=False)


class _Counter:
    """Rejects a file that has more rows or cells than any questionnaire."""

    def __init__(self) -> None:
        self.rows = self.cells = 0

    def add(self, cells: int) -> None:
        self.rows, self.cells = self.rows + 1, self.cells + cells
        if self.rows > MAX_ROWS or self.cells > MAX_CELLS:
            raise Unreadable(
                f"The file has more than {MAX_ROWS:,} rows or {MAX_CELLS:,} cells. Delete what "
                "does not belong to the questionnaire."
            )


def _read_workbook(content: bytes) -> File:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise _broken() from None
    if sum(entry.file_size for entry in entries) > MAX_UNPACKED:
        raise Unreadable("Unpacked, the file is larger than 20 MB. Delete pictures and old sheets.")
    try:
        values, formulas = (
            load_workbook(io.BytesIO(content), read_only=True, data_only=data_only)
            for data_only in (True, False)
        )
        counters = _Counter(), _Counter()
        sheets = []
        for one, other in zip(values.worksheets, formulas.worksheets, strict=True):
            sheet = Sheet(name=one.title, is_hidden=one.sheet_state != "visible")
            written = {
                cell: text for cell, text in _iterate(other, counters[1]) if text.startswith("=")
            }
            for cell, text in _iterate(one, counters[0]):
                if text in ERROR_CODES:
                    sheet.formulas.add(cell)
                written.pop(cell, None)
                sheet.rows.setdefault(cell[0], {})[cell[1]] = text
            for (row, column), text in written.items():
                sheet.rows.setdefault(row, {})[column] = text
                sheet.formulas.add((row, column))
            sheet.rows = dict(sorted(sheet.rows.items()))
            sheets.append(sheet)
    except (Unreadable, MemoryError):
        raise
    except Exception:  # openpyxl can raise any type of exception
        raise _broken() from None
    has_macros = any(entry.filename.endswith("vbaProject.bin") for entry in entries)
    return File(sheets=sheets, is_workbook=True, has_macros=has_macros)


def _iterate(sheet: object, counter: _Counter) -> Iterator[tuple[tuple[int, str], str]]:
    sheet.reset_dimensions()  # type: ignore[attr-defined] # files may state a wrong size
    for cells in sheet.iter_rows():  # type: ignore[attr-defined]
        found = [cell for cell in cells if not is_empty(cell.value)]
        if found:
            counter.add(len(found))
        for cell in found:
            text = xlsx_value_to_str(cell.value).strip()
            yield (cell.row, get_column_letter(cell.column)), text


def _read_old_workbook(content: bytes) -> list[Sheet]:
    try:
        book = open_workbook(file_contents=content)
        counter = _Counter()
        sheets = []
        for one in book.sheets():
            sheet = Sheet(name=one.name, is_hidden=one.visibility != 0)
            for number in range(one.nrows):
                row = {
                    get_column_letter(place): _strip(cell, book.datemode)
                    for place, cell in enumerate(one.row(number), start=1)
                    if not is_empty(cell.value)
                }
                if row:
                    counter.add(len(row))
                    sheet.rows[number + 1] = row
            sheets.append(sheet)
    except (Unreadable, MemoryError):
        raise
    except Exception:  # xlrd can raise any type of exception
        raise _broken() from None
    return sheets


def _strip(cell: object, datemode: int) -> str:
    value = xls_value_to_unicode(cell.value, cell.ctype, datemode)  # type: ignore[attr-defined]
    return str(value).strip()


def _broken() -> Unreadable:
    return Unreadable(
        "The file is damaged or protected by a password. Open it in a spreadsheet program and save "
        "it again as .xlsx."
    )


def _read_csv(content: bytes) -> Sheet:
    text = decode(content)
    if "\0" in text:
        raise Unreadable("This is neither a workbook (.xlsx, .xls) nor a CSV file.")
    head = text[: text.find("\n")]
    delimiter = max(",;\t", key=head.count)
    csv.field_size_limit(_LONGEST_FIELD)
    sheet, counter = Sheet(name=""), _Counter()
    try:
        for number, cells in enumerate(
            csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), start=1
        ):
            row = {
                get_column_letter(place): cell.strip()
                for place, cell in enumerate(cells, start=1)
                if not is_empty(cell)
            }
            if row:
                counter.add(len(row))
                sheet.rows[number] = row
    except csv.Error:
        raise Unreadable(
            f"The file has a cell of more than {_LONGEST_FIELD:,} characters. A quotation mark may "
            "be missing."
        ) from None
    return sheet


def decode(content: bytes) -> str:
    """Decode text as UTF-8 or UTF-16, or else as the Windows encoding of Western Europe."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    else:
        encodings = ["utf-8-sig", "cp1252", "latin-1"]
    for encoding in encodings:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise Unreadable("The text of the file cannot be read. Save it as “CSV UTF-8”.")
