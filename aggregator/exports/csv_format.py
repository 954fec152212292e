"""Write CSV files whose text is harmless in spreadsheets, and build their file names.

The files follow RFC 4180, with CRLF, UTF-8 without a byte order mark, and one header row. Text
cells and headers that a spreadsheet would run as a formula get an apostrophe; numeric cells never
do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import TypeVar

from django.http import StreamingHttpResponse

from aggregator.results.display import Results
from surveys.downloads import FORMULA, attach
from surveys.models import Wave

Cell = str | float | None
Row = TypeVar("Row")

CONTENT_TYPE = "text/csv; charset=utf-8"
PARTS_AT_FIRST = 2  # the header, and the first part of the content
_NEEDS_QUOTES = frozenset('",\r\n')

DESIGN = "k-ary randomized response"

# The wave's cells in files, by column name.
_WAVE_COLUMNS: Mapping[str, Callable[[Wave], Cell]] = {
    "survey": lambda wave: wave.survey.slug,
    "title": lambda wave: wave.description.title,
    "data": lambda wave: wave.survey.origin.value,
    "wave": lambda wave: wave.number,
    "mode": lambda wave: wave.mode,
    "manifest_sha256": lambda wave: wave.manifest_hash_hex,
}
WAVE_IN_FULL = tuple(_WAVE_COLUMNS)
WAVE = ("survey", "data", "wave", "manifest_sha256")


def list_wave_columns(
    find: Callable[[Row], Wave], names: Iterable[str] = WAVE
) -> dict[str, Callable[[Row], Cell]]:
    """Return the named columns; `find` finds the wave that a row is about."""

    def read(name: str) -> Callable[[Row], Cell]:
        return lambda row: _WAVE_COLUMNS[name](find(row))

    return {name: read(name) for name in names}


def list_wave_cells(wave: Wave) -> dict[str, Cell]:
    """Return the cells that are the same in every row of a wave's file."""
    return {name: _WAVE_COLUMNS[name](wave) for name in WAVE}


def name_file(*, results: Results, kind: str) -> str:
    """Name a file by its survey, manifest and content, and say that its rows are randomized."""
    return f"{name_wave(results.wave, slug=results.manifest.survey)}_RANDOMIZED_{kind}.csv"


def name_wave(wave: Wave, *, slug: str) -> str:
    """Return the beginning of the names of a wave's files."""
    of_coins = "_coins" if wave.mode == Wave.Mode.MANUAL else ""
    of_rehearsal = "_rehearsal" if wave.survey.rehearsal else ""
    return f"{slug}_w{wave.number}{of_coins}{of_rehearsal}_{wave.manifest_hash_hex[:8]}"


def respond_with_csv(
    *, results: Results, kind: str, rows: Iterator[bytes]
) -> StreamingHttpResponse:
    # Read the first parts before the response begins, so that the response is 404 if the survey was
    # just deleted.
    first = list(islice(rows, PARTS_AT_FIRST))
    response = StreamingHttpResponse(chain(first, rows), content_type=CONTENT_TYPE)
    return attach(response, name_file(results=results, kind=kind))


def write_text(text: str) -> str:
    """Write a cell of text or a header, safe in a spreadsheet and quoted where necessary."""
    text = FORMULA.sub("'", text).replace("\0", "")
    if _NEEDS_QUOTES.intersection(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def write_cell(value: Cell) -> str:
    """Write a cell: numbers in full precision and never prefixed, missing values as empty text."""
    if value is None:
        return ""
    return write_text(value) if isinstance(value, str) else repr(value)


def write_row(cells: Iterable[Cell]) -> bytes:
    return (",".join(write_cell(cell) for cell in cells) + "\r\n").encode("utf-8")
