"""Decide for which declared questions the sizes of groups are shown.

Each question hides its small groups (`small_groups.py`). But two questions may divide the same
people in almost the same way, and subtracting one large group from another then counts the few
people who differ. Questions are therefore admitted in the order of the survey. A question is left
out if it would allow a sum or difference of groups that is about few people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from aggregator.batches.combinations import Combinations, list_declared
from aggregator.results.groups.overlaps import Groups, leave_few
from aggregator.results.groups.small_groups import hide_small_groups
from surveys.manifest.manifest import Manifest


def find_told(manifest: Manifest, found: Combinations) -> tuple[str, ...]:
    """Name the declared questions whose group sizes are shown after the close."""
    nobody = np.zeros(len(found.people), dtype=np.int64)
    groups = list_size_groups(manifest, found)

    def may_add(shown: Sequence[str], new: Sequence[str]) -> bool:
        if not shown and len(new) == 1:
            return True  # small groups are hidden, and no other question can be subtracted
        return not leave_few(
            join_groups(groups, shown),
            join_groups(groups, new),
            marks=nobody,
            people=found.people,
            needed=manifest.crowd,
            sure=manifest.minimum_batch - 1,
        )

    return admit(list(groups), may_add)


def list_size_groups(manifest: Manifest, found: Combinations) -> dict[str, Groups]:
    """Map each declared question to its groups that `hide_small_groups` does not hide."""
    groups = {}
    for place, question in enumerate(list_declared(manifest)):
        hidden = hide_small_groups(found.count(place, question.k), minimum=manifest.crowd)
        shown = [code for code in range(question.k) if code not in hidden]
        groups[question.name] = np.eye(question.k, dtype=np.bool_)[found.declared[:, place]][
            :, shown
        ]
    return groups


def join_groups(groups: Mapping[str, Groups], names: Sequence[str]) -> Groups:
    rows = len(next(iter(groups.values())))
    empty = np.empty((rows, 0), dtype=np.bool_)
    return np.concatenate([empty, *(groups[name] for name in names)], axis=1)


def admit(
    names: Sequence[str], may_add: Callable[[Sequence[str], Sequence[str]], bool]
) -> tuple[str, ...]:
    """Admit all names if possible; otherwise, in turn, each that may join the names so far."""
    if not names or may_add((), names):
        return tuple(names)
    shown: list[str] = []
    for name in names:
        if may_add(shown, [name]):
            shown.append(name)
    return tuple(shown)
