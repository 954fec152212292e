"""The groups that estimates are about before the background of the file of rows is chosen.

A rule that reads declared questions gives the codes of everybody for whom it holds. These figures
are there from the close on, so neither the file of rows nor a break down may single out few people
together with them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregator.background.overlaps import Groups, leave_few
from aggregator.batches.joint_tables import list_tables
from aggregator.results.equations import count_people_behind, list_conditions
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion


@dataclass(frozen=True, kw_only=True, eq=False)
class Combinations:
    """The combinations of masks and declared codes that occur, a row for each."""

    masks: NDArray[np.uint8]
    declared: NDArray[np.uint8]
    people: NDArray[np.int64]  # who have each combination

    @property
    def parts(self) -> list[int | None]:
        """The blocks of a random subset, or None for all people: who was asked the same."""
        return [*range(self.masks.shape[1])] or [None]

    def find_asked(self, part: int | None) -> NDArray[np.bool_]:
        """Return which combinations hold people who were asked a block."""
        if part is None:
            return np.ones(len(self.people), dtype=np.bool_)
        asked: NDArray[np.bool_] = self.masks[:, part] == 1
        return asked


@dataclass(frozen=True, kw_only=True, eq=False)
class ConditionGroups:
    """The groups of all rules that figures are shown for, and the people whom each needs."""

    groups: Groups
    needed: int


def list_declared(manifest: Manifest) -> list[ManifestQuestion]:
    return [question for question in manifest.questions if question.is_declared]


def find_condition_groups(
    manifest: Manifest, found: Combinations, *, part: int | None
) -> ConditionGroups:
    """Find the groups of people that estimates about one part of the survey tell apart."""
    tables, needed = list_tables(manifest), 0
    places = {question.name: place for place, question in enumerate(list_declared(manifest))}
    people = np.where(found.find_asked(part), found.people, 0)
    columns = [np.empty((len(people), 0), dtype=np.bool_)]
    for table in tables:
        conditions = [axis for axis in table.parents if axis.symbol.name in list_conditions(table)]
        if table.mask != part or not conditions:
            continue
        shape = [axis.size for axis in conditions]
        classes = [
            np.array(axis.classes)[found.declared[:, places[axis.symbol.name]]]
            for axis in conditions
        ]
        cells = np.ravel_multi_index(classes, shape)
        sizes = np.bincount(cells, weights=people, minlength=int(np.prod(shape)))
        least = count_people_behind(manifest, table, tables)
        if not ((sizes > 0) & (sizes < least)).any():
            columns.append(np.eye(len(sizes), dtype=np.bool_)[cells])
            needed = max(needed, least)
    return ConditionGroups(groups=np.concatenate(columns, axis=1), needed=needed)


def leaves_few(manifest: Manifest, found: Combinations, marks: NDArray[np.int64]) -> bool:
    """Whether rows that are marked like this say something about few people, with all rules."""
    for part in found.parts:
        conditions, asked = (
            find_condition_groups(manifest, found, part=part),
            found.find_asked(part),
        )
        groups = conditions.groups[asked]
        if groups.shape[1] and leave_few(
            groups[:, :0],
            groups,
            marks=marks[asked],
            people=found.people[asked],
            needed=conditions.needed,
        ):
            return True
    return False
