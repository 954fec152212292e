"""Decide which groups of an unscrambled question are too small to be shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def hide_small_groups(
    counts: Sequence[int], *, minimum: int, already: Collection[int] = ()
) -> frozenset[int]:
    """Return the codes of groups that are hidden because they, alone or together, are too small.

    `already` contains the codes that are hidden for other reasons. The size of a single hidden
    group could be found by subtracting the other groups from the total, so the next smallest groups
    are hidden with it until the hidden groups together reach the minimum. If all hidden groups are
    empty, the total shows this, and only `already` stays hidden.
    """
    hidden = _hide(counts, minimum=minimum, already=already)
    return frozenset(hidden if any(counts[code] for code in hidden) else already)


def _hide(counts: Sequence[int], *, minimum: int, already: Collection[int] = ()) -> list[int]:
    others = set(range(len(counts))) - set(already)
    order = sorted(others, key=lambda code: (counts[code], code))
    hidden = list(already)
    for code in order:
        together = sum(counts[other] for other in hidden)
        if counts[code] >= minimum and (together == 0 or together >= minimum):
            break
        hidden.append(code)
    return hidden


def may_tell_classes(counts: Sequence[int], classes: Sequence[int], *, minimum: int) -> bool:
    """Return whether figures for classes of groups reveal no more than the groups that are shown.

    Each class must be large enough, and the hidden groups must share a class. Otherwise subtracting
    the shown groups from a class would reveal some of the hidden groups.
    """
    sizes: dict[int, int] = {}
    for count, own in zip(counts, classes, strict=True):
        sizes[own] = sizes.get(own, 0) + count
    hidden = _hide(counts, minimum=minimum)
    return min(sizes.values()) >= minimum and len({classes[code] for code in hidden}) <= 1
