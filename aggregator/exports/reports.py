"""reports.csv: the sealed reports of a closed wave. report_codes.py says what its cells contain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.packing import unpack_reports
from aggregator.exports.combinations import Combinations, combined_columns, find_combinations
from aggregator.exports.csv_format import write_row
from aggregator.exports.packed_rows import LineColumn, Lines
from aggregator.exports.report_codes import (
    NOT_SHOWN,
    ORIGIN_COLUMN,
    ROW_COLUMN,
    CodeKind,
    ReportColumn,
    RowKind,
    list_columns,
)
from aggregator.models import Batch
from aggregator.results.display import Results
from surveys.manifest.manifest import NOT_DRAWN

# Batches are read until they hold this many reports; only packed rows are kept of all of them.
ROWS_AT_ONCE = 65_536


class ReportsDeleted(Exception):
    """The survey was deleted while its file was made."""


@dataclass(frozen=True, kw_only=True)
class BatchKey:
    pk: int
    size: int


@dataclass(frozen=True, kw_only=True, eq=False)
class _Part:
    """The rows of one block: the codes of all its questions."""

    places: list[int]  # of its symbols in a report
    lines: Lines


def stream_reports(results: Results) -> Iterator[bytes]:
    """Write whole rows, and for each report of a rare combination one row for each of its blocks.

    All lines of the file are sorted as text. So it shows neither batches, nor who answered when,
    nor which part rows belong to one person; and it is always the same.
    """
    if not results.has_rows:
        raise ValueError("only a wave that is closed, counted and large enough has rows")
    columns = list_columns(results.manifest)
    yield write_row([ORIGIN_COLUMN, ROW_COLUMN, *(column.name for column in columns)])
    for lines in _gather(results, columns):
        yield from lines.write(at_once=ROWS_AT_ONCE)


def _gather(results: Results, columns: Sequence[ReportColumn]) -> list[Lines]:
    """Read every report into its lines, in the order of the file."""
    manifest, layout = results.manifest, Columns.of(results.manifest)
    combined = combined_columns(manifest)
    found = find_batches(results)
    if not found:
        raise ReportsDeleted  # a snapshot counts at least one batch
    combinations = find_combinations(
        manifest,
        (matrix[:, combined] for matrix in _read_batches(found, layout)),
        hidden_codes={one.question.name: one.hidden for one in results.declared},
        minimum=results.wave.crowd,
    )
    origin = results.wave.survey.origin.value
    unused = {CodeKind.NOT_SHOWN, *([] if layout.mask_count else [CodeKind.NOT_IN_ROW])}
    whole = Lines(
        _whole_columns(columns, unused=unused, origin=origin), size=combinations.whole_rows
    )
    parts = _list_parts(columns, combinations, origin=origin)
    for matrix in _read_batches(found, layout):
        symbols = layout.read_symbols(matrix)
        is_whole = combinations.find_whole(matrix[:, combined])
        whole.add(symbols[is_whole])
        rest = symbols[~is_whole]
        for part in parts:
            codes = rest[:, part.places]
            part.lines.add(codes[codes[:, 0] != NOT_DRAWN])
    return [*(part.lines for part in parts), whole]


def _whole_columns(
    columns: Sequence[ReportColumn], *, unused: Set[CodeKind], origin: str
) -> list[LineColumn]:
    head = [LineColumn.always(origin), LineColumn.always(RowKind.WHOLE)]
    return head + [
        LineColumn.of(_cells(column, without=unused), place=place)
        for place, column in enumerate(columns)
    ]


def _list_parts(
    columns: Sequence[ReportColumn], combinations: Combinations, *, origin: str
) -> list[_Part]:
    """List the blocks that leave rows; the last block first, as their lines are sorted."""
    parts = []
    for block, size in enumerate(combinations.part_rows):
        if size:
            places = [place for place, column in enumerate(columns) if column.symbol.block == block]
            cells = list(_part_columns(columns, places=places, origin=origin))
            parts.append(_Part(places=places, lines=Lines(cells, size=size)))
    return sorted(parts, key=lambda part: -part.places[0])


def _part_columns(
    columns: Sequence[ReportColumn], *, places: list[int], origin: str
) -> Iterator[LineColumn]:
    yield LineColumn.always(origin)
    yield LineColumn.always(RowKind.PART)
    for place, column in enumerate(columns):
        if column.question.is_declared:
            yield LineColumn.always(str(NOT_SHOWN))
        elif place in places:
            cells = _cells(column, without={CodeKind.NOT_IN_ROW})
            yield LineColumn.of(cells, place=places.index(place))
        else:
            yield LineColumn.always("")


def _cells(column: ReportColumn, *, without: Set[CodeKind]) -> dict[int, str]:
    return {
        code.sent: "" if code.written is None else str(code.written)
        for code in column.codes
        if code.kind not in without
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
