"""Exports as CSV: what is sealed, and what was estimated from it.

RFC 4180: CRLF, UTF-8 without a byte order mark, one header row. Text cells and headers that
a spreadsheet would run as a formula get a leading apostrophe; numeric cells never do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from django.http import StreamingHttpResponse
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.packing import unpack_reports
from aggregator.models import Batch
from aggregator.results.results import Estimate, QuestionResult, Results
from aggregator.results.sentences import FAKE_SHARE
from surveys.manifest.manifest import NOT_DRAWN
from surveys.manifest.questions import Symbol
from surveys.models import Wave

CONTENT_TYPE = "text/csv; charset=utf-8"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\0")
_NEEDS_QUOTES = frozenset('",\r\n')
# Batches are read until this many reports are in hand: memory stays flat however many wait.
ROWS_AT_ONCE = 65_536
_ASCII_ZERO, _COMMA, _CR, _LF = b"0,\r\n"

DESIGN = "k-ary randomized response"
ESTIMATE_COLUMNS = (
    "survey",
    "title",
    "wave",
    "mode",
    "manifest_sha256",
    "state",
    "ending",
    "through_batch",
    "method_version",
    "day",
    "question",
    "question_type",
    "question_text",
    "estimand",
    "estimand_text",
    "kind",
    "of",
    "unit",
    "symbol",
    "design",
    "k",
    "threshold",
    "keep_probability",
    "other_probability",
    "slope",
    "epsilon",
    "question_epsilon",
    "statement_epsilon",
    "n",
    "count",
    "raw_share",
    "estimate",
    "joint_estimate",
    "standard_error",
    "interval_low",
    "interval_high",
    "interval_method",
    "interval_level",
    "inner_50_low",
    "inner_50_high",
    "inner_80_low",
    "inner_80_high",
    "simultaneous_low",
    "simultaneous_high",
    "simultaneous_method",
    "simultaneous_level",
    "fake_2_percent_low",
    "fake_2_percent_high",
    "effective_sample_size",
    "status",
)


@dataclass(frozen=True, kw_only=True)
class BatchKey:
    pk: int
    size: int


def name_file(*, results: Results, kind: str) -> str:
    """Say in the name what it is: of whom, which manifest, and that the rows are randomized."""
    return f"{name_wave(results.wave, slug=results.manifest.survey)}_RANDOMIZED_{kind}.csv"


def name_wave(wave: Wave, *, slug: str) -> str:
    """How names of files begin."""
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


def write_cell(value: str | float | None) -> str:
    """One cell: numbers in full precision and never prefixed, nothing for what is missing."""
    if value is None:
        return ""
    return write_text(value) if isinstance(value, str) else repr(value)


def write_row(cells: Iterable[str | float | None]) -> bytes:
    return (",".join(write_cell(cell) for cell in cells) + "\r\n").encode("utf-8")


# --- estimates.csv ------------------------------------------------------------------------------
def stream_estimates(results: Results) -> Iterator[bytes]:
    """One row for every estimate of every question that reaches the display minimum."""
    yield write_row(ESTIMATE_COLUMNS)
    symbols = {symbol.name: symbol for symbol in results.manifest.symbols}
    for question in results.questions:
        for found in question.estimates:
            symbol = symbols[found.estimand.symbol]
            yield write_row(_estimate_cells(results, question, found, symbol))


def _estimate_cells(
    results: Results, question: QuestionResult, found: Estimate, symbol: Symbol
) -> Iterator[str | float | None]:
    wave, snapshot, mechanism = results.wave, results.snapshot, symbol.mechanism
    estimand = found.estimand
    yield from (results.manifest.survey, results.manifest.title, wave.number, wave.mode)
    yield from (wave.manifest_hash_hex, wave.state, wave.ending)
    yield from (snapshot.through_batch, snapshot.method_version, snapshot.day.isoformat())
    yield from (question.question.name, question.question.type, question.question.text)
    yield from (estimand.name, estimand.text, estimand.kind.value, estimand.of.value)
    yield from (question.question.unit or None, estimand.symbol)
    yield from (DESIGN, mechanism.symbols, mechanism.threshold, mechanism.keep_probability)
    yield from (mechanism.other_probability, mechanism.slope, mechanism.epsilon)
    yield from (question.question.epsilon, results.manifest.statement_epsilon(question.question))
    yield from (question.total, found.count, found.raw_share, found.estimate, found.joint_estimate)
    yield from (found.standard_error, found.low, found.high, found.method, question.level)
    for inner in found.inner_intervals:
        yield from (inner.low, inner.high)
    yield from (found.simultaneous_low, found.simultaneous_high)
    yield from (found.simultaneous_method, question.simultaneous_level)
    band = question.band(found, fake_share=FAKE_SHARE)
    yield from (None, None) if band is None else (band.low, band.high)
    yield from (found.effective_sample_size, question.status_of(found).value)


# --- reports.csv --------------------------------------------------------------------------------
def stream_reports(results: Results) -> Iterator[bytes]:
    """One row for every sealed report that the snapshot counts, one column for each symbol.

    Empty where a question was not drawn for a person, and where a group that is sent as it is
    is too small to be shown. Batches come in the order of their content, rows in order within
    their batch, so the file tells nothing about who came when, and is the same whenever it is
    made.
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
    """By column of the file, the codes of small groups."""
    places = {symbol.name: place for place, symbol in enumerate(results.manifest.symbols)}
    return [
        (places[declared.question.name], sorted(declared.hidden))
        for declared in results.declared
        if declared.hidden
    ]


def sort_rows(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Put rows in order again: the old one would tell apart what was made equal."""
    order: NDArray[np.intp] = np.lexsort(codes.T[::-1])
    return codes[order]


def find_batches(results: Results) -> list[BatchKey]:
    """The batches behind a snapshot, without their content.

    Read at once and closed again: a cursor held open while somebody downloads slowly would
    keep SQLite from shortening its log.
    """
    rows = (
        Batch.objects.filter(wave=results.wave, number__lte=results.snapshot.through_batch)
        .order_by("content_hash", "number")
        .values_list("pk", "size")
    )
    return [BatchKey(pk=pk, size=size) for pk, size in rows]


def group_batches(keys: Sequence[BatchKey], *, limit: int) -> Iterator[list[BatchKey]]:
    """Cut into runs of at most `limit` reports; one larger batch makes a run of its own."""
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
