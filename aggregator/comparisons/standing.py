"""Read a comparison's result, what it may be used for, and whether it is still the newest."""

from __future__ import annotations

from dataclasses import dataclass

from aggregator.batches.halves import find_half_with_groups
from aggregator.comparisons.breakdown.result import BreakdownResult
from aggregator.comparisons.choice import GROUPS_AFTER_CLOSE, find_looks, is_across_blocks
from aggregator.comparisons.jobs import (
    OLDER_METHOD,
    compute_again,
    divides_by_groups,
    is_of_final_snapshot,
    list_compared,
    withdraw,
)
from aggregator.comparisons.result import ComparisonResult, StoredResult
from aggregator.comparisons.stored import (
    RESULT_CLASSES,
    UnreadableResult,
    check_names,
    read_result,
)
from aggregator.models import Comparison, Snapshot
from aggregator.results.display import read_results
from aggregator.results.snapshots import (
    METHOD_VERSION,
    UnreadableSnapshotError,
    ended_as_frozen,
    newest_snapshot,
)
from surveys.comparing.indicators import list_names
from surveys.manifest.manifest import Manifest

# The first method version that compares groups and blocks only as the file of rows allows.
FIRST_WITH_ROWS_FILE = 11


@dataclass(frozen=True, kw_only=True)
class ComparisonStanding:
    """The result of a comparison and how far it can be trusted."""

    manifest: Manifest
    result: ComparisonResult | None
    fixed_end: bool
    is_newest: bool
    # The number of comparisons planned before opening if this is one of them, otherwise 0.
    planned: int
    alarms: tuple[str, ...]  # names of questions in alarm
    breakdown: BreakdownResult | None = None  # the result of a breakdown

    @property
    def contradiction(self) -> bool:
        """Whether the valid test says that no true answers at all can explain the joint codes."""
        return self.result is not None and self.result.contradiction.applies(
            fixed_end=self.fixed_end
        )

    @property
    def is_impossible(self) -> bool:
        """Whether the design could hardly produce these codes, so no result may be used."""
        return self.contradiction or bool(self.alarms)


def is_of_survey(comparison: Comparison, manifest: Manifest) -> bool:
    """Return whether this version knows the comparison's kind and the survey has its indicators.

    The function returns False for breakdowns, because they have other pages.
    """
    return comparison.kind in RESULT_CLASSES and set(comparison.names) <= list_names(manifest)


def find_standing(comparison: Comparison) -> ComparisonStanding:
    """Read the result and the present state of its wave, which decides which test is valid.

    A comparison whose stored result this version cannot read is queued again, so that the sweep
    finds it.
    """
    wave = comparison.wave
    manifest = wave.description
    newest = newest_snapshot(wave)
    is_newest = (
        newest is not None
        and _counts_the_same(comparison, newest)
        and comparison.method_version == METHOD_VERSION
    )
    result = _find_result(comparison, manifest)
    return ComparisonStanding(
        manifest=manifest,
        result=None if isinstance(result, BreakdownResult) else result,
        breakdown=result if isinstance(result, BreakdownResult) else None,
        fixed_end=is_newest and newest is not None and newest.final and ended_as_frozen(wave),
        is_newest=is_newest,
        planned=wave.planned_comparisons if comparison.planned else 0,
        alarms=_find_alarms(comparison),
    )


def _find_result(comparison: Comparison, manifest: Manifest) -> StoredResult | None:
    if comparison.is_settled and (problem := _find_withdrawal(comparison, manifest)):
        withdraw(comparison, problem=problem)
    if comparison.state != Comparison.State.DONE:
        return None
    try:
        result = read_result(comparison.kind, comparison.result, indicators=list_names(manifest))
        if isinstance(result, BreakdownResult):
            check_names(result, manifest)
    except UnreadableResult:
        compute_again(comparison)
        return None
    return result


def _find_withdrawal(comparison: Comparison, manifest: Manifest) -> str:
    """Say why an earlier version's result is no longer shown, or return an empty string if it is.

    Earlier versions compared groups of open waves, groups that no file of rows has, and any two
    blocks that enough people were asked.
    """
    if comparison.kind == Comparison.Kind.CLAIM:
        return ""  # the groups of both halves were checked when the halves were drawn
    by_groups = divides_by_groups(comparison, manifest)
    if by_groups and not _is_of_half(comparison) and not is_of_final_snapshot(comparison):
        return GROUPS_AFTER_CLOSE
    is_older = comparison.method_version < FIRST_WITH_ROWS_FILE
    if is_older and (by_groups or is_across_blocks(manifest, list_compared(comparison, manifest))):
        return OLDER_METHOD
    return ""


def _is_of_half(comparison: Comparison) -> bool:
    """Return whether an open half allows the comparison: all pairs, or a table with groups."""
    if comparison.kind == Comparison.Kind.TABLE:
        through_batch = comparison.through_batch
        return find_half_with_groups(comparison.wave, through_batch=through_batch) is not None
    is_of_half = comparison.wave.snapshots.filter(
        through_batch=comparison.through_batch, is_half=True
    ).exists()
    return comparison.kind == Comparison.Kind.PAIRS and is_of_half


def _counts_the_same(comparison: Comparison, snapshot: Snapshot) -> bool:
    """Return whether a snapshot shows the comparison's questions as of the comparison's batch."""
    looks = find_looks(
        manifest=comparison.wave.description,
        snapshot=snapshot,
        kind=comparison.kind,
        names=comparison.names,
    )
    return set(looks.values()) == {comparison.through_batch}


def _find_alarms(comparison: Comparison) -> tuple[str, ...]:
    """Name the comparison's questions that are in alarm in the snapshot of the same batches."""
    # Looks only advance, so only the first snapshot with the batch can have the same looks.
    same = (
        comparison.wave.snapshots.filter(
            through_batch__gte=comparison.through_batch, method_version=METHOD_VERSION
        )
        .order_by("through_batch")
        .first()
    )
    if same is None or not _counts_the_same(comparison, same):
        return ()
    try:
        results = read_results(wave=comparison.wave, snapshot=same)
    except UnreadableSnapshotError:
        return ()
    alarms = {question.question.name for question in results.alarms}
    if comparison.kind in (Comparison.Kind.PAIRS, Comparison.Kind.BREAKDOWN):
        return tuple(sorted(alarms))  # these involve all questions
    involved = {name.partition(".")[0] for name in comparison.names}
    return tuple(sorted(alarms & involved))
