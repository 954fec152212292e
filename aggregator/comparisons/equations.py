"""How many people must hide behind figures about a group whose rows are not marked.

The file of rows has everybody's codes. Whoever adds exact counts of a group that the file does not
mark gets linear equations about the unknown membership of its rows. So few equations that each
stands for ten people leave the members hidden; about as many as people would find them all.
"""

from __future__ import annotations

from itertools import chain, combinations
from math import prod

from aggregator.batches.joint_tables import JointTable, list_tables
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
    interactions = {one for table in tables for one in _list_interactions(table)}
    return sum(symbol.k - 1 for symbol in symbols) + sum(
        prod(max(classes) for _, classes in axes) for axes in interactions
    )


def _list_interactions(table: JointTable) -> list[frozenset[tuple[str, tuple[int, ...]]]]:
    """List the sets of two or more axes; an axis is a symbol and the classes of its codes."""
    axes = [(axis.symbol.name, axis.classes) for axis in table.axes]
    several = (combinations(axes, size) for size in range(2, len(axes) + 1))
    return [frozenset(some) for some in chain.from_iterable(several)]


def count_people_needed(manifest: Manifest, *, block: int | None = None) -> int:
    """Count the people whom a group needs if the file of rows does not mark it."""
    return max(manifest.crowd, PEOPLE_FOR_EQUATION * count_equations(manifest, block=block))
