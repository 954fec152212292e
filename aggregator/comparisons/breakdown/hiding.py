"""Which groups of a break down are hidden, question by question.

The published totals of a question, less those of its shown groups, are those of the hidden groups
together. So these must be many people, or nobody, for every set of people who were asked the same
questions: each block of a random subset. A group that is hidden among all people stays hidden in
each block, and every block hides more until its hidden groups are large together.

With that, what is released about a question are the counts of its codes among all people who were
asked it, and in its shown groups. Each released difference is a union of groups: one that is shown
and so large, the hidden ones together, or both. No estimate of a group uses another declared
question: it would cross the two. Counts of another declared question are released only if each of
its crossings with this one has nobody or many people (`crossed_groups` has the same rule).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.group_counts import GroupCounts
from aggregator.comparisons.crossed_groups import merge_codes
from aggregator.results.small_groups import hide_small_groups
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """The hidden codes of a declared question: of all people, and of those asked each block."""

    everywhere: frozenset[int]
    by_block: Mapping[int, frozenset[int]]  # empty if everybody is asked everything

    def of(self, manifest: Manifest, question: ManifestQuestion) -> frozenset[int]:
        """Return the codes that are hidden for one scrambled question."""
        if manifest.drawn is None:
            return self.everywhere
        return self.by_block[manifest.blocks[question.name]]


def find_hidden(manifest: Manifest, counts: GroupCounts) -> Hidden:
    minimum, columns = manifest.crowd, Columns.of(manifest)
    everywhere = hide_small_groups(count_people(counts), minimum=minimum)
    return Hidden(
        everywhere=everywhere,
        by_block={
            block: hide_small_groups(
                counts.columns[block][:, 1].tolist(), minimum=minimum, already=everywhere
            )
            for block in range(columns.mask_count)
        },
    )


def count_people(counts: GroupCounts) -> list[int]:
    """Count the people of each group; every column counts every report."""
    people: list[int] = counts.columns[0].sum(axis=1).tolist()
    return people


def find_crossing(
    crossing: NDArray[np.int64], *, minimum: int
) -> tuple[frozenset[int], frozenset[int]] | None:
    """Return the hidden codes on both axes of two declared questions; None if nothing is shown.

    Hidden groups count as one, as in `crossed_groups`.
    """
    hidden = tuple(
        hide_small_groups(crossing.sum(axis=1 - axis).tolist(), minimum=minimum) for axis in (0, 1)
    )
    merged = crossing
    for axis, codes in enumerate(hidden):
        merged = merge_codes(merged, axis, sorted(codes))
    is_small = (merged > 0) & (merged < minimum)
    return None if is_small.any() else (hidden[0], hidden[1])
