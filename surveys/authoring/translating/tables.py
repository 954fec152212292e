"""Reads the bytes of an uploaded CSV file, and finds its encoding, separator, columns and rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from surveys.authoring.translating.cells import restore
from surveys.authoring.translating.writing import ORIGINAL, WHERE
from surveys.manifest.languages import NAMES, name_language
from surveys.manifest.plain_text import fold

# The preview page sends the text back, so it must fit into DATA_UPLOAD_MAX_MEMORY_SIZE. UTF-16 text
# grows by up to half when it is converted to UTF-8.
MAX_BYTES = 600_000
MAX_ROWS = 10_000
_LONGEST_HEADER = 10_000
_SEPARATORS = (",", ";", "\t")
_BYTE_ORDER = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_SAVE_AS = "Save it as “CSV UTF-8”, and upload it again."


class Unreadable(Exception):
    """Says why a file cannot be read, and what to do about it."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One row with its number in the spreadsheet. `cells` maps languages to words."""

    row: int
    where: str
    original: str
    cells: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Table:
    lines: Sequence[Line]
    languages: Sequence[str]
    left_out: Sequence[str]  # the names of the other columns


def decode(content: bytes) -> str:
    """Decode UTF-8, UTF-16 or the usual encoding of Western spreadsheets, or raise Unreadable."""
    if not content.strip():
        raise Unreadable("The file is empty. Choose another one.")
    if len(content) > MAX_BYTES:
        raise Unreadable(
            f"The file is {len(content) // 1000:,} kB, but at most {MAX_BYTES // 1000} kB can be "
            "read. Delete the columns of some languages, and upload them in another file."
        )
    if content.startswith(b"PK"):
        raise Unreadable(f"This is a workbook, not a CSV file. {_SAVE_AS}")
    known = (name for mark, name in _BYTE_ORDER.items() if content.startswith(mark))
    for encoding in (next(known, "utf-8"), "windows-1252"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break  # UTF-16 without a byte order mark, or not a text file
        if encoding == "windows-1252":
            _refuse_lost_letters(text)
        return normalize(text)
    raise Unreadable(f"The characters of the file cannot be read. {_SAVE_AS}")


def _refuse_lost_letters(text: str) -> None:
    """Reject words in Arabic and Chinese, which this encoding garbles."""
    table = read_table(normalize(text))
    lost = [
        name_language(code)
        for code in table.languages
        if code in ("ar", "zh-hans") and any(line.cells.get(code) for line in table.lines)
    ]
    if lost:
        raise Unreadable(f"The file has lost the characters of {' and '.join(lost)}. {_SAVE_AS}")


def normalize(text: str) -> str:
    """Write line breaks as in text that is submitted with a form."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_table(text: str) -> Table:
    """Read rows and columns, or raise Unreadable."""
    first = text[:_LONGEST_HEADER].partition("\n")[0]
    separator = next(
        (one for one in _SEPARATORS if ORIGINAL in map(fold, _split(first, one))), None
    )
    if separator is None:
        raise Unreadable(
            f"No column is called “{ORIGINAL}”. The first row must name the columns, as in the "
            "file that you can download here."
        )
    rows = _read_rows(text, separator)
    columns, left_out = _find_columns(next(rows)[1])
    languages = [name for name in columns if name in NAMES]
    if not languages:
        raise Unreadable("No column is named after a language, such as “fr” or “French”.")
    lines = [
        Line(
            row=number,
            where=cells.get(WHERE, ""),
            original=cells[ORIGINAL],
            cells={code: cells[code] for code in languages if cells[code].strip()},
        )
        for number, row in rows
        if any(cell.strip() for cell in row)
        for cells in [_pick(row, columns)]
    ]
    return Table(lines=lines, languages=languages, left_out=left_out)


def _split(line: str, separator: str) -> list[str]:
    return next(csv.reader([line], delimiter=separator), [])


def _read_rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    number = 0
    try:
        for number, row in enumerate(reader, start=1):
            if number > MAX_ROWS:
                raise Unreadable(f"The file has more than {MAX_ROWS:,} rows. Delete empty ones.")
            yield number, row
    except csv.Error:
        raise Unreadable(
            f"Row {number + 1} cannot be read: it has one quotation mark too few or too many."
        ) from None


def _find_columns(header: Sequence[str]) -> tuple[dict[str, int], list[str]]:
    """Find the position of each known column, by its name or language, in any order."""
    names = {WHERE: WHERE, ORIGINAL: ORIGINAL}
    for code, own_name in NAMES.items():
        names |= dict.fromkeys((code, fold(own_name), fold(name_language(code))), code)
    columns: dict[str, int] = {}
    left_out = []
    for place, title in enumerate(header):
        name = names.get(fold(title).replace("_", "-"))
        if name is None:
            left_out += [title.strip()] if title.strip() else []
        elif name in columns:
            raise Unreadable(f"Two columns are called “{title.strip()}”. Delete one of them.")
        else:
            columns[name] = place
    return columns, left_out


def _pick(row: Sequence[str], columns: Mapping[str, int]) -> dict[str, str]:
    return {
        name: restore(row[place]) if place < len(row) else "" for name, place in columns.items()
    }
