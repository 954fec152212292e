"""Decide whether blocks of a random subset may be compared with each other.

Where each block has its own file of rows, no file says which rows belong to people who were also
asked another block. A comparison across two blocks counts exactly these people. The total of a
block, minus its comparisons with some other blocks, counts the people who were asked only the
remaining blocks.

Therefore one decision holds for a whole wave. If a single pair of blocks were refused, the
comparisons with all other blocks would reveal the figures of that pair.
"""

from __future__ import annotations

import numpy as np

from aggregator.batches.combinations import Combinations
from aggregator.results.groups.conditions import find_condition_groups
from aggregator.results.groups.equations import count_people_needed
from aggregator.results.groups.overlaps import Groups, leave_few
from surveys.manifest.manifest import Manifest


def may_cross_files(manifest: Manifest, found: Combinations) -> bool:
    """Return whether all comparisons across two blocks together reveal nothing about few people."""
    return all(_hides_few(manifest, found, block) for block in range(found.masks.shape[1]))


def list_crossings(found: Combinations, block: int) -> Groups:
    """Return, in one column per other block, who was asked that block."""
    crossings: Groups = np.delete(found.masks, block, axis=1) == 1
    return crossings


def _hides_few(manifest: Manifest, found: Combinations, block: int) -> bool:
    asked = found.find_asked(block)
    people, crossings = found.people[asked], list_crossings(found, block)[asked]
    needed = count_people_needed(manifest, block=block)
    both = people @ crossings
    sizes = np.concatenate([both, people.sum() - both])
    # The search below reliably finds only sums over fewer than C people, so sizes below `needed`
    # are rejected here.
    if ((sizes > 0) & (sizes < needed)).any():
        return False
    conditions, _ = find_condition_groups(manifest, found, part=block)
    return not leave_few(
        conditions[asked],
        crossings,
        marks=np.zeros(len(people), dtype=np.int64),
        people=people,
        needed=needed,
        sure=manifest.crowd - 1,
    )
