"""Decide which questions outside the file of rows are broken down.

Breaking down by each question alone is safe (`hiding.py`), but its groups can be added to or
subtracted from the groups of other questions, of the file of rows and of rules. Questions are
admitted in the order of the survey. A question is left out if such a sum or difference would reveal
something about few people. The choice depends only on declared answers and the chosen background,
never on the order in which breakdowns are opened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregator.background.levels import Background, find_levels, read_background
from aggregator.background.proposing import number_rows
from aggregator.batches.combinations import Combinations, list_declared
from aggregator.comparisons.breakdown.hiding import find_hidden
from aggregator.models import RowsFile
from aggregator.results.groups.conditions import find_condition_groups
from aggregator.results.groups.crossings import list_crossings
from aggregator.results.groups.equations import count_people_needed
from aggregator.results.groups.overlaps import Groups, leave_few
from aggregator.results.groups.told import admit, join_groups
from surveys.manifest.manifest import Manifest


@dataclass(frozen=True, kw_only=True, eq=False)
class _Part:
    """The people who were asked the same questions; the arrays have a row for each combination."""

    marks: NDArray[np.int64]  # which combinations the file of rows distinguishes
    people: NDArray[np.int64]
    conditions: Groups  # groups of rules, and of comparisons with other blocks
    groups: Mapping[str, Groups]  # the shown groups of each question
    needed: int


def find_broken_down(
    manifest: Manifest, found: Combinations, rows_file: RowsFile, *, told: Collection[str]
) -> tuple[str, ...]:
    """Name the questions outside the file of rows that are broken down."""
    parts = list(_list_parts(manifest, found, rows_file))

    def may_add(shown: Sequence[str], new: Sequence[str]) -> bool:
        return not any(
            leave_few(
                np.concatenate([part.conditions, join_groups(part.groups, shown)], axis=1),
                join_groups(part.groups, new),
                marks=part.marks,
                people=part.people,
                needed=part.needed,
                sure=manifest.crowd - 1,
            )
            for part in parts
        )

    return admit([name for name in parts[0].groups if name in told], may_add)


def _list_parts(manifest: Manifest, found: Combinations, rows_file: RowsFile) -> Iterator[_Part]:
    declared = list_declared(manifest)
    background = read_background(rows_file.chosen or [])
    outside = [
        (place, question)
        for place, question in enumerate(declared)
        if find_levels(background, question.name) is None
    ]
    marks = _mark(manifest, found, background, has_files_of_blocks=rows_file.has_files_of_blocks)
    blocks = [part for part in found.parts if part is not None]
    for part in found.parts:
        asked, groups = found.find_asked(part), {}
        for place, question in outside:
            hidden = find_hidden(
                manifest,
                found.count(place, question.k),
                [found.count(place, question.k, part=block) for block in blocks],
                has_files_of_blocks=rows_file.has_files_of_blocks,
            ).of_block(part)
            shown = [code for code in range(question.k) if code not in hidden]
            groups[question.name] = np.eye(question.k, dtype=np.bool_)[
                found.declared[asked, place]
            ][:, shown]
        conditions, _ = find_condition_groups(manifest, found, part=part)
        if part is not None and rows_file.crosses_files:
            conditions = np.concatenate([conditions, list_crossings(found, part)], axis=1)
        yield _Part(
            marks=marks[asked],
            people=found.people[asked],
            conditions=conditions[asked],
            groups=groups,
            needed=count_people_needed(manifest, block=part),
        )


def _mark(
    manifest: Manifest, found: Combinations, background: Background, *, has_files_of_blocks: bool
) -> NDArray[np.int64]:
    """Number the combinations that the file of rows distinguishes; use 0 for files of blocks."""
    if has_files_of_blocks:
        return np.zeros(len(found.people), dtype=np.int64)
    levels = [
        own.number_codes()[found.declared[:, place]]
        for place, question in enumerate(list_declared(manifest))
        if (own := find_levels(background, question.name)) is not None
    ]
    _, marks = number_rows(np.column_stack([found.masks, *levels]), found.people)
    return marks
