"""Find how many people a group needs to stay hidden if the file of rows does not mark it.

The file of rows has everybody's codes. Exact counts of a group that the file does not mark are
linear equations about which rows belong to the group. With ten people for each equation, the
members stay hidden. With about as many equations as people, all members could be found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import prod

from aggregator.batches.joint_tables import Axis, JointTable, list_tables
from surveys.manifest.manifest import Manifest

PEOPLE_FOR_EQUATION = 10


def count_equations(manifest: Manifest, *, block: int | None = None) -> int:
    """Count the independent equations that the counts of all codes give about one group.

    Each symbol with k codes gives k - 1 equations, and a joint table adds the equations of each
    interaction between its axes. If `block` is given, only the questions of the block are counted.
    """
    symbols = [
        symbol
        for symbol in manifest.symbols
        if symbol.threshold is not None and (block is None or symbol.block == block)
    ]
    tables = [one for one in list_tables(manifest) if block is None or one.block == block]
    interactions = {one for table in tables for one in _list_interactions(table.axes, least=2)}
    return sum(symbol.k - 1 for symbol in symbols) + _count_independent(interactions)


def count_people_needed(manifest: Manifest, *, block: int | None = None) -> int:
    """Return how many people a group needs if the file of rows does not mark it."""
    return max(manifest.crowd, PEOPLE_FOR_EQUATION * count_equations(manifest, block=block))


@dataclass(frozen=True, kw_only=True)
class Condition:
    """The declared question that all rules of one part of a survey read."""

    symbol: str
    classes: tuple[int, ...]  # the class of each code; no rule distinguishes codes of one class
    needed: int  # the number of people that each class needs


def find_condition(
    manifest: Manifest, tables: Iterable[JointTable], *, mask: int | None
) -> Condition | None:
    """Find what a part's rules read; return None if it has no rules or they could be crossed.

    Every rule gives equations about the people who satisfy it. A class of `needed` people is large
    enough to stay hidden despite all these equations together. Rules that read several declared
    questions, or different answers for a block, could be crossed. In that case, no figure depends
    on any of these rules.
    """
    reading = [one for one in tables if one.mask == mask and list_conditions(one)]
    axes = [axis for one in reading for axis in one.axes if axis.symbol.threshold is None]
    names, kinds = {axis.symbol.name for axis in axes}, {axis.classes for axis in axes}
    if len(names) != 1 or (mask is not None and len(kinds) > 1):
        return None
    told_apart = list(zip(*sorted(kinds), strict=True))
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(told_apart))}
    interactions = {
        interaction
        for one in reading
        for interaction in _list_interactions(
            [axis for axis in one.axes if axis.symbol.threshold is not None], least=1
        )
    }
    return Condition(
        symbol=names.pop(),
        classes=tuple(numbers[kind] for kind in told_apart),
        needed=max(manifest.crowd, PEOPLE_FOR_EQUATION * _count_independent(interactions)),
    )


def list_conditions(table: JointTable) -> frozenset[str]:
    """List the declared questions that a table reads."""
    return frozenset(axis.symbol.name for axis in table.axes if axis.symbol.threshold is None)


_Interaction = frozenset[tuple[str, tuple[int, ...]]]


def _list_interactions(axes: Sequence[Axis], *, least: int) -> list[_Interaction]:
    """List the sets of at least `least` axes; an axis is a symbol with the classes of its codes."""
    named = [(axis.symbol.name, axis.classes) for axis in axes]
    several = (combinations(named, size) for size in range(least, len(named) + 1))
    return [frozenset(some) for some in chain.from_iterable(several)]


def _count_independent(interactions: Iterable[_Interaction]) -> int:
    return sum(prod(max(classes) for _, classes in axes) for axes in interactions)
