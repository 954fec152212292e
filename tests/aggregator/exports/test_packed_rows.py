"""Packed rows stay distinct, sort as their numbers do, and become CSV lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.exports.packed_rows import LineColumn, Lines, Packing, as_keys


@given(st.lists(st.integers(1, 70), max_size=12), st.integers(0, 2**32 - 1))
def test_packed_rows_sort_as_their_numbers_do(sizes: list[int], seed: int) -> None:
    rows = np.random.default_rng(seed).integers(0, sizes, size=(30, len(sizes)), dtype=np.uint8)
    packed = Packing(sizes).pack(lambda place: rows[:, place], rows=30)
    in_order = np.array(sorted(rows.tolist()), dtype=np.uint8).reshape(rows.shape)
    expected = Packing(sizes).pack(lambda place: in_order[:, place], rows=30)
    as_keys(packed).sort()
    assert packed.tolist() == expected.tolist()
    assert len(np.unique(packed, axis=0)) == len(np.unique(rows, axis=0))


def test_many_yes_no_questions_share_a_byte() -> None:
    assert len(Packing([2] * 100).groups) == 13


def test_an_impossible_number_is_refused() -> None:
    rows = np.array([[0, 1], [1, 2]], dtype=np.uint8)
    with pytest.raises(ValueError, match="below 2, got 2"):
        Packing([2, 2]).pack(lambda place: rows[:, place], rows=2)


def write(codes: np.ndarray, columns: Sequence[LineColumn], *, at_once: int = 7) -> str:
    lines = Lines(columns, size=len(codes))
    for start in range(0, len(codes), 11):
        lines.add(codes[start : start + 11])
    return b"".join(lines.write(at_once=at_once)).decode()


@pytest.mark.parametrize(
    "written",
    [
        ["0", "1"],
        [str(code) for code in range(1, 65)],
        ["-997", "-5", "5", ""],
        ["1", "-97", ""],
        ["-99", "1", "-99"],  # codes that share a cell
    ],
)
@pytest.mark.parametrize("columns", [1, 3, 9])
def test_lines_are_written_as_the_csv_module_writes_them_and_sorted(
    written: list[str], columns: int
) -> None:
    codes = np.random.default_rng(5).integers(0, len(written), size=(200, columns), dtype=np.uint8)
    expected = io.StringIO(newline="")
    csv.writer(expected).writerows(
        ["survey", *(written[code] for code in row)] for row in codes.tolist()
    )
    cells = dict(enumerate(written))
    found = write(
        codes,
        [LineColumn.always("survey"), *(LineColumn.of(cells, place=i) for i in range(columns))],
    )
    assert found.split("\r\n")[:-1] == sorted(expected.getvalue().split("\r\n")[:-1])


def test_constant_cells_may_stand_between_the_others() -> None:
    columns = [
        LineColumn.always(""),
        LineColumn.of({0: "0", 1: "1"}, place=1),
        LineColumn.always("-99"),
        LineColumn.of({0: "9", 1: "10"}, place=0),
        LineColumn.always(""),
    ]
    codes = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.uint8)
    assert write(codes, columns) == ",0,-99,10,\r\n,1,-99,10,\r\n,1,-99,9,\r\n"


def test_no_lines_give_no_bytes() -> None:
    assert write(np.empty((0, 1), dtype=np.uint8), [LineColumn.of({0: "0"}, place=0)]) == ""


def test_a_code_that_the_column_does_not_know_is_refused() -> None:
    column = LineColumn.of({0: "0", 1: "1"}, place=0)
    with pytest.raises(ValueError, match="below 2"):
        write(np.array([[3]], dtype=np.uint8), [column])
