"""The results that a survey may show now, or the reason why it shows none.

Pages, the API, charts and exports all read results here, so the crowd is checked in one place and
an estimate means the same everywhere.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from aggregator.batches.bursts import count_burst_reports
from aggregator.batches.columns import Columns
from aggregator.models import RawReport, Snapshot
from aggregator.results.estimate import QuestionResult
from aggregator.results.groups.small_groups import hide_small_groups
from aggregator.results.looks import EVERYBODY, find_part, list_least, reports_needed
from aggregator.results.snapshots import (
    UnreadableSnapshotError,
    ended_as_frozen,
    find_shown,
    newest_snapshot,
    recompute_later,
)
from privacy.shares.intervals import clopper_pearson
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.questions import REFUSED_TEXT, ManifestQuestion
from surveys.models import Survey, Wave

# The intervals need some noise, however little. This amount changes no digit of a share.
_NO_NOISE = 1e-12


class Standing(Enum):
    """How far a survey has come towards results."""

    DRAFT = "draft"
    WAITING = "waiting"  # there has been no look yet
    RECOMPUTING = "recomputing"  # estimated by an earlier version that stored other names
    EMPTY = "empty"  # closed, and no report ever came
    DISCARDED = "discarded"  # closed below the minimum batch; the reports were deleted
    TOO_FEW = "too-few"  # below the crowd C
    AT_CLOSE = "at-close"  # open, with results that are shown only at the close
    SHOWN = "shown"


@dataclass(frozen=True, kw_only=True)
class GroupResult:
    """One option of a question that is not scrambled; a small group's count is hidden."""

    text: str
    code: int
    count: int | None
    share: float | None  # of all who were asked; None without a count, like `low` and `high`
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class DeclaredResult:
    question: ManifestQuestion
    total: int
    groups: tuple[GroupResult, ...]
    hidden: frozenset[int] = frozenset()  # codes that no file or page may show
    nobody: frozenset[int] = frozenset()  # other codes that nobody sent


@dataclass(frozen=True, kw_only=True)
class Results:
    """A snapshot of a wave, read together with the wave's manifest."""

    wave: Wave
    manifest: Manifest
    snapshot: Snapshot
    questions: tuple[QuestionResult, ...]
    declared: tuple[DeclaredResult, ...]  # empty until the results are final
    fixed_end: bool  # the wave ended at a date or cap fixed in advance
    # Whether no other snapshot will ever be shown, because the wave is closed and counted. The
    # snapshot need not be final: a snapshot that an earlier version showed is still shown if the
    # final snapshot has fewer reports than C.
    is_settled: bool

    def find_look(self, question: ManifestQuestion) -> int:
        """Return the batch of the last look at a question."""
        block = self.manifest.blocks.get(question.name)
        return self.snapshot.find_look(find_part(self.manifest, block))

    @property
    def is_final(self) -> bool:
        """Whether the wave is closed and all its reports are counted.

        Breakdowns by declared answers and the file of rows exist only then. If they existed
        earlier, the differences between two looks would reveal the few people who answered between
        these looks.
        """
        return self.snapshot.final

    @property
    def is_one_look(self) -> bool:
        """Whether nobody saw earlier results. Inner intervals exist only in this case."""
        return any(one.intervals.inner for each in self.questions for one in each.estimates)

    @property
    def has_rows(self) -> bool:
        """Whether the rows may be exported; rows of coins never are, because few people use coins.

        Figures that an earlier version showed for fewer than C reports are still shown, but their
        rows are not exported.
        """
        return (
            self.is_final
            and self.wave.mode == Mode.ELECTRONIC
            and self.snapshot.total >= self.wave.crowd
        )

    @property
    def nobody(self) -> frozenset[tuple[str, int]]:
        """The empty groups of declared questions, by name and code, once they are counted."""
        return frozenset((one.question.name, code) for one in self.declared for code in one.nobody)

    @property
    def alarms(self) -> tuple[QuestionResult, ...]:
        """Questions whose codes the design could not plausibly have produced."""
        return tuple(question for question in self.questions if question.alarm)

    def count_burst_reports(self) -> int:
        """Return a lower bound on the number of reports in bursts, which changes only at looks."""
        return count_burst_reports(
            self.wave,
            through_batch=self.snapshot.find_look(EVERYBODY),
            final=self.snapshot.final or self.snapshot.is_half,
        )


@dataclass(frozen=True, kw_only=True)
class View:
    """A survey's standing; `results` is None unless results may be shown."""

    survey: Survey
    wave: Wave | None
    standing: Standing
    manifest: Manifest | None = None
    snapshot: Snapshot | None = None
    results: Results | None = None

    @property
    def seen(self) -> str:
        """A string in the URL of the panel; it changes exactly when the display does."""
        if self.snapshot is None:
            return f"0-0-{self.standing.value}"
        return f"{self.snapshot.through_batch}-{int(self.snapshot.final)}-{self.standing.value}"

    @property
    def next_look(self) -> int:
        """How many new reports must be sealed before the displayed number of reports changes."""
        assert self.manifest is not None
        return reports_needed(
            seen=self.snapshot.total if self.snapshot else 0,
            least=list_least(self.manifest)[EVERYBODY],
        )

    @property
    def shown_from(self) -> int:
        """How many reports must be sealed before results can be shown."""
        assert self.wave is not None
        seen = self.snapshot.total if self.snapshot else 0
        return max(self.wave.crowd, seen + self.next_look)

    @property
    def first_look(self) -> int:
        """How many reports must arrive before results are shown, including the K left unsealed."""
        assert self.manifest is not None
        return self.shown_from + self.manifest.minimum_batch

    @property
    def is_settled(self) -> bool:
        """Whether this view will never change again."""
        if self.standing in (Standing.EMPTY, Standing.DISCARDED):
            return True
        if self.results is not None:
            return self.results.is_settled
        return self.snapshot is not None and self.snapshot.final


