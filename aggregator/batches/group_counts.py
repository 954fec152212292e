"""Count columns and tables by the codes of a column, such as the groups of a declared question."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.joint_tables import JointTable, read_cells, read_columns

Counts = list[list[int]]


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupCounts:
    """The numbers of reports in each group that show each code or fall into each cell."""

    columns: tuple[NDArray[np.int64], ...]
    tables: tuple[NDArray[np.int64], ...]

    def __add__(self, other: GroupCounts) -> GroupCounts:
        pairs = zip(self.columns, other.columns, strict=True)
        return GroupCounts(
            columns=tuple(one + two for one, two in pairs),
            tables=tuple(one + two for one, two in zip(self.tables, other.tables, strict=True)),
        )

    def gather(self, groups: Collection[int]) -> tuple[Counts, Counts]:
        """Sum the columns and the tables of some groups; the sums have the format of a snapshot."""
        rows = sorted(groups)
        columns = [counts[rows].sum(axis=0).tolist() for counts in self.columns]
        return columns, [counts[rows].sum(axis=0).tolist() for counts in self.tables]


def count_by_group(
    packed: bytes, *, size: int, ks: Sequence[int], tables: Sequence[JointTable], column: int
) -> GroupCounts:
    """Count the reports of one batch by the codes of a column."""
    read = read_columns(packed, size=size, ks=ks)
    groups = read(column).astype(np.uint32)

    def count(cells: NDArray[np.uint32], width: int) -> NDArray[np.int64]:
        shape = (ks[column], width)
        return np.bincount(cells, minlength=shape[0] * width).reshape(shape).astype(np.int64)

    counted = []
    for table in tables:
        cells = groups * np.uint32(table.cells) + read_cells(table, read)
        asked = cells if table.mask is None else cells[read(table.mask) == 1]
        counted.append(count(asked, table.cells))
    return GroupCounts(
        columns=tuple(count(groups * np.uint32(k) + read(place), k) for place, k in enumerate(ks)),
        tables=tuple(counted),
    )
