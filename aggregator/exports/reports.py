"""reports.csv: one row for every sealed report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.packing import unpack_reports
from aggregator.exports.csv_format import write_row
from aggregator.models import Batch
from aggregator.results.display import Results
from surveys.manifest.manifest import NOT_DRAWN

# Batches are read until they hold this many reports, so memory use does not grow with the file.
ROWS_AT_ONCE = 65_536
_ASCII_ZERO, _COMMA, _CR, _LF = b"0,\r\n"


@dataclass(frozen=True, kw_only=True)
class BatchKey:
    pk: int
    size: int


def stream_reports(results: Results) -> Iterator[bytes]:
    """Write one row for every sealed report that the snapshot counts, one column per symbol.

    A cell is empty where a question was not drawn for a person, and where a declared group is
    too small to be shown. Batches are in the order of their content, and rows are sorted within
    their batch. So the file shows nothing about who answered when, and it is always the same.
    """
    columns = Columns.of(results.manifest)
    hidden = _find_hidden(results)
    yield write_row(symbol.name for symbol in results.manifest.symbols)
    for keys in group_batches(find_batches(results), limit=ROWS_AT_ONCE):
        batches = Batch.objects.in_bulk([key.pk for key in keys])
        for key in keys:
            batch = batches.pop(key.pk)
            matrix = unpack_reports(bytes(batch.packed), size=batch.size, ks=columns.ks)
            codes = columns.read_symbols(matrix)
            for place, small in hidden:
                codes[np.isin(codes[:, place], small), place] = NOT_DRAWN
            yield write_codes(sort_rows(codes) if hidden else codes)


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


def write_codes(codes: NDArray[np.uint8]) -> bytes:
    """Write a (rows, symbols) matrix as CSV rows, without a loop over rows.

    Codes are below 64; NOT_DRAWN becomes an empty cell.
    """
    if codes.size == 0:
        return b""
    rows, columns = codes.shape
    there = codes != NOT_DRAWN
    if there.all() and int(codes.max()) < 10:
        cells = np.empty((rows, columns, 2), dtype=np.uint8)
        cells[:, :, 0] = codes + _ASCII_ZERO
        cells[:, :, 1] = _COMMA
        return _end_rows(cells.reshape(rows, 2 * columns)).tobytes()
    cells = np.empty((rows, columns, 3), dtype=np.uint8)
    tens = codes // 10
    cells[:, :, 0] = np.where(there & (tens > 0), tens + _ASCII_ZERO, 0)
    cells[:, :, 1] = np.where(there, codes % 10 + _ASCII_ZERO, 0)
    cells[:, :, 2] = _COMMA
    lines = _end_rows(cells.reshape(rows, 3 * columns)).ravel()
    kept: NDArray[np.uint8] = lines[lines != 0]  # shorter codes leave gaps
    return kept.tobytes()


def _end_rows(lines: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Replace each row's last comma with CRLF."""
    ended = np.empty((lines.shape[0], lines.shape[1] + 1), dtype=np.uint8)
    ended[:, :-2] = lines[:, :-1]
    ended[:, -2] = _CR
    ended[:, -1] = _LF
    return ended
