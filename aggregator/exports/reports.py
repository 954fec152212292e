"""reports.csv: the sealed reports of a closed wave. report_codes.py says what its cells contain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregator.background.levels import read_background
from aggregator.background.rows_files import find_rows_file
from aggregator.batches.columns import Columns
from aggregator.batches.packing import unpack_reports
from aggregator.exports.csv_format import write_row
from aggregator.exports.packed_rows import LineColumn, Lines
from aggregator.exports.report_codes import ORIGIN_COLUMN, ReportColumn, list_columns
from aggregator.models import Batch
from aggregator.results.display import Results

# Batches are read until they hold this many reports; only packed rows are kept of all of them.
ROWS_AT_ONCE = 65_536


class ReportsDeleted(Exception):
    """The survey was deleted while its file was made."""


@dataclass(frozen=True, kw_only=True)
class BatchKey:
    pk: int
    size: int


def stream_reports(results: Results, *, block: int | None = None) -> Iterator[bytes]:
    """Write one row for each person: all codes, and the chosen background questions.

    Where blocks have files of their own, one block's file has its codes and a row for each person
    who was asked it. All lines are sorted as text, so the file shows neither batches nor who
    answered when, and rows of two files cannot be joined; and it is always the same.
    """
    rows_file = find_rows_file(results.wave)
    if not results.has_rows or rows_file is None or rows_file.chosen is None:
        raise ValueError("rows need a wave that is closed, counted and large, and a background")
    if rows_file.has_files_of_blocks != (block is not None):
        raise ValueError("a wave has either one file of rows or one for each block")
    columns = list_columns(results.manifest, read_background(rows_file.chosen), block=block)
    yield write_row([ORIGIN_COLUMN, *(column.name for column in columns)])
    yield from _gather(results, columns, block=block).write(at_once=ROWS_AT_ONCE)


def count_rows(results: Results, *, block: int | None = None) -> int:
    """Count the people who have a row: everybody, or those who were asked a block."""
    if block is None:
        return results.snapshot.total
    _, asked = results.snapshot.counts[block]  # of its mask
    return int(asked)


def list_blocks_with_rows(results: Results) -> list[int]:
    """List the blocks that enough people were asked for a file of their own."""
    return [
        block
        for block in range(results.manifest.block_count)
        if count_rows(results, block=block) >= results.wave.crowd
    ]


def _gather(results: Results, columns: Sequence[ReportColumn], *, block: int | None) -> Lines:
    """Read every report into its line, in the order of the file."""
    layout = Columns.of(results.manifest)
    found = find_batches(results)
    if not found:
        raise ReportsDeleted  # a snapshot counts at least one batch
    places = {symbol.name: place for place, symbol in enumerate(results.manifest.symbols)}
    lines = Lines(
        [
            LineColumn.always(results.wave.survey.origin.value),
            *(
                LineColumn.of(_cells(column), place=places[column.symbol.name])
                for column in columns
            ),
        ],
        size=count_rows(results, block=block),
    )
    for matrix in _read_batches(found, layout):
        asked = matrix if block is None else matrix[matrix[:, block] == 1]
        lines.add(layout.read_symbols(asked))
    return lines


def _cells(column: ReportColumn) -> dict[int, str]:
    return {
        sent: "" if code.written is None else str(code.written)
        for code in column.codes
        for sent in code.sent
    }


def find_batches(results: Results) -> list[BatchKey]:
    """Find the batches behind a snapshot, without their content.

    All rows are read at once: a cursor that stays open during a slow download would keep SQLite
    from shortening its log.
    """
    rows = (
        Batch.objects.filter(wave=results.wave, number__lte=results.snapshot.through_batch)
        .order_by("number")
        .values_list("pk", "size")
    )
    return [BatchKey(pk=pk, size=size) for pk, size in rows]


def _read_batches(found: Sequence[BatchKey], layout: Columns) -> Iterator[NDArray[np.uint8]]:
    """Yield the reports of several batches at once, one column for each of a batch."""
    for keys in group_batches(found, limit=ROWS_AT_ONCE):
        batches = list(Batch.objects.filter(pk__in=[key.pk for key in keys]))
        if len(batches) < len(keys):
            raise ReportsDeleted
        yield np.concatenate(
            [unpack_reports(bytes(one.packed), size=one.size, ks=layout.ks) for one in batches]
        )


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
