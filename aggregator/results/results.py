"""What may be said about a survey now: the newest snapshot, or why there is nothing to show.

Pages, API, charts and exports all read results here, so the display minimum is checked in
one place and an estimate means the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from aggregator.batches.columns import Columns
from aggregator.models import Chart, RawReport, Snapshot
from aggregator.results.estimands import Estimand, Kind, estimands_of
from aggregator.results.snapshots import (
    UnreadableSnapshotError,
    ended_as_frozen,
    newest_snapshot,
    recompute_later,
)
from privacy.mechanism.fake_reports import Band, robustness_band
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.questions import ManifestQuestion
from surveys.models import Survey, Wave


class Standing(Enum):
    """How far a survey is on its way to results."""

    DRAFT = "draft"
    WAITING = "waiting"  # no batch has been sealed and estimated yet
    EMPTY = "empty"  # closed, and no report ever came
    DISCARDED = "discarded"  # closed below the minimum batch; the reports were deleted
    TOO_FEW = "too-few"  # below the display minimum
    SHOWN = "shown"


class Status(Enum):
    """What to know about one estimate before using it; a column of estimates.csv."""

    OK = "ok"
    OUTSIDE = "outside_0_1"
    CONTRADICTION = "contradiction"  # with the 95 % interval
    ALARM = "alarm"  # with the alarm's own interval, which holds at every look


@dataclass(frozen=True, kw_only=True)
class InnerInterval:
    """A narrower interval inside the main one; it covers less reliably at small n."""

    level: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One share or mean. Shares are fractions; nothing is clipped here.

    The estimate is None where a ratio cannot be formed: nobody seems to have answered. What is
    no share of everybody who was asked has no joint estimate and no effective number.
    """

    estimand: Estimand
    scale: tuple[float, float]  # the least and the greatest value that there can be
    total: int
    count: int
    raw_share: float
    estimate: float | None
    joint_estimate: float | None
    standard_error: float | None
    effective_sample_size: float | None
    low: float
    high: float
    inner_intervals: tuple[InnerInterval, ...]
    simultaneous_low: float
    simultaneous_high: float
    method: str
    simultaneous_method: str
    contradiction: bool

    @property
    def is_mean(self) -> bool:
        return self.estimand.kind is Kind.MEAN

    @property
    def shown(self) -> float | None:
        """The estimate cut to what can be, for display only."""
        least, greatest = self.scale
        return None if self.estimate is None else min(max(self.estimate, least), greatest)

    @property
    def is_clipped(self) -> bool:
        return self.shown != self.estimate

    @property
    def tells_nothing(self) -> bool:
        return (self.low, self.high) == self.scale


@dataclass(frozen=True, kw_only=True)
class QuestionResult:
    number: int
    question: ManifestQuestion
    total: int  # reports in which the question was asked
    estimates: tuple[Estimate, ...]  # none below the display minimum
    level: float
    simultaneous_level: float
    alarm: bool

    @property
    def interest(self) -> tuple[Estimate, ...]:
        """What screens and charts show: of yes and no only the yes."""
        return tuple(found for found in self.estimates if found.estimand.shown)

    @property
    def contradiction(self) -> bool:
        return any(found.contradiction for found in self.estimates)

    def band(self, found: Estimate, *, fake_share: float) -> Band | None:
        """The interval if so many of the reports were invented, whatever they say.

        Only for shares of everybody who was asked: a ratio moves in other ways.
        """
        estimand, question = found.estimand, self.question
        if found.is_mean or estimand.gate or estimand.among is not None:
            return None
        mechanism = question.mechanism
        if question.has_gate:  # and no ratio to it: the event is one of the gate's own codes
            mechanism = question.gate_mechanism
        # Of several codes the share is what one other leaves, as its interval is.
        turned = len(estimand.event) > 1
        low, high = (1 - found.high, 1 - found.low) if turned else (found.low, found.high)
        band = robustness_band(low=low, high=high, fake_share=fake_share, mechanism=mechanism)
        return Band(low=1 - band.high, high=1 - band.low) if turned else band

    def status_of(self, found: Estimate) -> Status:
        if self.alarm:
            return Status.ALARM
        if found.contradiction:
            return Status.CONTRADICTION
        return Status.OUTSIDE if found.is_clipped else Status.OK


