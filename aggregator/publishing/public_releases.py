"""What anyone may see of a protected survey: its releases, from the day on which they are public.

This module reads only the manifest and stored releases, and no report, batch or snapshot. Therefore
nothing here changes when reports arrive or are counted. Pages change at 00:00 UTC, when a release
becomes public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from django.utils.translation import override

from aggregator.models import Release, ReleaseLedger
from aggregator.publishing.rows import ShownFigures, list_figures
from aggregator.publishing.words import name_release
from aggregator.releases.figures import (
    Figures,
    KeyDriverFigures,
    TableFigures,
    Unsure,
    describe_too_few,
    read_shown,
)
from aggregator.releases.ledger import find_public_day
from aggregator.releases.readers import ReaderLine, promised_epsilons, reader_epsilons
from aggregator.releases.sentences import (
    Line,
    describe_unplanned,
    list_lines,
    promise,
    write_reader,
    write_server,
)
from surveys.manifest.manifest import Manifest
from surveys.manifest.releases import ReleaseKind
from surveys.models import Wave


@dataclass(frozen=True, kw_only=True)
class PublicRelease:
    """One release as readers see it."""

    number: int  # counts from 1, in the order in which releases became public
    name: str
    release: Release
    figures: ShownFigures | None
    too_few: str  # why there are no figures
    unplanned: str
    promise: str
    lines: tuple[Line, ...]


def find_public(wave: Wave, *, day: date) -> list[Release]:
    """Find the releases that anyone may see on the given day, oldest first."""
    drawn = wave.releases.filter(state=Release.State.DRAWN, public_from__lte=day)
    return list(drawn.order_by("public_from", "pk"))


def list_public(
    manifest: Manifest, releases: Sequence[Release], *, spent: int
) -> list[PublicRelease]:
    """Describe releases for readers, with tables first and newer releases before older ones.

    `spent` is `Charged.spent`.
    """
    figures = read_shown(releases, manifest)
    found = [
        _build_release(number, release, figures[release.pk], manifest, spent=spent)
        for number, release in enumerate(releases, start=1)
    ]
    return sorted(found, key=lambda one: (one.release.kind != ReleaseKind.TABLE, -one.number))


def _build_release(
    number: int, release: Release, figures: Figures | Unsure, manifest: Manifest, *, spent: int
) -> PublicRelease:
    return PublicRelease(
        number=number,
        name=name_release(manifest, release),
        release=release,
        figures=None if isinstance(figures, Unsure) else list_figures(figures),
        too_few=find_why_not(figures),
        unplanned=describe_unplanned(release, manifest),
        promise=promise(release, manifest),
        lines=_list_lines(release, manifest, spent=spent),
    )


def _list_lines(release: Release, manifest: Manifest, *, spent: int) -> tuple[Line, ...]:
    with override("en"):  # these lines are for specialists
        return list_lines(release, manifest, spent_hundredths=spent)


def find_why_not(figures: Figures | Unsure) -> str:
    """Say why readers see no figures of a release, or return an empty string if they see some."""
    if isinstance(figures, Unsure):
        return figures.why
    if isinstance(figures, TableFigures | KeyDriverFigures) and not figures.is_enough:
        return describe_too_few(figures)
    return ""


@dataclass(frozen=True, kw_only=True)
class Charged:
    """All releases that were requested before a day, whether they are drawn, waiting or lost.

    Only the days of the requests matter, so this set changes at midnight and never when a worker
    draws. `is_suspended` says that readers may know releases that are no longer stored.
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
        """The δ of all these releases, in units of 10⁻⁹."""
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
