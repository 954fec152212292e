"""The meaning of the columns of a wave's batches.

There is one column for each symbol. Where each person is asked only some blocks of questions, a
mask for each block comes first. The mask is 1 if the report has this block. If it is 0, all symbols
of the block are stored as 0. Therefore every column has a value for every report, and joint counts
need only the columns. Only reports whose mask is 1 count for a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surveys.manifest.manifest import NOT_DRAWN, Manifest


@dataclass(frozen=True, kw_only=True)
class Columns:
    ks: tuple[int, ...]  # the number of codes of every column
    places: tuple[int, ...]  # the column of each symbol
    masks: tuple[int | None, ...]  # the column of each symbol's mask; None if everyone is asked

    @classmethod
    def of(cls, manifest: Manifest) -> Columns:
        masks = manifest.block_count if manifest.drawn is not None else 0
        symbols = manifest.symbols
        return cls(
            ks=(*([2] * masks), *(symbol.k for symbol in symbols)),
            places=tuple(range(masks, masks + len(symbols))),
            masks=tuple(symbol.block if masks else None for symbol in symbols),
        )

    @property
    def mask_count(self) -> int:
        return len(self.ks) - len(self.places)

    @property
    def blocks(self) -> tuple[int | None, ...]:
        """The block of each column; None if everyone is asked. Masks are numbered like blocks."""
        return (*range(self.mask_count), *self.masks)

    def write_columns(self, reports: Sequence[bytes]) -> list[bytes]:
        """Turn rows of symbols, as sent, into rows of column values."""
        if not self.mask_count:
            return list(reports)
        symbols = np.frombuffer(b"".join(reports), dtype=np.uint8).reshape(len(reports), -1)
        columns = np.empty((len(reports), len(self.ks)), dtype=np.uint8)
        for index, (place, mask) in enumerate(zip(self.places, self.masks, strict=True)):
            codes = symbols[:, index]
            drawn = codes != NOT_DRAWN
            columns[:, place] = np.where(drawn, codes, 0)
            if mask is not None:
                columns[:, mask] = drawn
        return [row.tobytes() for row in columns]

    def read_symbols(self, columns: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Turn a matrix of columns back into symbols; a symbol that was not sent is NOT_DRAWN."""
        if not self.mask_count:
            return columns
        symbols = columns[:, list(self.places)]
        for index, mask in enumerate(self.masks):
            if mask is not None:
                symbols[columns[:, mask] == 0, index] = NOT_DRAWN
        return symbols

    def read_counts(self, counts: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return, for each symbol, how often each code was sent by people who were asked."""
        found = []
        for place, mask in zip(self.places, self.masks, strict=True):
            cells = list(counts[place])
            if mask is not None:
                cells[0] -= counts[mask][0]
            found.append(cells)
        return found
