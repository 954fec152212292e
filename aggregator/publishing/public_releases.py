"""What anyone may see of a protected survey: its releases, from the day on which they are public.

It reads the manifest and stored releases, and no report, batch or snapshot. Therefore nothing here
changes when reports come or are counted. Pages change at 00:00 UTC, when a release becomes public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from aggregator.models import Release, ReleaseLedger
from aggregator.publishing.rows import ShownFigures, list_figures
from aggregator.publishing.words import name_release
from aggregator.releases.figures import (
    Figures,
    TableFigures,
    read_figures,
)
from aggregator.releases.ledger import find_public_day
from aggregator.releases.readers import ReaderLine, promised_epsilons, reader_epsilons
from aggregator.releases.sentences import (
    Line,
    describe_too_few,
    list_lines,
    promise,
    write_reader,
    write_server,
)
from surveys.manifest.manifest import Manifest
from surveys.models import Wave


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


def list_public(
    manifest: Manifest, releases: Sequence[Release], *, spent: int
) -> list[PublicRelease]:
    """Describe releases for readers: tables first, then the newest first.

    `spent` is that of `Charged`.
    """
    found = [
        _build_release(number, release, manifest, spent=spent)
        for number, release in enumerate(releases, start=1)
    ]
    return sorted(found, key=lambda one: (one.release.kind != Release.Kind.TABLE, -one.number))


def _build_release(
    number: int, release: Release, manifest: Manifest, *, spent: int
) -> PublicRelease:
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
