"""Store sealed reports column by column, with sorted rows that do not show the order of arrival.

Columns with two codes are packed as bits, lowest bit first, and padded to 64-bit words, so that
`np.bitwise_count` over whole words gives counts and joint counts. Other columns take one byte per
report.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WORD_BYTES = 8


def _bit_column_bytes(size: int) -> int:
    return -(-size // (8 * WORD_BYTES)) * WORD_BYTES


def pack_reports(rows: Sequence[bytes], *, ks: Sequence[int]) -> bytes:
    """Sort rows (one byte per question) and pack them column by column."""
    matrix = np.frombuffer(b"".join(sorted(rows)), dtype=np.uint8).reshape(len(rows), len(ks))
    return b"".join(_pack_column(column, k=k) for column, k in zip(matrix.T, ks, strict=True))


def _pack_column(column: NDArray[np.uint8], *, k: int) -> bytes:
    if k != 2:
        return column.tobytes()
    bits = np.packbits(column, bitorder="little").tobytes()
    return bits.ljust(_bit_column_bytes(len(column)), b"\0")


def unpack_reports(packed: bytes, *, size: int, ks: Sequence[int]) -> NDArray[np.uint8]:
    """Return the reports as a (size, questions) matrix of codes, with its rows sorted."""
    matrix = np.empty((size, len(ks)), dtype=np.uint8)
    for index, (k, column) in enumerate(
        zip(ks, split_columns(packed, size=size, ks=ks), strict=True)
    ):
        matrix[:, index] = (
            np.unpackbits(column, count=size, bitorder="little") if k == 2 else column
        )
    return matrix


def count_codes(packed: bytes, *, size: int, ks: Sequence[int]) -> list[list[int]]:
    """For each question, count how many reports show each code."""
    counts = []
    for k, column in zip(ks, split_columns(packed, size=size, ks=ks), strict=True):
        if k == 2:
            ones = int(np.bitwise_count(column.view(np.uint64)).sum())
            counts.append([size - ones, ones])
        else:
            counts.append(np.bincount(column, minlength=k).tolist())
    return counts


def split_columns(packed: bytes, *, size: int, ks: Sequence[int]) -> list[NDArray[np.uint8]]:
    """Return each question's column as stored: as bits in whole words, or one byte per report."""
    lengths = [_bit_column_bytes(size) if k == 2 else size for k in ks]
    if len(packed) != sum(lengths):
        raise ValueError(f"packed must contain {sum(lengths)} bytes, got {len(packed)}")
    columns, start = [], 0
    for length in lengths:
        columns.append(np.frombuffer(packed, dtype=np.uint8, count=length, offset=start))
        start += length
    return columns
