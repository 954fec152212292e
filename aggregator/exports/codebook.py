"""codebook.csv explains every column and every code of reports.csv, in one row for each code.

Its last rows explain the column `reliability` of estimates.csv.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from aggregator.background.levels import read_background
from aggregator.background.rows_files import find_rows_file
from aggregator.exports.csv_format import Cell, write_row
from aggregator.exports.report_codes import (
    ORIGIN_COLUMN,
    CodeKind,
    ReportCode,
    ReportColumn,
    list_columns,
)
from aggregator.results.display import Results
from aggregator.results.estimands import estimands_of
from aggregator.results.reliability import WIDE, Reliability
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.manifest import Manifest
from surveys.models import Survey, Wave
from surveys.planning.figures import COMPARED_AT, WIDEST

ORIGINS: Mapping[Survey.Origin, str] = {
    Survey.Origin.SURVEY: "Neither a rehearsal nor a demo; the same in every row",
    Survey.Origin.REHEARSAL: "A rehearsal: all answers are invented; the same in every row",
    Survey.Origin.DEMO: "A demo of Murmur; the same in every row",
}
WITHOUT_ANSWER: Mapping[CodeKind, str] = {
    CodeKind.DECLINED: "Declined: “Prefer not to say”",
    CodeKind.NOT_ASKED: "Not asked: the answers to earlier questions led past this question",
    CodeKind.NOT_DRAWN: "Empty cell: not drawn. Each person was asked {drawn} of {blocks} blocks "
    "of questions, chosen at random before the first answer, and this question was in none of "
    "those",
    CodeKind.NOT_SHOWN: "Groups that no page shows because they are too small or would reveal a "
    "small group, and groups that had to be merged with them",
}
NOT_CHOSEN_OR_MISSING = (
    "{label}. People who did not answer the question also have this code; {gate} shows how many"
)
# The only column of estimates.csv that contains codes; a rule determines them.
RELIABILITY_COLUMN = "reliability"
RELIABILITIES: Mapping[Reliability, str] = {
    Reliability.PUBLISHABLE: (
        f"Column of estimates.csv: precise enough to publish. With this design and number of "
        f"reports, the 95 % interval of a share of {COMPARED_AT * 100:.0f} % would be at most "
        f"{WIDE * 100:.0f} points wide. For a mean, points are hundredths of its range"
    ),
    Reliability.CAUTION: (
        "Column of estimates.csv: with caution (†). Less precise than publishable, or the alarm "
        "was raised for the question; the interval covers the true value as often as any other "
        "interval"
    ),
    Reliability.NOT_SHOWN: (
        "Column of estimates.csv: not shown on pages and charts. The 95 % interval of a share of "
        f"{COMPARED_AT * 100:.0f} % would be wider than {WIDEST * 100:.0f} points, there is no "
        "estimate, or the codes contradict the design"
    ),
}
IN_BROWSER = (
    "randomized in the browser: it sent the true code with probability {keep:.6g} and otherwise "
    "{others}"
)
ROUNDED = (
    "First rounded at random: a number x became {maximum} with probability {distance} / {length} "
    "and otherwise {minimum}. Then "
)
AS_SENT = "Not randomized: the answer was sent as it is"
SUM = "Sum of these items: {items}. Each answer counts as follows: {answers}"
SAME_ANSWERS = "From the same answers as {scale}, and randomized separately"
NOT_HERE = "Not randomized: this row has no code of this question"


@dataclass(frozen=True, kw_only=True)
class CodebookRow:
    """The data for one row of codebook.csv."""

    manifest: Manifest
    column: ReportColumn
    short_label: str  # the question's short label
    gate: str  # the column that says whether a "select several" was answered, or ""
    code: ReportCode

    @cached_property
    def mechanism(self) -> RandomizedResponse | None:
        """How the code was randomized, or None if it was not randomized."""
        is_sent = self.code.kind is not CodeKind.NOT_DRAWN
        has_mechanism = is_sent and self.column.symbol.threshold is not None
        return self.column.symbol.mechanism if has_mechanism else None

    @property
    def part(self) -> str:
        """The item or part of the question that the column is about."""
        question, symbol = self.column.question, self.column.symbol
        if symbol.is_gate:
            return "Whether the question was answered at all"
        texts = {option.code: option.text for option in question.options}
        if symbol.item is not None:
            return texts[symbol.item]
        return f"If yes: {question.follow_up}" if question.follow_up else ""

    @property
    def meaning(self) -> str:
        kind = self.code.kind
        if kind is not CodeKind.ANSWER:
            manifest = self.manifest
            return WITHOUT_ANSWER[kind].format(drawn=manifest.drawn, blocks=manifest.block_count)
        if self.gate and self.code.written == 0:
            return NOT_CHOSEN_OR_MISSING.format(label=self.code.label, gate=self.gate)
        return self.code.label

    @property
    def scale(self) -> str:
        """The answers that the device added up, or an empty string if people chose the answer."""
        question = self.column.question
        if question.score is None:
            return ""
        if question.is_second:
            [scale] = [one for one in self.manifest.questions if one.name == question.scale]
            return SAME_ANSWERS.format(scale=scale.variable)
        return SUM.format(
            items="; ".join(
                one.text + " | reversed" * one.reversed + f" | ×{one.weight}" * (one.weight > 1)
                for one in question.score.items
            ),
            answers="; ".join(f"{one.value} {one.text}" for one in question.score.options),
        )

    @property
    def estimand(self) -> str | None:
        """The estimand that is the share of this code, as estimates.csv names it."""
        for estimand in estimands_of(self.column.question):
            if estimand.symbol == self.column.symbol.name and estimand.event == self.code.sent:
                return estimand.name
        return None

    @property
    def randomization(self) -> str:
        if self.mechanism is None:
            return NOT_HERE if self.code.kind is CodeKind.NOT_DRAWN else AS_SENT
        question, others = self.column.question, self.mechanism.symbols - 1
        text = IN_BROWSER.format(
            keep=self.mechanism.keep_probability,
            others="the other one"
            if others == 1
            else f"one of the {others} others, each equally likely",
        )
        if not question.is_rounded or self.code.kind is not CodeKind.ANSWER:
            return text[0].upper() + text[1:]
        low = question.minimum or 0
        first = ROUNDED.format(
            minimum=low,
            maximum=question.maximum,
            distance=f"(x − {low})" if low >= 0 else f"(x + {-low})",
            length=question.points - 1,
        )
        return first + text


# Each column's name, and how to find its value.
CODEBOOK_COLUMNS: Mapping[str, Callable[[CodebookRow], Cell]] = {
    "column": lambda row: row.column.name,
    "code": lambda row: row.code.written,
    "kind": lambda row: row.code.kind.value,
    "meaning": lambda row: row.meaning,
    "question_number": lambda row: row.column.question.number,
    "question_type": lambda row: row.column.question.type,
    "question_text": lambda row: row.column.question.full_text,
    "part": lambda row: row.part,
    "block": lambda row: None if row.column.symbol.block is None else row.column.symbol.block + 1,
    "randomization": lambda row: row.randomization,
    "k": lambda row: row.mechanism.symbols if row.mechanism else None,
    "probability_if_true": lambda row: row.mechanism.keep_probability if row.mechanism else None,
    "probability_if_not_true": (
        lambda row: row.mechanism.other_probability if row.mechanism else None
    ),
    "question": lambda row: row.column.question.variable,
    "symbol": lambda row: row.column.question.name_in_files(row.column.symbol.name),
    "estimand": lambda row: row.estimand,
}


# This is written only if questions have variables, so that files of earlier surveys do not change.
LABEL_COLUMN: Mapping[str, Callable[[CodebookRow], Cell]] = {
    "short_label": lambda row: row.short_label or None,
}
# This is written only if the survey has scales, for the same reason.
SCALE_COLUMN: Mapping[str, Callable[[CodebookRow], Cell]] = {
    "scale": lambda row: row.scale or None,
}


def stream_codebook(results: Results) -> Iterator[bytes]:
    """Write one row for every code of every column of reports.csv, in the same order.

    The last rows explain the classes of reliability in estimates.csv.
    """
    has_variables = any(question.var for question in results.manifest.questions)
    has_scales = any(question.score for question in results.manifest.questions)
    columns = {
        **CODEBOOK_COLUMNS,
        **(LABEL_COLUMN if has_variables else {}),
        **(SCALE_COLUMN if has_scales else {}),
    }
    yield write_row(columns)
    origin = results.wave.survey.origin
    first = {
        "column": ORIGIN_COLUMN,
        "code": origin.value,
        "kind": "origin",
        "meaning": ORIGINS[origin],
    }
    yield write_row(first.get(name) for name in columns)
    labels = dict(results.wave.survey.questions.exclude(name="").values_list("name", "short_label"))
    listed = list_columns_of_rows(results.wave, results.manifest)
    for row in list_rows(results.manifest, listed, labels=labels):
        yield write_row(read(row) for read in columns.values())
    for reliability, meaning in RELIABILITIES.items():
        cells = {
            "column": RELIABILITY_COLUMN,
            "code": reliability.value,
            "kind": RELIABILITY_COLUMN,
            "meaning": meaning,
        }
        yield write_row(cells.get(name) for name in columns)


def list_columns_of_rows(wave: Wave, manifest: Manifest) -> list[ReportColumn]:
    """List the columns of all files of rows, or of all questions until the background is chosen."""
    rows_file = find_rows_file(wave)
    if rows_file is None or rows_file.chosen is None:
        return list_columns(manifest)
    if not rows_file.has_files_of_blocks:
        return list_columns(manifest, read_background(rows_file.chosen))
    blocks = range(manifest.block_count)
    return [one for block in blocks for one in list_columns(manifest, (), block=block)]


def list_rows(
    manifest: Manifest, columns: Sequence[ReportColumn], *, labels: Mapping[str, str]
) -> Iterator[CodebookRow]:
    gates = {one.question.name: one.name for one in columns if one.symbol.is_gate}
    for column in columns:
        name = column.question.name
        for code in column.codes:
            yield CodebookRow(
                manifest=manifest,
                column=column,
                short_label=labels.get(column.question.var, ""),
                gate="" if column.symbol.is_gate else gates.get(name, ""),
                code=code,
            )
