"""Which reports leave reports.csv as whole rows: those with the same combination as many others.

A combination is what anybody may know of a person's report: its declared codes and the blocks that
were drawn. Someone who is alone in a combination could be recognized, and with them all of their
codes. The reports of rare combinations leave in parts, one row for each block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.exports.packed_rows import Packing, as_keys
from surveys.manifest.manifest import Manifest

_Members = NDArray[np.bool_]
_Labels = NDArray[np.int16]


def combined_columns(manifest: Manifest) -> list[int]:
    """List the columns of a batch that make a combination: masks and declared questions."""
    layout = Columns.of(manifest)
    declared = [
        place
        for place, symbol in zip(layout.places, manifest.symbols, strict=True)
        if symbol.threshold is None
    ]
    return [*range(layout.mask_count), *declared]


@dataclass(frozen=True, kw_only=True, eq=False)
class Combinations:
    """The combinations of a wave, and how many people leave rows of each kind."""

    packing: Packing
    whole: NDArray[np.bytes_]  # the keys of combinations that leave whole
    whole_rows: int
    part_rows: tuple[int, ...]  # of each block; 0 where fewer than the crowd would leave

    def find_whole(self, combined: NDArray[np.uint8]) -> _Members:
        """Say for each report whether it leaves whole; one column for each of the combination."""
        keys = as_keys(self.packing.pack(lambda place: combined[:, place], rows=len(combined)))
        return np.isin(keys, self.whole)


def find_combinations(
    manifest: Manifest,
    reports: Iterable[NDArray[np.uint8]],
    *,
    hidden_codes: Mapping[str, frozenset[int]],
    minimum: int,
) -> Combinations:
    """Count the combinations in matrices of `combined_columns`, and choose those that leave whole.

    `hidden_codes` are the codes of each declared question that no page shows.
    """
    layout = Columns.of(manifest)
    packing = Packing([layout.ks[column] for column in combined_columns(manifest)])
    packed = np.concatenate(
        [packing.pack(lambda place, one=one: one[:, place], rows=len(one)) for one in reports]  # type: ignore[misc]
    )
    keys, people = np.unique(as_keys(packed), return_counts=True)
    rows = keys.view(np.uint8).reshape(-1, packed.shape[1])
    del packed
    everybody = _Crowds(packing, rows)
    blocks = [
        replace(everybody, block=block) if layout.mask_count else everybody
        for block in range(manifest.block_count)
    ]
    declared = [symbol.question for symbol in manifest.symbols if symbol.threshold is None]
    rare = people < minimum
    groups: list[_Crowds] = []
    for place, name in enumerate(declared, start=layout.mask_count):
        codes = packing.unpack(rows, place)
        rare |= np.isin(codes, sorted(hidden_codes[name]))
        groups.append(replace(everybody, place=place))
        if layout.mask_count:  # a break down counts each block by groups
            groups += [replace(block, place=place) for block in blocks]
    crowds = [everybody, *blocks, *groups]
    rare = hide_more(people, rare, crowds=[crowd.find for crowd in crowds], minimum=minimum)
    parts = [int(people[rare & (block.find() >= 0)].sum()) for block in blocks]
    return Combinations(
        packing=packing,
        whole=keys[~rare],
        whole_rows=int(people[~rare].sum()),
        part_rows=tuple(count if count >= minimum else 0 for count in parts),
    )


@dataclass(frozen=True, eq=False)
class _Crowds:
    """The combinations of everybody or of one block, by the groups of a declared question or not.

    `find` returns the crowd of each combination, counted from 0; -1 for combinations in none.
    """

    packing: Packing
    rows: NDArray[np.uint8]  # packed combinations
    block: int | None = None
    place: int | None = None  # of the declared question

    def find(self) -> _Labels:
        # Computed each time: storing them for many combinations and blocks would take much memory.
        labels = np.zeros(len(self.rows), dtype=np.int16)
        if self.place is not None:
            labels += self.packing.unpack(self.rows, self.place)
        if self.block is not None:
            labels[self.packing.unpack(self.rows, self.block) == 0] = -1
        return labels


def hide_more(
    people: NDArray[np.int64],
    hidden: _Members,
    *,
    crowds: Sequence[Callable[[], _Labels]],
    minimum: int,
) -> _Members:
    """Hide more combinations until enough people are hidden in every crowd where some are.

    Few hidden people could be found by subtracting the others, and the parts of a single one would
    belong together. As in `hide_small_groups`, the next smallest combination is hidden with them:
    the smallest in any crowd that needs it. A crowd that is hidden as a whole needs no more.
    """
    hidden = hidden.copy()
    order = np.argsort(people, kind="stable")
    while True:
        rest = np.zeros_like(hidden)
        for find in crowds:
            labels = find()
            chosen = hidden & (labels >= 0)
            sums = np.bincount(labels[chosen], weights=people[chosen], minlength=1)
            is_small = np.zeros(max(int(labels.max()) + 1, len(sums)), dtype=np.bool_)
            is_small[: len(sums)] = (sums > 0) & (sums < minimum)
            rest |= (labels >= 0) & ~hidden & is_small[labels]
        [found] = np.nonzero(rest[order])
        if not found.size:
            return hidden
        hidden[order[found[0]]] = True
