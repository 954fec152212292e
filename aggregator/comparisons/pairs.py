"""For each pair of questions, count each combination of codes in one pass over all batches.

Each code of a question except the first becomes a row of bits. The reports that have two codes are
then counted for all pairs of rows at once, 64 reports per word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.cross_tabulation import PairCounter, PairCounts, read_codes
from aggregator.batches.packing import WORD_BYTES, split_columns
from surveys.comparing.indicators import Indicator
from surveys.manifest.manifest import Manifest

Source = tuple[int | None, int]  # the positions of a gate (if it counts) and a symbol


class PairCodes:
    """Counts the codes of all pairs of these indicators, batch by batch."""

    def __init__(self, manifest: Manifest, indicators: Sequence[Indicator]) -> None:
        self._columns, self._symbols = Columns.of(manifest), manifest.symbols
        sources: list[Source] = [(one.gate_place, one.place) for one in indicators]
        # The second of two items that share a gate counts without the gate.
        sources += [(None, place) for _, place in sources]
        self._rows: dict[Source, range] = {}
        start = 0
        for source in dict.fromkeys(sources):
            self._rows[source] = range(start, start + self._count_codes(source) - 1)
            start = self._rows[source].stop
        found = (self._columns.masks[place] for _, place in sources)
        masks = dict.fromkeys(mask for mask in found if mask is not None)
        self._masks = {mask: start + place for place, mask in enumerate(masks)}
        self._counter = PairCounter(ks=[2] * (start + len(masks)))

    def _count_codes(self, source: Source) -> int:
        gate, place = source
        return self._symbols[place].k * (1 if gate is None else self._symbols[gate].k)

    def add(self, packed: bytes, *, size: int) -> None:
        """Add one batch."""
        stored = split_columns(packed, size=size, ks=self._columns.ks)
        rows = [row for source in self._rows for row in self._write_rows(stored, source, size)]
        rows += [stored[mask].view(np.uint64) for mask in self._masks]
        self._counter.add_words(np.stack(rows), size=size)

    def _write_rows(
        self, stored: Sequence[NDArray[np.uint8]], source: Source, size: int
    ) -> Iterator[NDArray[np.uint64]]:
        gate, place = source
        if gate is None and self._symbols[place].k == 2:
            yield stored[self._columns.places[place]].view(np.uint64)
            return
        codes = self._read(stored, place, size)
        if gate is not None:
            codes = self._read(stored, gate, size) * self._symbols[place].k + codes
        words = -(-size // (8 * WORD_BYTES))
        for code in range(1, self._count_codes(source)):
            bits = np.zeros(words * WORD_BYTES, dtype=np.uint8)
            shown = np.packbits(codes == code, bitorder="little")
            bits[: len(shown)] = shown
            yield bits.view(np.uint64)

    def _read(
        self, stored: Sequence[NDArray[np.uint8]], place: int, size: int
    ) -> NDArray[np.uint8]:
        column = self._columns.places[place]
        return read_codes(stored[column], index=column, size=size, k=self._columns.ks[column])

    def result(self) -> PairTables:
        return PairTables(
            counts=self._counter.result(),
            rows=self._rows,
            masks=[None if mask is None else self._masks.get(mask) for mask in self._columns.masks],
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class PairTables:
    """The number of reports with each combination of codes, for all pairs."""

    counts: PairCounts
    rows: dict[Source, range]
    masks: Sequence[int | None]  # the row of each symbol's mask; None if everybody was asked

    def count(self, first: Indicator, second: Indicator) -> NDArray[np.int64]:
        """Count the codes of two indicators in the reports that contain both indicators.

        All codes under an unset mask are 0, so reports with two nonzero codes contain both
        indicators.
        """
        own, other = self._find_rows(first), self._find_rows(second)
        mask, other_mask = self.masks[first.place], self.masks[second.place]
        table = np.zeros((first.codes, second.codes), dtype=np.int64)
        table[1:, 1:] = self.counts.both[np.ix_(own, other)]
        table[1:, 0] = [self._count_under(row, other_mask) for row in own]
        table[0, 1:] = [self._count_under(row, mask) for row in other]
        table[1:, 0] -= table[1:, 1:].sum(axis=1)
        table[0, 1:] -= table[1:, 1:].sum(axis=0)
        masks = [one for one in (mask, other_mask) if one is not None]
        total = self.counts.total
        if masks:
            total = int(self.counts.both[masks[0], masks[-1]])
        table[0, 0] = total - table.sum()
        return table

    def count_one(self, indicator: Indicator) -> NDArray[np.int64]:
        """Count the codes of one indicator."""
        rows, mask = self._find_rows(indicator), self.masks[indicator.place]
        counts = self.counts.both[rows, rows]
        total = self.counts.total if mask is None else int(self.counts.both[mask, mask])
        return np.concatenate([[total - counts.sum()], counts])

    def _find_rows(self, indicator: Indicator) -> list[int]:
        return list(self.rows[indicator.gate_place, indicator.place])

    def _count_under(self, row: int, mask: int | None) -> int:
        return int(self.counts.both[row, row if mask is None else mask])
