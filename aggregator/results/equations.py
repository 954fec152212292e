"""How many people must hide behind figures about a group whose rows are not marked.

The file of rows has everybody's codes. Whoever adds exact counts of a group that the file does not
mark gets linear equations about the unknown membership of its rows. So few equations that each
stands for ten people leave the members hidden; about as many as people would find them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, combinations
from math import prod

from aggregator.batches.joint_tables import Axis, JointTable, list_tables
from surveys.manifest.manifest import Manifest

PEOPLE_FOR_EQUATION = 10


def count_equations(manifest: Manifest, *, block: int | None = None) -> int:
    """Count the independent equations that the counts of all codes give about one group.

    Each symbol with k codes gives k - 1, and a joint table gives one for each interaction of its
    axes besides. With a block, only its questions count.
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
    """Count the people whom a group needs if the file of rows does not mark it."""
    return max(manifest.crowd, PEOPLE_FOR_EQUATION * count_equations(manifest, block=block))


def count_people_behind(manifest: Manifest, table: JointTable, tables: Iterable[JointTable]) -> int:
    """Count the people whom each combination of declared answers needs that a table tells apart.

    Every table that reads one of these declared questions gives equations about the same people.
    """
    conditions = list_conditions(table)
    interactions = {
        interaction
        for other in tables
        if other.mask == table.mask and not conditions.isdisjoint(list_conditions(other))
        for interaction in _list_interactions(
            [axis for axis in other.axes if axis.symbol.threshold is not None], least=1
        )
    }
    return max(manifest.crowd, PEOPLE_FOR_EQUATION * _count_independent(interactions))


def list_conditions(table: JointTable) -> frozenset[str]:
    """List the declared questions that a table reads."""
    return frozenset(axis.symbol.name for axis in table.axes if axis.symbol.threshold is None)


_Interaction = frozenset[tuple[str, tuple[int, ...]]]


def _list_interactions(axes: Sequence[Axis], *, least: int) -> list[_Interaction]:
    """List the sets of at least so many axes: a symbol and the classes of its codes for each."""
    named = [(axis.symbol.name, axis.classes) for axis in axes]
    several = (combinations(named, size) for size in range(least, len(named) + 1))
    return [frozenset(some) for some in chain.from_iterable(several)]


def _count_independent(interactions: Iterable[_Interaction]) -> int:
    return sum(prod(max(classes) for _, classes in axes) for axes in interactions)
