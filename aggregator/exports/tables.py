"""Exports as CSV: what is sealed, and what was estimated from it.

RFC 4180: CRLF, UTF-8 without a byte order mark, one header row. Text cells and headers that
a spreadsheet would run as a formula get a leading apostrophe; numeric cells never do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.http import StreamingHttpResponse
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.packing import unpack_reports
from aggregator.models import Batch
from aggregator.results.estimate import Estimate, Interval, QuestionResult
from aggregator.results.results import Results
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.manifest import NOT_DRAWN
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Wave

Cell = str | float | None

CONTENT_TYPE = "text/csv; charset=utf-8"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\0")
_NEEDS_QUOTES = frozenset('",\r\n')
# Batches are read until this many reports are in hand: memory stays flat however many wait.
ROWS_AT_ONCE = 65_536
_ASCII_ZERO, _COMMA, _CR, _LF = b"0,\r\n"

DESIGN = "k-ary randomized response"


@dataclass(frozen=True, kw_only=True)
class BatchKey:
    pk: int
    size: int


def name_file(*, results: Results, kind: str) -> str:
    """Name the survey, the manifest, the content, and that the rows are randomized."""
    return f"{name_wave(results.wave, slug=results.manifest.survey)}_RANDOMIZED_{kind}.csv"


def name_wave(wave: Wave, *, slug: str) -> str:
    """Return how names of files begin."""
    of_coins = "_coins" if wave.mode == Wave.Mode.MANUAL else ""
    return f"{slug}_w{wave.number}{of_coins}_{wave.manifest_hash_hex[:8]}"


def respond_with_csv(
    *, results: Results, kind: str, stream: Callable[[Results], Iterator[bytes]]
) -> StreamingHttpResponse:
    response = StreamingHttpResponse(stream(results), content_type=CONTENT_TYPE)
    name = name_file(results=results, kind=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def write_text(text: str) -> str:
    """One text cell or header, harmless in a spreadsheet and quoted where it must be."""
    if text.startswith(_FORMULA_STARTS):
        text = f"'{text}"
    text = text.replace("\0", "")
    if _NEEDS_QUOTES.intersection(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def write_cell(value: Cell) -> str:
    """One cell: numbers in full precision and never prefixed, nothing for what is missing."""
    if value is None:
        return ""
    return write_text(value) if isinstance(value, str) else repr(value)


def write_row(cells: Iterable[Cell]) -> bytes:
    return (",".join(write_cell(cell) for cell in cells) + "\r\n").encode("utf-8")


# --- estimates.csv ------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class EstimateRow:
    """What one row of estimates.csv is read from."""

    results: Results
    result: QuestionResult
    estimate: Estimate
    mechanism: RandomizedResponse  # of the estimand's symbol

    @property
    def question(self) -> ManifestQuestion:
        return self.result.question

    def inner(self, level: float) -> Interval:
        (interval,) = (one for one in self.estimate.intervals.inner if one.level == level)
        return interval


# Each column's name with the way to its value.
ESTIMATE_COLUMNS: Mapping[str, Callable[[EstimateRow], Cell]] = {
    "survey": lambda row: row.results.manifest.survey,
    "title": lambda row: row.results.manifest.title,
    "wave": lambda row: row.results.wave.number,
    "mode": lambda row: row.results.wave.mode,
    "manifest_sha256": lambda row: row.results.wave.manifest_hash_hex,
    "state": lambda row: row.results.wave.state,
    "ending": lambda row: row.results.wave.ending,
    "through_batch": lambda row: row.results.snapshot.through_batch,
    "method_version": lambda row: row.results.snapshot.method_version,
    "day": lambda row: row.results.snapshot.day.isoformat(),
    "question": lambda row: row.question.name,
    "question_type": lambda row: row.question.type,
    "question_text": lambda row: row.question.text,
    "estimand": lambda row: row.estimate.estimand.name,
    "estimand_text": lambda row: row.estimate.estimand.text,
    "kind": lambda row: row.estimate.estimand.kind.value,
    "of": lambda row: row.estimate.estimand.of.value,
    "unit": lambda row: row.question.unit or None,
    "symbol": lambda row: row.estimate.estimand.symbol,
    "design": lambda _: DESIGN,
    "k": lambda row: row.mechanism.symbols,
    "threshold": lambda row: row.mechanism.threshold,
    "keep_probability": lambda row: row.mechanism.keep_probability,
    "other_probability": lambda row: row.mechanism.other_probability,
    "slope": lambda row: row.mechanism.slope,
    "epsilon": lambda row: row.mechanism.epsilon,
    "question_epsilon": lambda row: row.question.epsilon,
    "statement_epsilon": lambda row: row.results.manifest.statement_epsilon(row.question),
    "n": lambda row: row.estimate.total,
    "count": lambda row: row.estimate.count,
    "raw_share": lambda row: row.estimate.raw_share,
    "estimate": lambda row: row.estimate.value,
    "joint_estimate": lambda row: row.estimate.joint_value,
    "standard_error": lambda row: row.estimate.standard_error,
    "interval_low": lambda row: row.estimate.low,
    "interval_high": lambda row: row.estimate.high,
    "interval_method": lambda row: row.estimate.method,
    "interval_level": lambda row: row.estimate.intervals.main.level,
    "inner_50_low": lambda row: row.inner(0.5).low,
    "inner_50_high": lambda row: row.inner(0.5).high,
    "inner_80_low": lambda row: row.inner(0.8).low,
    "inner_80_high": lambda row: row.inner(0.8).high,
    "simultaneous_low": lambda row: row.estimate.intervals.simultaneous.low,
    "simultaneous_high": lambda row: row.estimate.intervals.simultaneous.high,
    "simultaneous_method": lambda row: row.estimate.intervals.simultaneous.method,
    "simultaneous_level": lambda row: row.estimate.intervals.simultaneous.level,
    "fake_2_percent_low": lambda row: band.low if (band := row.estimate.fake_band) else None,
    "fake_2_percent_high": lambda row: band.high if (band := row.estimate.fake_band) else None,
    "effective_sample_size": lambda row: row.estimate.effective_sample_size,
    "status": lambda row: row.estimate.status.value,
}


def stream_estimates(results: Results) -> Iterator[bytes]:
    """Write one row for every estimate of every question that reaches the display minimum."""
    yield write_row(ESTIMATE_COLUMNS)
    mechanisms = {
        symbol.name: symbol.mechanism
        for symbol in results.manifest.symbols
        if symbol.threshold is not None
    }
    for result in results.questions:
        for estimate in result.estimates:
            mechanism = mechanisms[estimate.estimand.symbol]
            row = EstimateRow(
                results=results, result=result, estimate=estimate, mechanism=mechanism
            )
            yield write_row(read(row) for read in ESTIMATE_COLUMNS.values())


# --- reports.csv --------------------------------------------------------------------------------
def stream_reports(results: Results) -> Iterator[bytes]:
    """One row for every sealed report that the snapshot counts, one column for each symbol.

    A cell is empty where a question was not drawn for a person, and where a declared group is
    too small to be shown. Batches are in the order of their content and rows are in order within
    their batch. So the file shows nothing about who answered when, and is always the same.
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
    """The batches behind a snapshot, without their content.

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
    """Cut into runs of at most `limit` reports; a larger batch makes a run alone."""
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
    kept: NDArray[np.uint8] = lines[lines != 0]  # what is shorter leaves holes
    return kept.tobytes()


def _end_rows(lines: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Replace each row's last comma by CRLF."""
    ended = np.empty((lines.shape[0], lines.shape[1] + 1), dtype=np.uint8)
    ended[:, :-2] = lines[:, :-1]
    ended[:, -2] = _CR
    ended[:, -1] = _LF
    return ended
