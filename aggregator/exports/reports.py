"""reports.csv: the sealed reports of a closed wave. report_codes.py explains the cells."""

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
from surveys.formatting import join_list

# Batches are read together up to this many reports; between reads, only packed rows are kept.
ROWS_AT_ONCE = 65_536
MOST_NAMED = 6


class ReportsDeleted(Exception):
    """The survey was deleted while its file was being made."""


@dataclass(frozen=True, kw_only=True)
class BatchKey:
    pk: int
    size: int


class NotChosenError(Exception):
    """The owner has not chosen the background of the rows yet."""


class NoSuchRowsError(Exception):
    """The wave has no file of rows with this number, or none without a number."""


@dataclass(frozen=True, kw_only=True)
class RowsOfWave:
    """The content of the file of rows, or of a block's own file."""

    results: Results
    columns: list[ReportColumn]
    block: int | None = None

    @property
    def kind(self) -> str:
        """The kind of file, as in its name."""
        return "reports" if self.block is None else f"reports_block_{self.block + 1}"

    @property
    def people(self) -> int:
        return count_rows(self.results, block=self.block)

    def stream(self) -> Iterator[bytes]:
        """Write one row for each person, with all codes and the chosen background questions.

        A block's file contains the codes of one block, with a row for each person who was asked it.
        All lines are sorted as text, so each file is always the same. A file shows neither batches
        nor who answered when, and its rows cannot be joined to the rows of another file.
        """
        yield write_row([ORIGIN_COLUMN, *(column.name for column in self.columns)])
        lines = _gather(self.results, self.columns, block=self.block)
        yield from lines.write(at_once=ROWS_AT_ONCE)


def find_rows(results: Results, *, number: str = "") -> RowsOfWave:
    """Find the file of rows, or a block's file by its number; the wave must have rows."""
    if not results.has_rows:
        raise ValueError("only a wave that is closed, counted and large enough has rows")
    rows_file = find_rows_file(results.wave)
    if rows_file is None or rows_file.chosen is None:
        raise NotChosenError
    listed: dict[str, int | None] = {"": None}
    if rows_file.has_files_of_blocks:
        listed = {str(block + 1): block for block in list_blocks_with_rows(results)}
    if number not in listed:
        raise NoSuchRowsError
    background = read_background(rows_file.chosen)
    columns = list_columns(results.manifest, background, block=listed[number])
    return RowsOfWave(results=results, columns=columns, block=listed[number])


@dataclass(frozen=True, kw_only=True)
class LinkToRows:
    """One file of rows as the Data page offers it."""

    query: str
    label: str
    people: int
    contents: str  # "Q2 and Q3 scrambled, with Q1 as background"


def list_links_to_rows(results: Results) -> list[LinkToRows]:
    """List the files of rows with their contents, or none until the background is chosen."""
    rows_file = find_rows_file(results.wave) if results.has_rows else None
    if rows_file is None or rows_file.chosen is None:
        return []
    numbers = [""]
    if rows_file.has_files_of_blocks:
        numbers = [str(block + 1) for block in list_blocks_with_rows(results)]
    found = [(number, find_rows(results, number=number)) for number in numbers]
    return [
        LinkToRows(
            query=f"?block={number}" if number else "",
            label=f"{rows.kind}.csv",
            people=rows.people,
            contents=_describe_columns(rows.columns),
        )
        for number, rows in found
    ]


def _describe_columns(columns: Sequence[ReportColumn]) -> str:
    questions = {column.question.name: column.question for column in columns}.values()
    background = [f"Q{one.number}" for one in questions if one.is_declared]
    scrambled = [f"Q{one.number}" for one in questions if not one.is_declared]
    if len(scrambled) > MOST_NAMED:
        scrambled = [f"{len(scrambled)} questions"]
    ending = f", with {join_list(background)} as background" if background else ""
    return f"{join_list(scrambled)} scrambled{ending}"


def count_rows(results: Results, *, block: int | None = None) -> int:
    """Count the people who have a row: everyone, or those who were asked a block."""
    if block is None:
        return results.snapshot.total
    _, asked = results.snapshot.counts[block]  # the counts of the block's mask
    return int(asked)


def list_blocks_with_rows(results: Results) -> list[int]:
    """List the blocks that have a separate file because enough people were asked them."""
    return [
        block
        for block in range(results.manifest.block_count)
        if count_rows(results, block=block) >= results.wave.crowd
    ]


def _gather(results: Results, columns: Sequence[ReportColumn], *, block: int | None) -> Lines:
    """Read every report into a line; the lines are sorted when they are written."""
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
    """Find the batches that a snapshot counts, without their content.

    All keys are read at once, because a cursor that stays open during a slow download would keep
    SQLite from shortening its log.
    """
    rows = (
        Batch.objects.filter(wave=results.wave, number__lte=results.snapshot.through_batch)
        .order_by("number")
        .values_list("pk", "size")
    )
    return [BatchKey(pk=pk, size=size) for pk, size in rows]


def _read_batches(found: Sequence[BatchKey], layout: Columns) -> Iterator[NDArray[np.uint8]]:
    """Yield the reports of several batches at once, with the columns of a batch."""
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
