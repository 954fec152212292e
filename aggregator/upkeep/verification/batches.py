"""Check one sealed batch: its size, its bytes, its counts and the order of its reports."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from aggregator.batches.joint_tables import JointTable, count_tables
from aggregator.batches.packing import count_codes, split_columns
from aggregator.models import Batch

Counts = list[list[int]]


class StoredBatch:
    """One batch, counted again from its bytes."""

    def __init__(self, batch: Batch, ks: Sequence[int], tables: Sequence[JointTable]) -> None:
        self.pk, self.packed, self.size = batch.pk, bytes(batch.packed), batch.size
        self._batch, self._ks, self._tables = batch, ks, tables
        self._sound = hashlib.sha256(self.packed).digest() == bytes(batch.content_hash)
        self.recounted: Counts | None
        try:
            self.recounted = count_codes(self.packed, size=self.size, ks=ks)
        except ValueError:  # the length does not fit the size
            self.recounted = None
        self.recounted_tables = self._recount_tables()

    def _recount_tables(self) -> Counts:
        try:
            return count_tables(self.packed, size=self.size, ks=self._ks, tables=self._tables)
        except ValueError:  # the length does not fit the size, or a code is impossible
            return [[0] * table.cells for table in self._tables]

    def find_faults(self, *, minimum: int) -> list[str]:
        faults = []
        if self.size < minimum:
            faults.append(f"it holds {self.size} reports, fewer than the minimum of {minimum}")
        if not self._sound:
            faults.append("its bytes differ from those that were sealed (SHA-256)")
        if self.recounted is None:
            faults.append(f"its number of bytes does not match its {self.size} reports")
            return faults
        if self.recounted != self._batch.counts:
            faults.append("its counts do not match its bytes")
        # In batches sealed before tables existed, tables are counted when they are needed.
        if self._batch.tables not in (None, self.recounted_tables):
            faults.append("its tables do not match its bytes")
        if not rows_are_sorted(self.packed, size=self.size, ks=self._ks):
            faults.append("its reports are not in canonical order")
        return faults

    @property
    def counts_to_trust(self) -> tuple[Counts, Counts]:
        """The counts and tables to add up, so that a batch's fault is not reported again.

        The bytes are trusted if their hash is correct and the size matches the stored counts.
        """
        stored, stored_tables = self._batch.counts, self._batch.tables
        usable = _has_shape(stored, self._ks)
        fits = not usable or all(sum(cells) == self.size for cells in stored)
        if self.recounted and self._sound and fits:
            return self.recounted, self.recounted_tables
        return (
            stored if usable else [[0] * k for k in self._ks],
            stored_tables
            if stored_tables is not None
            and _has_shape(stored_tables, [table.cells for table in self._tables])
            else self.recounted_tables,
        )


def _has_shape(counts: Any, ks: Sequence[int]) -> bool:
    return (
        isinstance(counts, list)
        and len(counts) == len(ks)
        and all(
            isinstance(cells, list)
            and len(cells) == k
            and all(isinstance(count, int) for count in cells)
            for cells, k in zip(counts, ks, strict=True)
        )
    )


def rows_are_sorted(packed: bytes, *, size: int, ks: Sequence[int]) -> bool:
    """Return whether the reports are sorted by their codes, starting with the first question."""
    tied = np.ones(size - 1, dtype=bool)  # equal to the next report in all columns so far
    for k, column in zip(ks, split_columns(packed, size=size, ks=ks), strict=True):
        codes = np.unpackbits(column, count=size, bitorder="little") if k == 2 else column
        if (tied & (codes[:-1] > codes[1:])).any():
            return False
        tied &= codes[:-1] == codes[1:]
        if not tied.any():
            break
    return True
