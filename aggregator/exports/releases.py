"""releases.csv: the releases of a protected survey that anyone may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from aggregator.exports.csv_format import WAVE_IN_FULL, Cell, list_wave_columns, write_row
from aggregator.models import Release
from aggregator.releases.figures import (
    LEVEL,
    FigureRow,
    QuestionFigures,
    TableFigures,
    read_figures,
)
from aggregator.releases.sentences import describe_too_few, find_own_scale
from aggregator.results.estimands import name_answer
from surveys.manifest.manifest import HUNDREDTHS, NANOS
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Wave

BASE = "everyone who was asked"


@dataclass(frozen=True, kw_only=True)
class _Source:
    """The source of one row of the file; a choice has no share, and too few people no answer."""

    wave: Wave
    number: int
    release: Release
    question: ManifestQuestion
    people: int | None = None
    margin: int | None = None
    row: FigureRow | None = None
    chosen: tuple[int, str] | None = None
    bound: float | None = None
    note: str = ""

    @property
    def answer(self) -> str | None:
        """The code of an answer, or the point of a scale, as people saw it."""
        if self.chosen is not None:
            return self.chosen[1] if self.question.described.has_points else str(self.chosen[0])
        if self.row is None:
            return None
        is_point = self.question.described.has_points and self.row.is_authors
        return self.row.text if is_point else self.row.key

    @property
    def text(self) -> str | None:
        if self.chosen is not None:
            return name_answer(self.question, self.chosen[1])
        return name_answer(self.question, self.row.text) if self.row else None


def _shorten(value: float | None) -> float | None:
    """Leave out meaningless digits; noise and rounding are far larger."""
    return None if value is None else round(value, 6)


def _of_row(read: Callable[[FigureRow], Cell]) -> Callable[[_Source], Cell]:
    return lambda source: None if source.row is None else read(source.row)


def _number(read: Callable[[FigureRow], float]) -> Callable[[_Source], Cell]:
    return lambda source: None if source.row is None else _shorten(read(source.row))


COLUMNS: Mapping[str, Callable[[_Source], Cell]] = {
    **list_wave_columns(lambda one: one.wave, WAVE_IN_FULL),
    "release": lambda one: one.number,
    "release_kind": lambda one: one.release.kind,
    "public_from": lambda one: one.release.public_from.isoformat(),
    "question": lambda one: one.question.name,
    "question_text": lambda one: one.question.text,
    "follow_up": lambda one: one.question.follow_up or None,
    "unit": lambda one: one.question.unit or None,
    "base": lambda _: BASE,
    "answer": lambda one: one.answer,
    "answer_text": lambda one: one.text,
    "noisy_people": lambda one: one.people,
    "noisy_people_margin": lambda one: one.margin,
    "noisy_code_count": _of_row(lambda row: row.count),
    "estimate": _number(lambda row: row.estimate),
    "interval_low": _number(lambda row: row.low),
    "interval_high": _number(lambda row: row.high),
    "interval_level": _of_row(lambda _: LEVEL),
    "standard_error": _number(lambda row: row.parts.total),
    "standard_error_people": _number(lambda row: row.parts.people),
    "standard_error_scrambling": _number(lambda row: row.parts.scrambling),
    "standard_error_publication": _number(lambda row: row.parts.publication),
    "bound_people": lambda one: _shorten(one.bound),
    "note": lambda one: one.note or None,
    "epsilon_took_part": lambda one: one.release.epsilon_hundredths / HUNDREDTHS,
    "delta": lambda one: one.release.delta_nanos / NANOS,
    "mechanism": lambda one: one.release.mechanism,
    "scale": lambda one: str(find_own_scale(one.release)),
    "library": lambda one: one.release.library,
}


def write_releases(wave: Wave, releases: Sequence[Release]) -> bytes:
    """Write one row for every figure of these releases; only the header if there are none."""
    rows = [write_row(COLUMNS)]
    for number, release in enumerate(releases, start=1):
        rows += [
            write_row(read(source) for read in COLUMNS.values())
            for source in _list_sources(wave, number, release)
        ]
    return b"".join(rows)


def _list_sources(wave: Wave, number: int, release: Release) -> Iterator[_Source]:
    figures = read_figures(release, wave.description)
    if isinstance(figures, TableFigures):
        for question in figures.questions:
            yield from _list_shares(wave, number, release, question)
        return
    yield _Source(
        wave=wave,
        number=number,
        release=release,
        question=figures.question,
        chosen=(figures.code, figures.text),
        bound=figures.bound,
    )


def _list_shares(
    wave: Wave, number: int, release: Release, figures: QuestionFigures
) -> Iterator[_Source]:
    one = _Source(
        wave=wave,
        number=number,
        release=release,
        question=figures.question,
        people=figures.people,
        margin=figures.margin,
        note="" if figures.is_enough else describe_too_few(figures),
    )
    if not figures.is_enough:
        yield one
    for row in (*figures.rows, *([figures.mean] if figures.mean else [])):
        yield replace(one, row=row)
