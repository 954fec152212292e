"""reports.csv: one row for every sealed report. report_codes.py says what its cells contain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.packing import unpack_reports
from aggregator.exports.csv_format import write_row
from aggregator.exports.report_codes import (
    ORIGIN_COLUMN,
    SMALL_GROUP,
    ReportColumn,
    list_columns,
)
from aggregator.models import Batch
from aggregator.results.display import Results

# Batches are read until they hold this many reports, so memory use does not grow with the file.
ROWS_AT_ONCE = 65_536
_COMMA, _CR, _LF = b",\r\n"
# A code that no column knows. An empty cell would say that the question was not drawn.
_UNKNOWN = ord("?")


class ReportsDeleted(Exception):
    """The survey was deleted while its file was written: the download breaks off, visibly."""


@dataclass(frozen=True, kw_only=True)
class BatchKey:
    pk: int
    size: int


def stream_reports(results: Results) -> Iterator[bytes]:
    """Write one row for every sealed report that the snapshot counts, one column per symbol.

    The first column is the same in every row: whether people answered, or answers were invented.
    Batches are in the order of their content, and rows are sorted within their batch. So the file
    shows nothing about who answered when, and it is always the same.
    """
    columns, layout = list_columns(results.manifest), Columns.of(results.manifest)
    hidden = _find_hidden(results)
    tables = [write_table(column) for column in columns]
    origin = results.wave.survey.origin.value
    yield write_row([ORIGIN_COLUMN, *(column.name for column in columns)])
    found = find_batches(results)
    if not found:
        raise ReportsDeleted  # a snapshot counts at least one batch
    for keys in group_batches(found, limit=ROWS_AT_ONCE):
        batches = Batch.objects.in_bulk([key.pk for key in keys])
        if len(batches) < len(keys):
            raise ReportsDeleted
        for key in keys:
            batch = batches.pop(key.pk)
            matrix = unpack_reports(bytes(batch.packed), size=batch.size, ks=layout.ks)
            codes = layout.read_symbols(matrix)
            for place, small in hidden:
                codes[np.isin(codes[:, place], small), place] = SMALL_GROUP
            rows = sort_rows(codes) if hidden else codes
            yield write_codes(rows, tables, origin=origin)


def _find_hidden(results: Results) -> list[tuple[int, list[int]]]:
    """List the columns of the file with small groups, each with the codes of these groups."""
    places = {symbol.name: place for place, symbol in enumerate(results.manifest.symbols)}
    return [
        (places[declared.question.name], sorted(declared.hidden))
        for declared in results.declared
        if declared.hidden
    ]


def sort_rows(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Sort rows again: their old order would distinguish codes that are hidden now."""
    order: NDArray[np.intp] = np.lexsort(codes.T[::-1])
    return codes[order]


def find_batches(results: Results) -> list[BatchKey]:
    """Find the batches behind a snapshot, without their content.

    All rows are read at once: a cursor that stays open during a slow download would keep SQLite
    from shortening its log.
    """
    rows = (
        Batch.objects.filter(wave=results.wave, number__lte=results.snapshot.through_batch)
        .order_by("content_hash", "number")
        .values_list("pk", "size")
    )
    return [BatchKey(pk=pk, size=size) for pk, size in rows]


def group_batches(keys: Sequence[BatchKey], *, limit: int) -> Iterator[list[BatchKey]]:
    """Group batches into runs of at most `limit` reports; a larger batch forms its own run."""
    group: list[BatchKey] = []
    held = 0
    for key in keys:
        if group and held + key.size > limit:
            yield group
            group, held = [], 0
        group.append(key)
        held += key.size
    if group:
        yield group


def write_table(column: ReportColumn) -> NDArray[np.uint8]:
    """Return the cell of every code as sent, one row for each, filled up with zero bytes."""
    cells = {
        code.sent: b"" if code.written is None else str(code.written).encode()
        for code in column.codes
    }
    table = np.zeros((256, max(map(len, cells.values()))), dtype=np.uint8)
    table[:, 0] = _UNKNOWN
    for sent, cell in cells.items():
        table[sent] = np.frombuffer(cell.ljust(table.shape[1], b"\0"), dtype=np.uint8)
    return table


def write_codes(
    codes: NDArray[np.uint8], tables: Sequence[NDArray[np.uint8]], *, origin: str
) -> bytes:
    """Write a (rows, symbols) matrix as CSV rows, without a loop over rows."""
    start = len(origin) + 1
    width = start + sum(table.shape[1] + 1 for table in tables) + 1
    lines = np.empty((len(codes), width), dtype=np.uint8)
    lines[:, :start] = np.frombuffer(f"{origin},".encode(), dtype=np.uint8)
    for column, table in zip(codes.T, tables, strict=True):
        for character in table.T:
            lines[:, start] = character[column]
            start += 1
        lines[:, start] = _COMMA
        start += 1
    lines[:, -2:] = _CR, _LF  # in place of the last comma
    if not lines.all():
        lines = lines[lines != 0]  # shorter cells leave gaps
    return lines.tobytes()
