"""Pack rows of small numbers, several to a byte, so that sorting needs little memory and time.

Packed rows sort in the same order as the rows of numbers. Each number is the rank of a cell in its
column, so sorting packed rows sorts the lines of a file as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

VALUES_PER_BYTE = 256


class Packing:
    """Packs numbers into bytes; adjacent numbers share a byte as long as they fit."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self.groups = tuple(_group_neighbours(sizes))

    def pack(self, read: Callable[[int], NDArray[np.uint8]], *, rows: int) -> NDArray[np.uint8]:
        """Pack rows; `read(place)` returns the numbers at this position in every row."""
        packed = np.empty((rows, len(self.groups)), dtype=np.uint8)
        for byte, group in enumerate(self.groups):
            value = np.zeros(rows, dtype=np.uint8)
            for place in group:
                if self.sizes[place] > 1:
                    value *= self.sizes[place]
                    value += _check_range(read(place), self.sizes[place])
            packed[:, byte] = value
        return packed


def _group_neighbours(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    group: list[int] = []
    values = 1
    for place, size in enumerate(sizes):
        if values * size > VALUES_PER_BYTE:
            yield tuple(group)
            group, values = [], 1
        group.append(place)
        values *= size
    yield tuple(group)


def _check_range(numbers: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    # Without this check, an impossible code would silently change the other numbers in the byte.
    highest = numbers.max(initial=0)
    if highest >= size:
        raise ValueError(f"rows must contain numbers below {size}, got {highest}")
    return numbers


def as_keys(packed: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """View each packed row as one string of bytes, which compares like the row."""
    keys: NDArray[np.bytes_] = packed.view(f"S{packed.shape[1]}").reshape(-1)
    return keys


@dataclass(frozen=True, kw_only=True, eq=False)
class LineColumn:
    """One column of lines: its possible cells, sorted as text, and the rank of each code's cell.

    A column with a single possible cell needs no code.
    """

    cells: tuple[bytes, ...]
    place: int  # the symbol's position among the codes of a report
    ranks: NDArray[np.uint8]  # of each code's cell; an unknown code has an impossible rank

    @classmethod
    def of(cls, cells: Mapping[int, str], *, place: int) -> LineColumn:
        """Make a column from a mapping of each code as sent to its cell.

        Codes with the same cell share a rank; otherwise, the order of lines would reveal the codes.
        """
        texts = sorted(set(cells.values()))
        ranks = np.full(VALUES_PER_BYTE, VALUES_PER_BYTE - 1, dtype=np.uint8)
        for code, text in cells.items():
            ranks[code] = texts.index(text)
        return cls(cells=tuple(text.encode() for text in texts), place=place, ranks=ranks)

    @classmethod
    def always(cls, cell: str) -> LineColumn:
        return cls.of({0: cell}, place=0)


class Lines:
    """Lines of CSV with the same columns, gathered in any order, then sorted and written."""

    def __init__(self, columns: Sequence[LineColumn], *, size: int) -> None:
        self._columns = tuple(columns)
        self._packing = Packing([len(column.cells) for column in columns])
        self._packed = np.empty((size, len(self._packing.groups)), dtype=np.uint8)
        self._added = 0

    def add(self, codes: NDArray[np.uint8]) -> None:
        """Add one line for each row of a matrix of codes as sent."""

        def read(index: int) -> NDArray[np.uint8]:
            column = self._columns[index]
            return column.ranks[codes[:, column.place]]

        end = self._added + len(codes)
        self._packed[self._added : end] = self._packing.pack(read, rows=len(codes))
        self._added = end

    def write(self, *, at_once: int) -> Iterator[bytes]:
        """Sort the lines as text; write `at_once` of them at a time, without a loop over lines."""
        packed = self._packed[: self._added]
        as_keys(packed).sort()
        tables = [self._write_table(group) for group in self._packing.groups]
        for start in range(0, len(packed), at_once):
            yield _write_lines(packed[start : start + at_once], tables)

    def _write_table(self, group: Sequence[int]) -> NDArray[np.uint8]:
        """Return the text for every value of one byte, padded with zero bytes."""
        texts = [b""]
        for index in group:
            end = b"\r\n" if index == len(self._columns) - 1 else b","
            texts = [text + cell + end for text in texts for cell in self._columns[index].cells]
        return np.array(texts).view(np.uint8).reshape(len(texts), -1)


def _write_lines(packed: NDArray[np.uint8], tables: Sequence[NDArray[np.uint8]]) -> bytes:
    lines = np.empty((len(packed), sum(table.shape[1] for table in tables)), dtype=np.uint8)
    start = 0
    for value, table in zip(packed.T, tables, strict=True):
        end = start + table.shape[1]
        lines[:, start:end] = table[value]
        start = end
    if not lines.all():
        lines = lines[lines != 0]  # shorter cells leave gaps
    return lines.tobytes()