@dataclass(frozen=True, kw_only=True)
class GroupResult:
    """One option of a question that is not scrambled; the number is hidden in a small group."""

    text: str
    code: int
    count: int | None


@dataclass(frozen=True, kw_only=True)
class DeclaredResult:
    number: int
    question: ManifestQuestion
    groups: tuple[GroupResult, ...]

    @property
    def hidden(self) -> frozenset[int]:
        """Codes that no file and no page may show."""
        return frozenset(group.code for group in self.groups if group.count is None)


@dataclass(frozen=True, kw_only=True)
class Results:
    """The newest snapshot of a wave, read beside its manifest."""

    wave: Wave
    manifest: Manifest
    snapshot: Snapshot
    questions: tuple[QuestionResult, ...]
    declared: tuple[DeclaredResult, ...]
    fixed_end: bool  # the wave ended as frozen, so that intervals for one look are honest

    @property
    def alarms(self) -> tuple[QuestionResult, ...]:
        """Questions whose codes the design could not plausibly have produced."""
        return tuple(question for question in self.questions if question.alarm)


@dataclass(frozen=True, kw_only=True)
class View:
    """A survey's standing; `results` and `chart` are set only if they may be shown."""

    survey: Survey
    wave: Wave | None
    standing: Standing
    manifest: Manifest | None = None
    snapshot: Snapshot | None = None
    results: Results | None = None
    chart: Chart | None = None

    @property
    def seen(self) -> str:
        """Changes exactly when there is something new to show; part of the panel's address."""
        if self.snapshot is None:
            return f"0-0-{self.standing.value}"
        chart = "chart" if self.chart else "no-chart"
        return f"{self.snapshot.through_batch}-{int(self.snapshot.final)}-{chart}"

    @property
    def is_settled(self) -> bool:
        """Whether nothing will ever change here again."""
        if self.standing in (Standing.EMPTY, Standing.DISCARDED):
            return True
        return (
            self.snapshot is not None
            and self.snapshot.final
            and (self.standing is Standing.TOO_FEW or self.chart is not None)
        )


def find_view(survey: Survey, *, mode: str = Mode.ELECTRONIC) -> View:
    """Read what may be shown of a survey's newest wave of browsers, or of coins."""
    waves = survey.waves.filter(mode=mode)
    wave = waves.select_related("discard").newest()
    if wave is None:
        return View(survey=survey, wave=None, standing=Standing.DRAFT)
    wave.survey = survey
    manifest = wave.description
    snapshot = newest_snapshot(wave)
    if snapshot is None:
        return View(
            survey=survey, wave=wave, standing=_standing_without_batches(wave), manifest=manifest
        )
    if snapshot.total < wave.display_minimum:
        return View(
            survey=survey,
            wave=wave,
            standing=Standing.TOO_FEW,
            manifest=manifest,
            snapshot=snapshot,
        )
    try:
        results = read_results(wave=wave, snapshot=snapshot)
    except UnreadableSnapshotError:
        return View(survey=survey, wave=wave, standing=Standing.WAITING, manifest=manifest)
    return View(
        survey=survey,
        wave=wave,
        standing=Standing.SHOWN,
        manifest=manifest,
        snapshot=snapshot,
        results=results,
        chart=_find_chart(wave=wave, snapshot=snapshot),
    )


def _standing_without_batches(wave: Wave) -> Standing:
    if hasattr(wave, "discard"):
        return Standing.DISCARDED
    if wave.is_open or wave.batches.exists() or RawReport.objects.filter(wave=wave).exists():
        return Standing.WAITING
    return Standing.EMPTY


def _find_chart(*, wave: Wave, snapshot: Snapshot) -> Chart | None:
    """The chart of exactly this snapshot: numbers and picture never disagree on a page."""
    return Chart.objects.filter(
        wave=wave, through_batch=snapshot.through_batch, final=snapshot.final
    ).first()


def read_results(*, wave: Wave, snapshot: Snapshot) -> Results:
    """Join a snapshot's estimates with the texts and mechanisms of the manifest."""
    try:
        return _join_results(wave=wave, snapshot=snapshot)
    except (KeyError, TypeError, ValueError) as error:
        recompute_later(snapshot)
        raise UnreadableSnapshotError from error