def find_view(survey: Survey, *, mode: str = Mode.ELECTRONIC) -> View:
    """Return what may be shown of a survey's newest browser wave, or of its newest coin wave."""
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
    shown = find_shown(wave, snapshot)
    if shown is None:
        is_enough = snapshot.total >= wave.crowd
        return View(
            survey=survey,
            wave=wave,
            standing=Standing.AT_CLOSE if is_enough else Standing.TOO_FEW,
            manifest=manifest,
            snapshot=snapshot,
        )
    try:
        results = read_results(wave=wave, snapshot=shown, newest=snapshot)
    except UnreadableSnapshotError:
        return View(survey=survey, wave=wave, standing=Standing.RECOMPUTING, manifest=manifest)
    return View(
        survey=survey,
        wave=wave,
        standing=Standing.SHOWN,
        manifest=manifest,
        snapshot=shown,
        results=results,
    )


def _standing_without_batches(wave: Wave) -> Standing:
    # A protected survey that nobody answered is also WAITING, to keep secret whether anybody did.
    if hasattr(wave, "discard"):
        return Standing.DISCARDED
    if (
        wave.is_open
        or wave.keeps_counts
        or wave.batches.exists()
        or RawReport.objects.filter(wave=wave).exists()
    ):
        return Standing.WAITING
    return Standing.EMPTY


def read_results(*, wave: Wave, snapshot: Snapshot, newest: Snapshot | None = None) -> Results:
    """Join a snapshot's estimates with the texts and mechanisms of the manifest.

    `newest` is the newest snapshot of the wave, if `snapshot` is an older one.
    """
    try:
        return _join_results(wave=wave, snapshot=snapshot, is_settled=(newest or snapshot).final)
    except (KeyError, TypeError, ValueError) as error:
        recompute_later(snapshot)
        raise UnreadableSnapshotError from error


def _join_results(*, wave: Wave, snapshot: Snapshot, is_settled: bool) -> Results:
    manifest = wave.description
    fixed_end = snapshot.final and ended_as_frozen(wave)
    kept = snapshot.earlier_final
    minimum = wave.crowd if kept is None else wave.display_minimum
    by_name = {stored["name"]: stored for stored in snapshot.estimates}
    return Results(
        wave=wave,
        manifest=manifest,
        snapshot=snapshot,
        questions=tuple(
            QuestionResult.from_json(by_name[question.name], question, minimum=minimum)
            for question in manifest.questions
            if question.is_scrambled
        ),
        declared=_read_declared(
            manifest,
            snapshot,
            minimum=wave.display_minimum if kept else wave.crowd,
            told={question.name for question in manifest.questions} if kept else snapshot.told,
        )
        if snapshot.final
        else (),
        fixed_end=fixed_end,
        is_settled=is_settled,
    )


def _read_declared(
    manifest: Manifest,
    snapshot: Snapshot,
    *,
    minimum: int,
    told: Collection[str],
) -> tuple[DeclaredResult, ...]:
    counts = Columns.of(manifest).read_counts(snapshot.counts)
    by_symbol = {symbol.name: cells for symbol, cells in zip(manifest.symbols, counts, strict=True)}
    return tuple(
        _read_groups(
            question,
            tuple(by_symbol[question.name]),
            minimum=minimum,
            is_told=question.name in told,
        )
        for question in manifest.questions
        if question.is_declared
    )


def _read_groups(
    question: ManifestQuestion,
    counts: tuple[int, ...],
    *,
    minimum: int,
    is_told: bool,
) -> DeclaredResult:
    hidden = (
        hide_small_groups(counts, minimum=minimum) if is_told else frozenset(range(len(counts)))
    )
    groups = [(option.code, option.text) for option in question.options]
    if question.refused_code is not None:
        groups.append((question.refused_code, REFUSED_TEXT))
    total = sum(counts)
    ends = find_share_ends(counts)
    return DeclaredResult(
        question=question,
        total=total,
        groups=tuple(
            GroupResult(text=text, code=code, count=None, share=None)
            if code in hidden
            else GroupResult(
                text=text,
                code=code,
                count=counts[code],
                share=counts[code] / total,
                low=ends[code][0],
                high=ends[code][1],
            )
            for code, text in groups
        ),
        hidden=hidden,
        nobody=frozenset(code for code, count in enumerate(counts) if not count) - hidden,
    )


@lru_cache(maxsize=256)
def find_share_ends(counts: tuple[int, ...]) -> tuple[tuple[float, float], ...]:
    """Return the ends of each group's 95 % interval for the population that was sampled.

    Each interval is the guaranteed interval of a plain sample share. It is valid because groups are
    shown only at the close, so nobody can have watched them.
    """
    found = clopper_pearson(
        successes=counts,
        total=sum(counts),
        other_probability=_NO_NOISE,
        slope=1 - 2 * _NO_NOISE,
    )
    return tuple(zip(found.low.tolist(), found.high.tolist(), strict=True))
