"""What may be said about a survey now: the newest snapshot, or why there is nothing to show.

Pages, API, charts and exports all read results here, so the display minimum is checked in
one place and a figure means the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from aggregator.estimates import codes_shown
from aggregator.models import Chart, RawReport, Snapshot
from aggregator.snapshots import newest_snapshot
from privacy.attacks import Band, robustness_band
from surveys.manifest import Manifest, ManifestQuestion, Option, parse_manifest
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
class Guide:
    """A narrower interval inside the main one; it covers less reliably at small n."""

    level: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class CodeResult:
    """One option of one question. Shares are fractions and are never clipped here."""

    code: int
    text: str
    count: int
    raw_share: float
    estimate: float
    joint_estimate: float
    standard_error: float
    effective_total: float | None
    low: float
    high: float
    guides: tuple[Guide, ...]
    together_low: float
    together_high: float

    @property
    def shown(self) -> float:
        """The estimate cut to [0, 1], for display only."""
        return min(max(self.estimate, 0.0), 1.0)

    @property
    def is_clipped(self) -> bool:
        return self.shown != self.estimate


@dataclass(frozen=True, kw_only=True)
class QuestionResult:
    number: int
    question: ManifestQuestion
    total: int
    codes: tuple[CodeResult, ...]  # in the order of the options
    interval_method: str
    interval_level: float
    together_method: str
    together_level: float
    contradiction: bool
    alarm: bool

    @property
    def interest(self) -> tuple[CodeResult, ...]:
        """The options that screens and charts show: of yes and no only the yes."""
        shown = codes_shown(self.question)
        return tuple(code for code in self.codes if code.code in shown)

    def band(self, code: CodeResult, *, fake_share: float) -> Band:
        """The interval if so many of the reports were invented, whatever they say."""
        return robustness_band(
            low=code.low,
            high=code.high,
            fake_share=fake_share,
            mechanism=self.question.mechanism,
        )

    def status_of(self, code: CodeResult) -> Status:
        if self.alarm:
            return Status.ALARM
        if self.contradiction:
            return Status.CONTRADICTION
        return Status.OUTSIDE if code.is_clipped else Status.OK


@dataclass(frozen=True, kw_only=True)
class Results:
    """The newest snapshot of a wave, read beside its manifest."""

    wave: Wave
    manifest: Manifest
    snapshot: Snapshot
    questions: tuple[QuestionResult, ...]

    @property
    def fixed_end(self) -> bool:
        """Whether the wave ended as frozen, so that intervals for one look are honest."""
        return all(q.interval_method != "confidence_sequence" for q in self.questions)

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
        drawn = "drawn" if self.chart else "undrawn"
        return f"{self.snapshot.through_batch}-{int(self.snapshot.final)}-{drawn}"

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


def find_view(survey: Survey) -> View:
    """Read what may be shown of a survey's newest wave."""
    wave = survey.waves.select_related("discard").order_by("-number").first()
    if wave is None:
        return View(survey=survey, wave=None, standing=Standing.DRAFT)
    wave.survey = survey
    manifest = parse_manifest(bytes(wave.manifest))
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
    return View(
        survey=survey,
        wave=wave,
        standing=Standing.SHOWN,
        manifest=manifest,
        snapshot=snapshot,
        results=read_results(wave=wave, snapshot=snapshot),
        chart=_find_chart(wave=wave, snapshot=snapshot),
    )


def _standing_without_batches(wave: Wave) -> Standing:
    if hasattr(wave, "discard"):
        return Standing.DISCARDED
    if wave.is_open or wave.batches.exists() or RawReport.objects.filter(wave=wave).exists():
        return Standing.WAITING
    return Standing.EMPTY


def _find_chart(*, wave: Wave, snapshot: Snapshot) -> Chart | None:
    """The chart of exactly this snapshot: figures and picture never disagree on a page."""
    return Chart.objects.filter(
        wave=wave, through_batch=snapshot.through_batch, final=snapshot.final
    ).first()


def read_results(*, wave: Wave, snapshot: Snapshot) -> Results:
    """Join a snapshot's figures with the texts and mechanisms of the manifest."""
    manifest = parse_manifest(bytes(wave.manifest))
    return Results(
        wave=wave,
        manifest=manifest,
        snapshot=snapshot,
        questions=tuple(
            _read_question(number, question, figures)
            for number, (question, figures) in enumerate(
                zip(manifest.questions, snapshot.estimates, strict=True), start=1
            )
        ),
    )


def _read_question(
    number: int, question: ManifestQuestion, figures: Mapping[str, Any]
) -> QuestionResult:
    by_code = {row["code"]: row for row in figures["codes"]}
    return QuestionResult(
        number=number,
        question=question,
        total=figures["total"],
        codes=tuple(_read_code(option, by_code[option.code]) for option in question.options),
        interval_method=figures["interval"]["method"],
        interval_level=figures["interval"]["level"],
        together_method=figures["together"]["method"],
        together_level=figures["together"]["level"],
        contradiction=figures["contradiction"],
        alarm=figures["alarm"],
    )


def _read_code(option: Option, figures: Mapping[str, Any]) -> CodeResult:
    together_low, together_high = figures["together"]
    return CodeResult(
        code=option.code,
        text=option.text,
        count=figures["count"],
        raw_share=figures["raw_share"],
        estimate=figures["estimate"],
        joint_estimate=figures["joint_estimate"],
        standard_error=figures["standard_error"],
        effective_total=_positive(figures["effective_total"]),
        low=figures["low"],
        high=figures["high"],
        guides=tuple(
            Guide(level=level, low=low, high=high) for level, low, high in figures["guides"]
        ),
        together_low=together_low,
        together_high=together_high,
    )


def _positive(value: float | None) -> float | None:
    """Outside [0, 1] a share has no effective number of respondents: it is left out."""
    return value if value is not None and math.isfinite(value) and value > 0 else None