def _join_results(*, wave: Wave, snapshot: Snapshot) -> Results:
    manifest = wave.description
    by_name = {stored["name"]: stored for stored in snapshot.estimates}
    return Results(
        wave=wave,
        manifest=manifest,
        snapshot=snapshot,
        questions=tuple(
            _read_question(question, by_name[question.name], wave.display_minimum)
            for question in manifest.questions
            if question.is_protected
        ),
        declared=_read_declared(manifest, snapshot, minimum=wave.display_minimum),
        fixed_end=snapshot.final and ended_as_frozen(wave),
    )


def _read_question(
    question: ManifestQuestion, stored: Mapping[str, Any], minimum: int
) -> QuestionResult:
    total = stored["total"]
    rows = {row["figure"]: row for row in stored["figures"]}
    return QuestionResult(
        number=question.number,
        question=question,
        total=total,
        estimates=tuple(
            _read_estimate(estimand, question, rows[estimand.name], total)
            for estimand in estimands_of(question)
            if total >= minimum
        ),
        level=stored["level"],
        simultaneous_level=stored["together_level"],
        alarm=stored["alarm"],
    )


def _read_estimate(
    estimand: Estimand, question: ManifestQuestion, row: Mapping[str, Any], total: int
) -> Estimate:
    simultaneous_low, simultaneous_high = row["together"]
    return Estimate(
        estimand=estimand,
        scale=_scale_of(estimand, question),
        total=total,
        count=row["count"],
        raw_share=row["raw_share"],
        estimate=row["estimate"],
        joint_estimate=row["joint_estimate"],
        standard_error=row["standard_error"],
        effective_sample_size=_positive(row["effective_total"]),
        low=row["low"],
        high=row["high"],
        inner_intervals=tuple(
            InnerInterval(level=level, low=low, high=high) for level, low, high in row["guides"]
        ),
        simultaneous_low=simultaneous_low,
        simultaneous_high=simultaneous_high,
        method=row["method"],
        simultaneous_method=row["together_method"],
        contradiction=row["contradiction"],
    )


def _scale_of(estimand: Estimand, question: ManifestQuestion) -> tuple[float, float]:
    if estimand.kind is Kind.SHARE:
        return 0.0, 1.0
    assert question.minimum is not None
    assert question.maximum is not None
    return float(question.minimum), float(question.maximum)


def _positive(value: float | None) -> float | None:
    """Outside [0, 1] a share has no effective number of respondents: it is left out."""
    return value if value is not None and math.isfinite(value) and value > 0 else None


# --- groups that are sent as they are -------------------------------------------------------------


def _read_declared(
    manifest: Manifest, snapshot: Snapshot, *, minimum: int
) -> tuple[DeclaredResult, ...]:
    counts = Columns.of(manifest).read_counts(snapshot.counts)
    by_symbol = {symbol.name: cells for symbol, cells in zip(manifest.symbols, counts, strict=True)}
    return tuple(
        DeclaredResult(
            number=question.number,
            question=question,
            groups=_read_groups(question, by_symbol[question.name], minimum=minimum),
        )
        for question in manifest.questions
        if question.is_declared
    )


def _read_groups(
    question: ManifestQuestion, counts: Sequence[int], *, minimum: int
) -> tuple[GroupResult, ...]:
    hidden = hide_small_groups(counts, minimum=minimum)
    return tuple(
        GroupResult(
            text=option.text,
            code=option.code,
            count=None if option.code in hidden else counts[option.code],
        )
        for option in question.options
    )


def hide_small_groups(counts: Sequence[int], *, minimum: int) -> frozenset[int]:
    """The codes whose groups are not shown, because they or all hidden ones together are small.

    One small group alone could be found by subtracting the others from the total, so the next
    smallest is hidden with it until those hidden together reach the minimum.
    """
    order = sorted(range(len(counts)), key=lambda code: (counts[code], code))
    hidden: list[int] = []
    for code in order:
        together = sum(counts[other] for other in hidden)
        if counts[code] >= minimum and (together == 0 or together >= minimum):
            break
        hidden.append(code)
    return frozenset(hidden)
