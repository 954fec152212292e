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
    part_rows: tuple[int, ...]  # of each block; 0 where fewer than the display minimum would leave

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
    everybody = _Crowd(packing, rows)
    blocks = [
        replace(everybody, place=block, code=1) if layout.mask_count else everybody
        for block in range(manifest.block_count)
    ]
    declared = [symbol.question for symbol in manifest.symbols if symbol.threshold is None]
    rare = people < minimum
    groups: list[_Crowd] = []
    for place, name in enumerate(declared, start=layout.mask_count):
        codes = packing.unpack(rows, place)
        rare |= np.isin(codes, sorted(hidden_codes[name]))
        groups += [replace(everybody, place=place, code=int(code)) for code in np.unique(codes)]
    crowds = [everybody, *blocks, *groups]
    rare = hide_more(people, rare, crowds=[crowd.find for crowd in crowds], minimum=minimum)
    parts = [int(people[rare & crowd.find()].sum()) for crowd in blocks]
    return Combinations(
        packing=packing,
        whole=keys[~rare],
        whole_rows=int(people[~rare].sum()),
        part_rows=tuple(count if count >= minimum else 0 for count in parts),
    )


@dataclass(frozen=True, eq=False)
class _Crowd:
    """The combinations of everybody, of those who were asked a block, or of a declared group."""

    packing: Packing
    rows: NDArray[np.uint8]  # packed combinations
    place: int | None = None
    code: int = 0

    def find(self) -> _Members:
        # Computed each time: storing them for many combinations and blocks would take much memory.
        if self.place is None:
            return np.ones(len(self.rows), dtype=np.bool_)
        members: _Members = self.packing.unpack(self.rows, self.place) == self.code
        return members


def hide_more(
    people: NDArray[np.int64],
    hidden: _Members,
    *,
    crowds: Sequence[Callable[[], _Members]],
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
            members = find()
            if 0 < people[members & hidden].sum() < minimum:
                rest |= members & ~hidden
        [found] = np.nonzero(rest[order])
        if not found.size:
            return hidden
        hidden[order[found[0]]] = True
