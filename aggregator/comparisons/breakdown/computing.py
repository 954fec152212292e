"""Form the groups of a breakdown and estimate every question in each group.

Each group's estimates are computed as if the survey had only the group's reports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from aggregator.background.levels import Background, Level, Levels, find_levels, read_background
from aggregator.batches.columns import Columns
from aggregator.batches.group_counts import GroupCounts, count_by_group
from aggregator.batches.joint_tables import list_tables
from aggregator.comparisons.breakdown.hiding import (
    count_people,
    find_hidden,
    find_hidden_levels,
)
from aggregator.comparisons.breakdown.result import (
    BreakdownResult,
    CrossedCount,
    GroupDifference,
    GroupEstimate,
    GroupSize,
)
from aggregator.models import RowsFile
from aggregator.results.display import find_share_ends
from aggregator.results.estimate import Estimate, QuestionResult
from aggregator.results.estimating import compute_estimates
from privacy.associations.interval_difference import IntervalEstimate, difference_of_intervals
from privacy.level import LEVEL
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion

MOVER = "mover"


class GroupCounter:
    """Counts codes and joint tables for each group of a declared question, batch by batch."""

    def __init__(self, manifest: Manifest, question: ManifestQuestion) -> None:
        columns = Columns.of(manifest)
        self._ks, self._tables = columns.ks, list_tables(manifest)
        self._column = columns.places[find_place(manifest, question)]
        self._counts: GroupCounts | None = None

    def add(self, packed: bytes, *, size: int) -> None:
        more = count_by_group(
            packed, size=size, ks=self._ks, tables=self._tables, column=self._column
        )
        self._counts = more if self._counts is None else self._counts + more

    def result(self) -> GroupCounts:
        if self._counts is None:
            raise ValueError("no batch was counted")
        return self._counts


def find_place(manifest: Manifest, question: ManifestQuestion) -> int:
    """Return the position of a declared question's symbol."""
    return next(
        place for place, symbol in enumerate(manifest.symbols) if symbol.name == question.name
    )


def compute_breakdown(
    *,
    manifest: Manifest,
    question: ManifestQuestion,
    rows_file: RowsFile,
    counts: GroupCounts,
    told: Collection[str],
    shown_at: Sequence[int],
    after_each: Callable[[], None] = lambda: None,
) -> BreakdownResult:
    """Estimate every question in every group that may be shown; call `after_each` after each group.

    Groups are the question's levels in the chosen background of the file of rows, or single answers
    if the background does not contain the question.
    """
    background = read_background(rows_file.chosen or [])
    levels = find_levels(background, question.name)
    people = count_people(counts)
    if levels is None:
        hidden = find_hidden(
            manifest,
            people,
            [
                counts.columns[mask][:, 1].tolist()
                for mask in range(Columns.of(manifest).mask_count)
            ],
            has_files_of_blocks=rows_file.has_files_of_blocks,
        )
    else:
        hidden = find_hidden_levels(manifest, levels)
    everyone = frozenset(range(len(people)))
    groups = [
        GroupSize(
            code=level[0],
            others=level[1:],
            n=None if level[0] in hidden.everywhere else sum(people[code] for code in level),
        )
        for level in (question_codes(question) if levels is None else levels.levels)
    ]
    estimates: list[GroupEstimate] = []
    differences: list[GroupDifference] = []

    def estimate(codes: Collection[int]) -> dict[str, QuestionResult]:
        columns, tables = counts.gather(codes)
        found = compute_estimates(
            manifest=manifest,
            counts=columns,
            tables=tables,
            shown_at=shown_at,
            told=told,
            broken_down_by=question.name,
        )
        return {result.question.name: result for result in found}

    for group in groups:
        if not group.n:
            continue
        code, codes = group.code, {group.code, *group.others}
        own, others = estimate(codes), estimate(everyone - codes)
        for name, result in own.items():
            if code in hidden.of(manifest, result.question) or not result.total:
                continue
            estimates.extend(_write_estimate(one, code) for one in result.shown)
            if others[name].total >= manifest.crowd:
                differences.extend(_list_differences(result, others[name], code))
        after_each()
    return BreakdownResult(
        n=sum(people),
        least=hidden.least,
        groups=tuple(groups),
        estimates=tuple(estimates),
        differences=tuple(differences),
        crossed=tuple(_cross(manifest, levels, background, counts)),
    )


def question_codes(question: ManifestQuestion) -> list[Level]:
    """List the codes of the options and of "prefer not to say", each as one level."""
    declined = [] if question.refused_code is None else [question.refused_code]
    return [(code,) for code in (*(option.code for option in question.options), *declined)]


def _write_estimate(found: Estimate, group: int) -> GroupEstimate:
    return GroupEstimate(
        question=found.estimand.question.name,
        estimand=found.estimand.name,
        group=group,
        n=found.total,
        count=found.count,
        value=found.value,
        standard_error=found.standard_error,
        low=found.low,
        high=found.high,
        level=found.intervals.main.level,
        method=found.method,
        contradiction=found.contradiction,
        alarm=found.alarm,
        design_error=found.design_error,
        critical_value=found.intervals.main.critical_value,
    )


def _list_differences(
    own: QuestionResult, others: QuestionResult, group: int
) -> Iterator[GroupDifference]:
    """List the differences between figures that are both precise enough to be shown."""
    for one, other in zip(own.shown, others.shown, strict=True):
        if not (one.is_shown and other.is_shown):
            continue
        found = difference_of_intervals(first=_read(one), second=_read(other))
        yield GroupDifference(
            question=one.estimand.question.name,
            estimand=one.estimand.name,
            group=group,
            difference=found.difference,
            low=found.low,
            high=found.high,
            level=LEVEL,
            method=MOVER,
        )


def _read(found: Estimate) -> IntervalEstimate:
    assert found.value is not None
    least, greatest = found.estimand.scale
    return IntervalEstimate(
        value=found.value, low=found.low, high=found.high, least=least, greatest=greatest
    )


def _cross(
    manifest: Manifest,
    levels: Levels | None,
    background: Background,
    counts: GroupCounts,
) -> Iterator[CrossedCount]:
    """Count each group's answers to the other declared questions in the file of rows."""
    columns = Columns.of(manifest)
    places = {
        symbol.name: place for symbol, place in zip(manifest.symbols, columns.places, strict=True)
    }
    for other in background if levels is not None else ():
        if levels is None or other.question == levels.question:
            continue
        crossing = counts.columns[places[other.question]]
        for group in levels.shown:
            people = [
                int(crossing[np.ix_(list(group), list(level))].sum()) for level in other.levels
            ]
            if not any(people):
                continue
            ends = find_share_ends(tuple(people))
            for level, count, (low, high) in zip(other.levels, people, ends, strict=True):
                if not other.is_hidden(level):
                    yield CrossedCount(
                        question=other.question,
                        code=level[0],
                        others=level[1:],
                        group=group[0],
                        count=count,
                        low=low,
                        high=high,
                    )
