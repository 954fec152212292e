"""Which questions that the file of rows does not have are broken down.

Each is safe by itself (`hiding.py`), but its groups can be added to and subtracted from those of
the others, of the rows and of rules. Questions are shown in the order of the survey as long as no
such sum says anything about few people. Which ones these are depends on declared answers and the
choice of the background alone, never on who looked at what first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregator.background.conditions import Combinations, find_condition_groups, list_declared
from aggregator.background.levels import Background, find_levels, read_background
from aggregator.background.overlaps import Groups, leave_few
from aggregator.background.proposing import number_rows
from aggregator.comparisons.breakdown.hiding import find_hidden
from aggregator.models import RowsFile
from aggregator.results.equations import count_people_needed
from surveys.manifest.manifest import Manifest


@dataclass(frozen=True, kw_only=True, eq=False)
class _Part:
    """The people who were asked the same questions; the arrays have a row for each combination."""

    marks: NDArray[np.int64]  # which combinations the file of rows tells apart
    people: NDArray[np.int64]
    conditions: Groups
    groups: Mapping[str, Groups]  # those shown for each question
    needed: int


def find_broken_down(
    manifest: Manifest, found: Combinations, rows_file: RowsFile
) -> frozenset[str]:
    """Name the questions that are broken down, of those that the file of rows does not have."""
    parts = list(_list_parts(manifest, found, rows_file))
    names = list(parts[0].groups)
    if _may_add(parts, [], names):
        return frozenset(names)
    shown: list[str] = []
    for name in names:
        if _may_add(parts, shown, [name]):
            shown.append(name)
    return frozenset(shown)


def _may_add(parts: list[_Part], shown: list[str], new: list[str]) -> bool:
    return not any(
        leave_few(
            np.concatenate([part.conditions, *(part.groups[name] for name in shown)], axis=1),
            np.concatenate([part.conditions[:, :0], *(part.groups[name] for name in new)], axis=1),
            marks=part.marks,
            people=part.people,
            needed=part.needed,
        )
        for part in parts
    )


def _list_parts(manifest: Manifest, found: Combinations, rows_file: RowsFile) -> Iterator[_Part]:
    declared = list_declared(manifest)
    background = read_background(rows_file.chosen or [])
    outside = [
        (place, question)
        for place, question in enumerate(declared)
        if find_levels(background, question.name) is None
    ]
    marks = _mark(manifest, found, background, has_files_of_blocks=rows_file.has_files_of_blocks)
    for part in found.parts:
        asked, groups = found.find_asked(part), {}
        for place, question in outside:
            hidden = find_hidden(
                manifest,
                _count(found, place, question.k, None),
                [_count(found, place, question.k, one) for one in found.parts if one is not None],
                has_files_of_blocks=rows_file.has_files_of_blocks,
            ).of_block(part)
            shown = [code for code in range(question.k) if code not in hidden]
            groups[question.name] = np.eye(question.k, dtype=np.bool_)[
                found.declared[asked, place]
            ][:, shown]
        yield _Part(
            marks=marks[asked],
            people=found.people[asked],
            conditions=find_condition_groups(manifest, found, part=part).groups[asked],
            groups=groups,
            needed=count_people_needed(manifest, block=part),
        )


def _mark(
    manifest: Manifest, found: Combinations, background: Background, *, has_files_of_blocks: bool
) -> NDArray[np.int64]:
    """Number the combinations that the file of rows tells apart; files of blocks have none."""
    if has_files_of_blocks:
        return np.zeros(len(found.people), dtype=np.int64)
    levels = [
        own.number_codes()[found.declared[:, place]]
        for place, question in enumerate(list_declared(manifest))
        if (own := find_levels(background, question.name)) is not None
    ]
    _, marks = number_rows(np.column_stack([found.masks, *levels]), found.people)
    return marks


def _count(found: Combinations, place: int, k: int, part: int | None) -> list[int]:
    """Count the people of each answer, of all or of those who were asked a block."""
    people = np.where(found.find_asked(part), found.people, 0)
    counts = np.bincount(found.declared[:, place], weights=people, minlength=k)
    return [int(count) for count in counts]
