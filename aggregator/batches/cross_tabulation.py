"""Cross-tabulate sealed reports: some columns of one batch, or all pairs over many batches.

Tables of two columns with two codes are counted in packed form, 64 reports per word. For all other
tables, the columns are unpacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.packing import WORD_BYTES, split_columns

MAX_CELLS = 65_536  # a cell's index fits in 16 bits
# With this size, a block, its combinations and its counts stay in a core's level-2 cache.
BLOCK_BYTES = 512 * 1024


def cross_tabulate(
    packed: bytes, *, size: int, ks: Sequence[int], columns: Sequence[int]
) -> NDArray[np.int64]:
    """Count how many reports of one batch show each combination of codes.

    `columns` chooses the questions; axis i of the result holds the codes of `columns[i]`.
    """
    shape = _table_shape(ks, columns)
    every = split_columns(packed, size=size, ks=ks)
    if shape == (2, 2):
        first, second = (every[index].view(np.uint64) for index in columns)
        return _two_by_two(
            total=size,
            first=_count_ones(first),
            second=_count_ones(second),
            both=_count_ones(first & second),
        )
    cells = np.zeros(size, dtype=np.uint16)
    for index, k in zip(columns, shape, strict=True):
        cells *= k
        cells += read_codes(every[index], index=index, size=size, k=k)
    return np.bincount(cells, minlength=prod(shape)).reshape(shape).astype(np.int64, copy=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class PairCounts:
    """The numbers of reports with code 1 in each two-code question, and in both of each pair."""

    total: int
    columns: tuple[int, ...]
    both: NDArray[np.int64]
    """A symmetric matrix in the order of `columns`; its diagonal counts single questions."""

    def joint(self, first: int, second: int) -> int:
        """Return how many reports show code 1 in both columns, which may be the same column."""
        return int(self.both[self.columns.index(first), self.columns.index(second)])


class PairCounter:
    """Cross-tabulates all pairs of two-code questions, batch by batch.

    Padding bits are zero, so the words of different batches can be placed side by side. Batches of
    any size are gathered into one block, and only whole blocks are counted.
    """

    def __init__(self, *, ks: Sequence[int]) -> None:
        self._ks = tuple(ks)
        self._columns = tuple(index for index, k in enumerate(ks) if k == 2)
        if not self._columns:
            raise ValueError(f"ks must include a question with two codes, got {list(ks)!r}")
        questions = len(self._columns)
        self._width = max(BLOCK_BYTES // (WORD_BYTES * questions), 1)
        self._block = np.empty((questions, self._width), dtype=np.uint64)
        self._combined = np.empty_like(self._block)
        self._ones = np.empty_like(self._block, dtype=np.uint8)
        self._both = np.zeros((questions, questions), dtype=np.int64)
        self._used = 0
        self._total = 0

    def add(self, packed: bytes, *, size: int) -> None:
        """Add one batch."""
        self.add_words(_bit_words(packed, size=size, ks=self._ks), size=size)

    def add_words(self, words: NDArray[np.uint64], *, size: int) -> None:
        """Add one batch; each row of `words` holds the bits of one question."""
        while words.shape[1]:
            taken = min(words.shape[1], self._width - self._used)
            self._block[:, self._used : self._used + taken] = words[:, :taken]
            self._used += taken
            words = words[:, taken:]
            if self._used == self._width:
                self._count_block()
        self._total += size

    def result(self) -> PairCounts:
        """Return the counts over all batches so far; more batches may be added afterwards."""
        self._count_block()
        upper = np.triu(self._both)
        return PairCounts(
            total=self._total, columns=self._columns, both=upper + np.triu(upper, 1).T
        )

    def _count_block(self) -> None:
        block = self._block[:, : self._used]
        for index, row in enumerate(block):
            combined = self._combined[index:, : self._used]
            ones = self._ones[index:, : self._used]
            np.bitwise_and(row, block[index:], out=combined)
            np.bitwise_count(combined, out=ones)
            self._both[index, index:] += _sum_rows(ones)
        self._used = 0


def _table_shape(ks: Sequence[int], columns: Sequence[int]) -> tuple[int, ...]:
    if not columns:
        raise ValueError(f"columns must name at least one question, got {list(columns)!r}")
    for index in columns:
        if not 0 <= index < len(ks):
            raise ValueError(f"columns must be from 0 to {len(ks) - 1}, got {index!r}")
    if len(set(columns)) != len(columns):
        raise ValueError(f"columns must not name a question twice, got {list(columns)!r}")
    shape = tuple(ks[index] for index in columns)
    if prod(shape) > MAX_CELLS:
        raise ValueError(
            f"columns must make at most {MAX_CELLS} cells, "
            f"got {list(columns)!r} with {prod(shape)} cells"
        )
    return shape


def read_codes(column: NDArray[np.uint8], *, index: int, size: int, k: int) -> NDArray[np.uint8]:
    if k == 2:
        return np.unpackbits(column, count=size, bitorder="little")
    # An impossible code would silently count in another code's cell.
    highest = column.max(initial=0)
    if highest >= k:
        raise ValueError(f"packed must contain codes below {k} in column {index}, got {highest}")
    return column


def _bit_words(packed: bytes, *, size: int, ks: Sequence[int]) -> NDArray[np.uint64]:
    """Return the questions with two codes as rows of words."""
    words = -(-size // (8 * WORD_BYTES))
    if len(packed) == len(ks) * words * WORD_BYTES and all(k == 2 for k in ks):
        return np.frombuffer(packed, dtype=np.uint64).reshape(len(ks), words)
    rows = [
        column.view(np.uint64)
        for k, column in zip(ks, split_columns(packed, size=size, ks=ks), strict=True)
        if k == 2
    ]
    return np.stack(rows) if rows else np.empty((0, words), dtype=np.uint64)


def _sum_rows(ones: NDArray[np.uint8]) -> NDArray[np.int64]:
    # Summing in 32 bits is three times as fast as in 64, and enough for 2**32 reports.
    sums: NDArray[np.uint32] = ones.sum(axis=1, dtype=np.uint32)
    return sums.astype(np.int64)


def _count_ones(words: NDArray[np.uint64]) -> int:
    return int(np.bitwise_count(words).sum())


def _two_by_two(*, total: int, first: int, second: int, both: int) -> NDArray[np.int64]:
    return np.array([[total - first - second + both, second - both], [first - both, both]])
