"""The figures of a release as rows on an axis, for researchers and for readers.

Everything follows from `read_figures`, so nothing here sees a count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import ceil

from aggregator.publishing.spread import Spread, draw_spread
from aggregator.releases.figures import (
    ChosenFigure,
    FigureRow,
    Figures,
    QuestionFigures,
    TableFigures,
)
from aggregator.releases.sentences import build_asked_cells, describe_people, describe_too_few
from aggregator.results.blocks import BlockRow, RowKind, row_of_share
from aggregator.results.estimands import name_answer
from surveys.axis import Axis
from surveys.formatting import whole
from surveys.manifest.questions import ManifestQuestion

CONTRADICTING = (
    "The noisy counts contradict the design of this question. Treat this figure as a warning."
)
# The score compares the two sides of a point. It does not see how many chose the point itself.
PREFERS = (
    "Chance names a point, most likely one for which the numbers of answers below and above differ "
    "least. Few people may have chosen it, and it can be far from the middle answer."
)
SEVERAL = "More than one answer possible."


@dataclass(frozen=True, kw_only=True)
class ShownRow:
    """A row of a table, as results pages show rows, and its interval in three parts."""

    row: BlockRow
    spread: Spread


@dataclass(frozen=True, kw_only=True)
class ShownQuestion:
    """One question of a release: rows of a table, or the answer that was chosen."""

    question: ManifestQuestion
    rows: tuple[ShownRow, ...] = ()
    note: str = ""
    warning: str = ""
    chosen: str = ""  # the leader, or the typical point
    is_leader: bool = False
    limits: str = ""  # of a choice, in Murmur's words

    @property
    def chosen_as(self) -> str:
        return "Named as leading:" if self.is_leader else "Named as typical:"

    @property
    def widest(self) -> Spread | None:
        """The parts of the widest interval of a share, which stands for all."""
        shares = [one for one in self.rows if not one.row.is_mean] or list(self.rows)
        if not shares:
            return None
        return max(shares, key=lambda one: _width(one.row)).spread


@dataclass(frozen=True, kw_only=True)
class ShownFigures:
    people: str  # a sentence; empty if the release does not say how many took part
    questions: tuple[ShownQuestion, ...]

    @property
    def has_rows(self) -> bool:
        return any(question.rows for question in self.questions)


def list_figures(figures: Figures) -> ShownFigures:
    if isinstance(figures, TableFigures):
        shows_people = figures.people is not None
        return ShownFigures(
            people=describe_people(figures),
            questions=tuple(_show(one, shows_people=shows_people) for one in figures.questions),
        )
    chosen = ShownQuestion(
        question=figures.question,
        note="" if figures.is_leader else _describe_scale(figures.question),
        chosen=name_answer(figures.question, figures.text),
        is_leader=figures.is_leader,
        limits=_describe_limits(figures),
    )
    return ShownFigures(people="", questions=(chosen,))


def _describe_scale(question: ManifestQuestion) -> str:
    ends = (name_answer(question, str(end)) for end in (question.minimum, question.maximum))
    return f"On a scale from {' to '.join(ends)}."


def _describe_limits(figures: ChosenFigure) -> str:
    """Say what publication noise does to a choice; it is not all that can be wrong with it."""
    if figures.bound is None:
        return PREFERS
    rest = "Scrambling and chance come" if figures.question.is_scrambled else "Chance comes"
    return (
        "Noise of publication alone: with 95 % probability, no answer is more than "
        f"{whole(ceil(figures.bound))} people ahead of this one. {rest} on top; the intervals of a "
        "table show how much."
    )


def _show(figures: QuestionFigures, *, shows_people: bool) -> ShownQuestion:
    if not figures.is_enough:
        return ShownQuestion(question=figures.question, note=describe_too_few(figures))
    rows = [*figures.rows, *([figures.mean] if figures.mean else [])]
    notes = [SEVERAL] if figures.question.has_items else []
    if figures.question.follow_up:
        notes.append(f"Then: {figures.question.follow_up}")
    # For questions that everyone was asked, one sentence above all questions says it.
    notes += [] if shows_people and figures.of_everyone else [build_asked_cells(figures)]
    return ShownQuestion(
        question=figures.question,
        rows=tuple(_show_row(figures.question, row) for row in rows),
        note=" ".join(notes),
        warning=CONTRADICTING if any(row.contradiction for row in rows) else "",
    )


def _show_row(question: ManifestQuestion, row: FigureRow) -> ShownRow:
    key = f"{question.name} {row.key}"
    if row.key == "mean":
        return _show_mean(question, row, key=key)
    shown = row_of_share(
        key=key,
        label=name_answer(question, row.text),
        value=row.share,
        low=row.low,
        high=row.high,
    )
    if not row.is_authors:
        shown = replace(shown, kind=RowKind.ASKED)  # Murmur's own words
    return ShownRow(row=shown, spread=draw_spread(row.parts))


def _show_mean(question: ManifestQuestion, row: FigureRow, *, key: str) -> ShownRow:
    assert question.minimum is not None
    assert question.maximum is not None
    digits = _digits(row.high - row.low)
    number = f"{_write(row.share, digits)} {question.unit}".rstrip()
    range_ = f"{_write(row.low, digits)}–{_write(row.high, digits)}"
    shown = BlockRow(
        key=key,
        kind=RowKind.MEAN,
        label=row.text,
        value=row.share,
        low=row.low,
        high=row.high,
        axis=Axis(
            least=question.minimum,
            greatest=question.maximum,
            ends=(_write(question.minimum, 0), _write(question.maximum, 0)),
        ),
        number=number,
        range=range_,
        text=f"{number} ({range_})",
    )
    write = partial(_write_plus_minus, digits=digits + 1)
    return ShownRow(row=shown, spread=draw_spread(row.parts, write=write, unit=question.unit))


def _write_plus_minus(half_width: float, *, digits: int) -> str:
    return f"± {_write(half_width, digits)}"


def _write(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    return (text.lstrip("-") if float(text.replace(",", "")) == 0 else text).replace("-", "−")


def _digits(width: float) -> int:
    """Choose the number of digits as on results pages, so that the ends of an interval differ."""
    return 2 if width < 0.3 else 0 if width > 30 else 1


def _width(row: BlockRow) -> float:
    assert row.low is not None
    assert row.high is not None
    return row.high - row.low
