"""The columns of reports.csv and the codes in its cells, assigned only here.

Batches hold codes as sent, which count from 0; the codes of "prefer not to say" and "not asked"
come after the last answer's code. The file has codes for readers: scale points as people saw them,
options numbered from 1 as in rules, and negative codes, which no answer uses, for missing answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from aggregator.background.levels import Background, Levels, find_levels
from surveys.manifest.manifest import NOT_DRAWN, Manifest
from surveys.manifest.questions import FIRST_RESERVED, REFUSED_TEXT, ManifestQuestion, Symbol

# The first column states the origin of the survey; `list_columns` lists the other columns.
ORIGIN_COLUMN = "data"
DECLINED, NOT_ASKED, NOT_SHOWN = -97, -98, -99
RANDOMIZED, ROUNDED_UP = "_randomized", "_rounded_up"
# The suffixes after a variable, short enough for names of at most 32 characters.
SHORT_RANDOMIZED, SHORT_ROUNDED = "_rnd", "_rounded"


class CodeKind(StrEnum):
    ANSWER = "answer"
    DECLINED = "declined"
    NOT_ASKED = "not_asked"
    NOT_DRAWN = "not_drawn"
    NOT_SHOWN = "not_shown"


@dataclass(frozen=True, kw_only=True)
class ReportCode:
    """One code of a column, which stands for the codes `sent` in a batch."""

    sent: tuple[int, ...]
    written: int | None  # None for an empty cell
    kind: CodeKind
    label: str  # the text of the answer, or "" if there is no answer


@dataclass(frozen=True, kw_only=True)
class ReportColumn:
    name: str
    symbol: Symbol
    question: ManifestQuestion
    codes: tuple[ReportCode, ...]  # in the order in which people see the answers


def list_columns(
    manifest: Manifest, background: Background | None = None, *, block: int | None = None
) -> list[ReportColumn]:
    """List the columns; each has one symbol of a report.

    With a background, these are the columns of the file of rows, which has the background's levels
    and no other declared question. With a block, these are the columns of that block's own file.
    """
    questions = {question.name: question for question in manifest.questions}
    return [
        ReportColumn(
            name=name_column(symbol, questions[symbol.question]),
            symbol=symbol,
            question=questions[symbol.question],
            codes=tuple(_list_codes(symbol, questions[symbol.question], manifest, levels, block)),
        )
        for symbol in manifest.symbols
        if block is None or symbol.block == block
        for levels in [find_levels(background, symbol.question)]
        if symbol.threshold is not None or background is None or levels is not None
    ]


def name_column(symbol: Symbol, question: ManifestQuestion) -> str:
    """Say in the name that the codes are not answers, unless answers are sent as they are."""
    name = question.name_in_files(symbol.name)
    if symbol.threshold is None:
        return name
    randomized, rounded = (
        (SHORT_RANDOMIZED, SHORT_ROUNDED) if question.var else (RANDOMIZED, ROUNDED_UP)
    )
    return f"{name}{rounded if question.is_rounded else ''}{randomized}"


def _list_codes(
    symbol: Symbol,
    question: ManifestQuestion,
    manifest: Manifest,
    levels: Levels | None,
    block: int | None,
) -> Iterator[ReportCode]:
    codes = list(_list_answers(symbol, question))
    if symbol.is_gate or not question.has_items:
        codes += _list_missing(question, least=min(code.written or 0 for code in codes))
    yield from codes if levels is None else _merge(codes, levels, question)
    if manifest.drawn is not None and symbol.block is not None and block is None:
        yield ReportCode(sent=(NOT_DRAWN,), written=None, kind=CodeKind.NOT_DRAWN, label="")


def _merge(
    codes: Sequence[ReportCode], levels: Levels, question: ManifestQuestion
) -> Iterator[ReportCode]:
    """Yield the shown levels, each with the smallest code of an answer, then the hidden level."""
    for level in levels.shown:
        own = [code for code in codes if set(code.sent) <= set(level)]
        # Answers come first.
        yield replace(own[0], sent=level, label=question.name_codes(level))
    for level in levels.levels:
        if levels.is_hidden(level):
            yield ReportCode(sent=level, written=NOT_SHOWN, kind=CodeKind.NOT_SHOWN, label="")


def _list_answers(symbol: Symbol, question: ManifestQuestion) -> Iterator[ReportCode]:
    for sent, written, label in _pair_answers(symbol, question):
        yield ReportCode(sent=(sent,), written=written, kind=CodeKind.ANSWER, label=label)


def _pair_answers(symbol: Symbol, question: ManifestQuestion) -> Iterator[tuple[int, int, str]]:
    """Yield each answer's code as sent, its code in the file, and its text."""
    described, options = question.described, question.options
    if symbol.is_gate:
        yield 0, 1, "Answered"
    elif question.has_items:
        yield 1, 1, "Chosen"
        yield 0, 0, "Not chosen"
    elif question.is_rounded:
        yield 1, 1, f"Rounded up to {_name_number(question, question.points - 1)}"
        yield 0, 0, f"Rounded down to {_name_number(question, 0)}"
    elif described.has_range:
        assert question.minimum is not None
        for place in range(question.points):
            yield place, question.minimum + place, _name_number(question, place)
    elif described.has_options:
        for number, option in enumerate(options, start=1):
            yield option.code, number, option.text
    else:
        for option in options:
            yield option.code, option.code, option.text


def _name_number(question: ManifestQuestion, place: int) -> str:
    """Name the number at a place of a range, with its unit and, at an end, the end's label."""
    assert question.minimum is not None
    number = f"{question.minimum + place} {question.unit}".rstrip()
    words = {0: question.low_label, question.points - 1: question.high_label}.get(place)
    return f"{number} ({words})" if words else number


def _list_missing(question: ManifestQuestion, *, least: int) -> Iterator[ReportCode]:
    shift = _find_shift(least)
    for sent, written, kind, label in (
        (question.refused_code, DECLINED, CodeKind.DECLINED, REFUSED_TEXT),
        (question.not_asked_code, NOT_ASKED, CodeKind.NOT_ASKED, ""),
    ):
        if sent is not None:
            yield ReportCode(sent=(sent,), written=written + shift, kind=kind, label=label)


def _find_shift(least: int) -> int:
    """Return 0, or -900 (then -9900, …) if the points of a scale reach the reserved codes.

    Authors can no longer write such scales, but frozen manifests may have them. With -900, -997 is
    "declined" and -998 is "not asked".
    """
    first = FIRST_RESERVED
    while least <= first:
        first = first * 10 - 90  # -990, -9990, …
    return first - FIRST_RESERVED
