"""What anyone may see of a protected survey: its releases, from the day on which they are public.

It reads the manifest and stored releases, and no report, batch or snapshot. So nothing here changes
when reports come or are counted: pages change at 00:00 UTC, when a release becomes public.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from aggregator.exports.csv_format import WAVE_IN_FULL, Cell, list_wave_columns, write_row
from aggregator.models import Release, ReleaseLedger
from aggregator.publishing.rows import ShownFigures, list_figures
from aggregator.publishing.words import name_release
from aggregator.releases.figures import (
    LEVEL,
    FigureRow,
    Figures,
    QuestionFigures,
    TableFigures,
    read_figures,
)
from aggregator.releases.ledger import find_public_day
from aggregator.releases.readers import ReaderLine, promised_epsilons, reader_epsilons
from aggregator.releases.sentences import (
    Line,
    describe_too_few,
    find_own_scale,
    list_lines,
    promise,
    write_reader,
    write_server,
)
from aggregator.results.estimands import name_answer
from surveys.manifest.manifest import HUNDREDTHS, NANOS, Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Wave

BASE = "everyone who was asked"


@dataclass(frozen=True, kw_only=True)
class PublicRelease:
    """One release as readers see it."""

    number: int  # in the order in which they became public, from 1
    name: str
    release: Release
    figures: ShownFigures
    too_few: str  # if no question of a table had enough people
    promise: str
    lines: tuple[Line, ...]


def find_public(wave: Wave, *, day: date) -> list[Release]:
    """Find the releases that anyone may see on a day, the oldest first."""
    drawn = wave.releases.filter(state=Release.State.DRAWN, public_from__lte=day)
    return list(drawn.order_by("public_from", "pk"))


def describe_public(
    manifest: Manifest, releases: Sequence[Release], *, spent: int
) -> list[PublicRelease]:
    """Describe releases for readers: tables first, then the newest first.

    `spent` is that of `Charged`.
    """
    found = [
        _describe(number, release, manifest, spent=spent)
        for number, release in enumerate(releases, start=1)
    ]
    return sorted(found, key=lambda one: (one.release.kind != Release.Kind.TABLE, -one.number))


def _describe(number: int, release: Release, manifest: Manifest, *, spent: int) -> PublicRelease:
    figures = read_figures(release, manifest)
    return PublicRelease(
        number=number,
        name=name_release(manifest, release),
        release=release,
        figures=list_figures(figures),
        too_few=_find_too_few(figures),
        promise=promise(release, manifest),
        lines=list_lines(release, manifest, spent_hundredths=spent),
    )


def _find_too_few(figures: Figures) -> str:
    if isinstance(figures, TableFigures) and not figures.is_enough:
        return describe_too_few(figures)
    return ""


@dataclass(frozen=True, kw_only=True)
class Charged:
    """What counts on a day: every release that was requested before, drawn, waiting or lost.

    It follows from the days of the requests, so that it changes at midnight and never when a worker
    draws. `is_suspended` says that releases may be known which are no longer stored.
    """

    releases: tuple[Release, ...]
    is_suspended: bool
    cap: int
    delta_cap: int

    @property
    def spent(self) -> int:
        if self.is_suspended:
            return self.cap
        return sum(release.epsilon_hundredths for release in self.releases)

    @property
    def delta(self) -> int:
        """δ in 10⁻⁹, of all of these releases."""
        if self.is_suspended:
            return self.delta_cap
        return sum(release.delta_nanos for release in self.releases)


def find_charged(wave: Wave, *, day: date) -> Charged:
    return Charged(
        releases=tuple(
            release
            for release in wave.releases.order_by("pk")
            if find_public_day(wave.survey, release.reserved_on) <= day
        ),
        is_suspended=ReleaseLedger.objects.filter(wave=wave).exclude(suspended="").exists(),
        cap=wave.description.release_epsilon_hundredths or 0,
        delta_cap=wave.description.release_delta_nanos or 0,
    )


def describe_all_readers(manifest: Manifest, charged: Charged) -> list[str]:
    """Say what readers of all releases together can learn about each answer."""
    lines = (
        promised_epsilons(manifest)
        if charged.is_suspended
        else reader_epsilons(manifest, charged.releases)
    )
    return [_describe_reader(line) for line in lines]


def _describe_reader(line: ReaderLine) -> str:
    return f"Q{line.question.number}: {write_reader(line)} ({write_server(line)})"


# --- the same as a file ---------------------------------------------------------------------------


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
    """Leave out digits that say nothing; noise and rounding are far larger."""
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


def write_csv(wave: Wave, releases: Sequence[Release]) -> bytes:
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
