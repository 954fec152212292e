"""releases.csv: the noisy counts and figures of a protected survey, which anyone may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from aggregator.exports.csv_format import WAVE_IN_FULL, Cell, list_wave_columns, write_row
from aggregator.models import Release
from aggregator.releases.figures import (
    AlertFigure,
    ChosenFigure,
    FigureRow,
    Figures,
    Group,
    KeyDriverFigures,
    QuestionFigures,
    TableFigures,
    Unsure,
    describe_too_few,
    read_shown,
)
from aggregator.releases.sentences import find_own_scale
from aggregator.results.estimands import name_answer
from surveys.manifest.manifest import HUNDREDTHS, NANOS
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Wave

BASE = "everyone who was asked"
BASE_OF_GROUP = "everyone in the group who was asked"
NO_RULE = "chance named no answer that predicts it better"


@dataclass(frozen=True, kw_only=True)
class _Source:
    """The data for one row; a chosen answer has no share, and a mere note has no answer."""

    wave: Wave
    number: int
    release: Release
    question: ManifestQuestion
    group: Group | None = None
    people: int | None = None
    margin: int | None = None
    row: FigureRow | None = None
    chosen: tuple[int, str] | None = None
    bound: float | None = None
    alert: bool | None = None
    percent: int | None = None
    note: str = ""

    @property
    def answer(self) -> str | None:
        """The code of an answer, or the point of a scale, as people saw it."""
        if self.chosen is not None:
            return self.chosen[1] if self.question.described.has_points else str(self.chosen[0])
        if self.row is None:
            return None
        is_point = self.question.described.has_points and self.row.is_authors
        if is_point:
            return self.row.text
        return self.wave.description.name_in_files(self.row.key)  # for a key driver, q1_same

    @property
    def text(self) -> str | None:
        if self.chosen is not None:
            return name_answer(self.question, self.chosen[1])
        return name_answer(self.question, self.row.text) if self.row else None


def _shorten(value: float | None) -> float | None:
    """Leave out meaningless digits, which are far smaller than noise and rounding."""
    return None if value is None else round(value, 6)


def _of_row(read: Callable[[FigureRow], Cell]) -> Callable[[_Source], Cell]:
    return lambda source: None if source.row is None else read(source.row)


def _of_group(read: Callable[[Group], Cell]) -> Callable[[_Source], Cell]:
    return lambda source: None if source.group is None else read(source.group)


def _number(read: Callable[[FigureRow], float]) -> Callable[[_Source], Cell]:
    return lambda source: None if source.row is None else _shorten(read(source.row))


COLUMNS: Mapping[str, Callable[[_Source], Cell]] = {
    **list_wave_columns(lambda one: one.wave, WAVE_IN_FULL),
    "release": lambda one: one.number,
    "release_kind": lambda one: one.release.kind,
    "public_from": lambda one: one.release.public_from.isoformat(),
    "question": lambda one: one.question.variable,
    "question_text": lambda one: one.question.full_text,
    "follow_up": lambda one: one.question.follow_up or None,
    "unit": lambda one: one.question.unit or None,
    "group_question": _of_group(lambda group: group.question.variable),
    "group": _of_group(lambda group: group.key),
    "group_text": _of_group(lambda group: group.text),
    "base": lambda one: BASE_OF_GROUP if one.group else BASE,
    "answer": lambda one: one.answer,
    "answer_text": lambda one: one.text,
    "noisy_people": lambda one: one.people,
    "noisy_people_margin": lambda one: one.margin,
    "noisy_code_count": _of_row(lambda row: row.count),
    "estimate": _number(lambda row: row.estimate),
    "interval_low": _number(lambda row: row.low),
    "interval_high": _number(lambda row: row.high),
    "interval_level": _number(lambda row: row.level),
    "standard_error": _number(lambda row: row.parts.total),
    "standard_error_people": _number(lambda row: row.parts.people),
    "standard_error_scrambling": _number(lambda row: row.parts.scrambling),
    "standard_error_publication": _number(lambda row: row.parts.publication),
    "bound_people": lambda one: _shorten(one.bound),
    "note": lambda one: one.note or None,
    "alert": lambda one: one.alert,
    "alert_above_percent": lambda one: one.percent,
    "planned": lambda one: one.release.planned,
    "epsilon_took_part": lambda one: one.release.epsilon_hundredths / HUNDREDTHS,
    "delta": lambda one: one.release.delta_nanos / NANOS,
    "mechanism": lambda one: one.release.mechanism,
    "scale": lambda one: str(find_own_scale(one.release)),
    "library": lambda one: one.release.library,
}


def write_releases(wave: Wave, releases: Sequence[Release]) -> bytes:
    """Write one row for every figure of these releases, or only the header if there are none."""
    rows = [write_row(COLUMNS)]
    figures = read_shown(releases, wave.description)
    for number, release in enumerate(releases, start=1):
        rows += [
            write_row(read(source) for read in COLUMNS.values())
            for source in _list_sources(wave, number, release, figures[release.pk])
        ]
    return b"".join(rows)


def _list_sources(
    wave: Wave, number: int, release: Release, figures: Figures | Unsure
) -> Iterator[_Source]:
    if isinstance(figures, Unsure):
        yield _Source(
            wave=wave, number=number, release=release, question=figures.question, note=figures.why
        )
        return
    if isinstance(figures, TableFigures):
        for question in figures.questions:
            yield from _list_shares(wave, number, release, question)
        return
    if isinstance(figures, KeyDriverFigures):
        yield from _list_rules(wave, number, release, figures)
        return
    yield _Source(
        wave=wave,
        number=number,
        release=release,
        question=figures.question,
        chosen=(figures.code, figures.text),
        bound=figures.bound if isinstance(figures, ChosenFigure) else None,
        alert=figures.came if isinstance(figures, AlertFigure) else None,
        percent=figures.percent if isinstance(figures, AlertFigure) else None,
    )


def _list_rules(
    wave: Wave, number: int, release: Release, figures: KeyDriverFigures
) -> Iterator[_Source]:
    one = _Source(
        wave=wave,
        number=number,
        release=release,
        question=figures.question,
        people=figures.people,
        margin=figures.margin,
    )
    if not figures.is_enough:
        yield replace(one, note=describe_too_few(figures))
    for row in figures.rows:
        is_rule = figures.predictor is not None and row is figures.rows[0]
        note = "" if figures.predictor else NO_RULE
        yield replace(one, row=row, bound=figures.bound if is_rule else None, note=note)


def _list_shares(
    wave: Wave, number: int, release: Release, figures: QuestionFigures
) -> Iterator[_Source]:
    one = _Source(
        wave=wave,
        number=number,
        release=release,
        question=figures.question,
        group=figures.group,
        people=figures.people,
        margin=figures.margin,
        note="" if figures.is_enough else describe_too_few(figures),
    )
    if not figures.is_enough:
        yield one
    for row in (*figures.rows, *([figures.mean] if figures.mean else [])):
        yield replace(one, row=row)
