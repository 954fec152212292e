"""Groups that estimates describe because a rule depends on a declared question."""

from __future__ import annotations

import numpy as np

from aggregator.batches.combinations import Combinations, list_declared
from aggregator.batches.joint_tables import list_tables
from aggregator.results.groups.equations import find_condition
from aggregator.results.groups.overlaps import Groups
from surveys.manifest.manifest import Manifest


def find_condition_groups(
    manifest: Manifest, found: Combinations, *, part: int | None
) -> tuple[Groups, int]:
    """Find the groups that estimates of one part distinguish, and how many people each needs."""
    condition = find_condition(manifest, list_tables(manifest), mask=part)
    none = np.empty((len(found.people), 0), dtype=np.bool_), 0
    if condition is None:
        return none
    names = [question.name for question in list_declared(manifest)]
    classes = np.array(condition.classes)[found.declared[:, names.index(condition.symbol)]]
    people = np.where(found.find_asked(part), found.people, 0)
    sizes = np.bincount(classes, weights=people, minlength=max(condition.classes) + 1)
    if ((sizes > 0) & (sizes < condition.needed)).any():
        return none
    return np.eye(len(sizes), dtype=np.bool_)[classes], condition.needed
