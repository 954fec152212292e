"""Cross tabulation agrees with counting rows one by one, whatever the packing."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from aggregator.batches import cross_tabulation
from aggregator.batches.cross_tabulation import PairCounter, cross_tabulate
from aggregator.batches.packing import count_codes, pack_reports

# Sizes at which a word is nearly full, exactly full, and just too small.
SIZES = st.one_of(st.integers(1, 20), st.sampled_from([63, 64, 65, 127, 128, 129]))


@st.composite
def batches(draw: st.DrawFn, *, most: int = 1) -> tuple[list[int], list[list[bytes]]]:
    ks = draw(st.lists(st.sampled_from([2, 2, 2, 3, 5, 17]), min_size=1, max_size=5))
    sizes = draw(st.lists(SIZES, min_size=1, max_size=most))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return ks, [draw_rows(generator, size=size, ks=ks) for size in sizes]


def draw_rows(generator: np.random.Generator, *, size: int, ks: Sequence[int]) -> list[bytes]:
    return [bytes(row) for row in generator.integers(0, ks, (size, len(ks)), dtype=np.uint8)]


def count_naively(
    rows: Sequence[bytes], *, ks: Sequence[int], columns: Sequence[int]
) -> NDArray[np.int64]:
    table = np.zeros([ks[index] for index in columns], dtype=np.int64)
    for cell, count in Counter(tuple(row[index] for index in columns) for row in rows).items():
        table[cell] = count
    return table


@given(batches(), st.data())
def test_a_table_agrees_with_counting_row_by_row(
    case: tuple[list[int], list[list[bytes]]], data: st.DataObject
) -> None:
    ks, [rows] = case
    order = data.draw(st.permutations(range(len(ks))))
    columns = order[: data.draw(st.integers(1, min(len(ks), 3)))]
    table = cross_tabulate(pack_reports(rows, ks=ks), size=len(rows), ks=ks, columns=columns)
    assert table.dtype == np.int64
    assert table.tolist() == count_naively(rows, ks=ks, columns=columns).tolist()


@given(batches())
def test_a_table_of_one_question_holds_its_counts(
    case: tuple[list[int], list[list[bytes]]],
) -> None:
    ks, [rows] = case
    packed = pack_reports(rows, ks=ks)
    tables = [cross_tabulate(packed, size=len(rows), ks=ks, columns=[i]) for i in range(len(ks))]
    counts = count_codes(packed, size=len(rows), ks=ks)
    assert [table.tolist() for table in tables] == counts


@given(batches(most=4))
def test_pairs_counted_over_batches_agree_with_tables_over_all_rows(
    case: tuple[list[int], list[list[bytes]]],
) -> None:
    ks, many = case
    ks = [2, *ks]
    many = [[bytes([len(row) % 2]) + row for row in rows] for rows in many]
    counts = count_pairs(many, ks=ks)
    together = [row for rows in many for row in rows]
    assert counts.total == len(together)
    assert counts.columns == tuple(index for index, k in enumerate(ks) if k == 2)
    assert counts.both.diagonal().tolist() == [
        count_naively(together, ks=ks, columns=[index])[1] for index in counts.columns
    ]
    for pair in permutations(counts.columns, 2):
        expected = count_naively(together, ks=ks, columns=pair)
        assert table_of(counts, *pair) == expected.tolist()


def table_of(counts: cross_tabulation.PairCounts, first: int, second: int) -> list[list[int]]:
    """Return the two-by-two table that the joint counts of two columns determine."""
    both = counts.joint(first, second)
    one, other = counts.joint(first, first), counts.joint(second, second)
    return [[counts.total - one - other + both, other - both], [one - both, both]]


def count_pairs(
    many: Sequence[Sequence[bytes]], *, ks: Sequence[int]
) -> cross_tabulation.PairCounts:
    counter = PairCounter(ks=ks)
    for rows in many:
        counter.add(pack_reports(rows, ks=ks), size=len(rows))
    return counter.result()


def test_batches_that_straddle_blocks_are_counted_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    ks = [2, 2, 2]
    generator = np.random.default_rng(1)
    many = [draw_rows(generator, size=size, ks=ks) for size in (50, 700, 64, 1, 65, 3000)]
    whole = count_pairs(many, ks=ks)
    monkeypatch.setattr(cross_tabulation, "BLOCK_BYTES", 8 * 3 * 7)  # seven words per question
    assert count_pairs(many, ks=ks).both.tolist() == whole.both.tolist()
    together = [row for rows in many for row in rows]
    for pair in combinations(range(3), 2):
        expected = count_naively(together, ks=ks, columns=pair)
        assert table_of(whole, *pair) == expected.tolist()


def test_more_batches_can_follow_a_result() -> None:
    ks = [2, 2]
    first, second = [b"\1\1"] * 50, [b"\1\0"] * 70
    counter = PairCounter(ks=ks)
    counter.add(pack_reports(first, ks=ks), size=50)
    assert table_of(counter.result(), 0, 1) == [[0, 0], [0, 50]]
    counter.add(pack_reports(second, ks=ks), size=70)
    assert table_of(counter.result(), 0, 1) == [[0, 0], [70, 50]]


def test_a_counter_without_batches_returns_zeros() -> None:
    counts = PairCounter(ks=[2, 2]).result()
    assert counts.total == 0
    assert table_of(counts, 0, 1) == [[0, 0], [0, 0]]


def test_eight_questions_make_a_table() -> None:
    ks = [2, 3, 2, 2, 4, 2, 2, 3]
    rows = draw_rows(np.random.default_rng(2), size=5000, ks=ks)
    table = cross_tabulate(pack_reports(rows, ks=ks), size=5000, ks=ks, columns=range(8))
    assert table.tolist() == count_naively(rows, ks=ks, columns=range(8)).tolist()


def test_the_largest_table_reaches_its_last_cell() -> None:
    ks = [64, 32, 32]
    rows = [bytes([63, 31, 31])] * 3
    table = cross_tabulate(pack_reports(rows, ks=ks), size=3, ks=ks, columns=[0, 1, 2])
    assert table.size == cross_tabulation.MAX_CELLS
    assert table[63, 31, 31] == table.sum() == 3


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([], r"columns must name at least one question, got \[\]"),
        ([0, 4], "columns must be from 0 to 3, got 4"),
        ([-1], "columns must be from 0 to 3, got -1"),
        ([1, 0, 1], r"columns must not name a question twice, got \[1, 0, 1\]"),
        ([1, 2, 3], r"at most 65536 cells, got \[1, 2, 3\] with 65600 cells"),
    ],
)
def test_columns_that_cannot_form_a_table_are_refused(columns: list[int], message: str) -> None:
    ks = [2, 40, 40, 41]
    packed = pack_reports([bytes(4)], ks=ks)
    with pytest.raises(ValueError, match=message):
        cross_tabulate(packed, size=1, ks=ks, columns=columns)


@pytest.mark.parametrize("size", [64, 128])
def test_a_wrong_number_of_bytes_is_refused(size: int) -> None:
    expected = "packed must contain .* bytes, got 17"
    for ks in ([2, 2], [2, 3]):
        with pytest.raises(ValueError, match=expected):
            cross_tabulate(bytes(17), size=size, ks=ks, columns=[0])
        with pytest.raises(ValueError, match=expected):
            PairCounter(ks=ks).add(bytes(17), size=size)


def test_an_impossible_code_is_refused_rather_than_counted_as_another() -> None:
    packed = pack_reports([b"\1\3"], ks=[2, 4])
    with pytest.raises(ValueError, match="packed must contain codes below 3 in column 1, got 3"):
        cross_tabulate(packed, size=1, ks=[2, 3], columns=[0, 1])


def test_pairs_need_questions_with_two_codes() -> None:
    with pytest.raises(
        ValueError, match=r"ks must include a question with two codes, got \[3, 4\]"
    ):
        PairCounter(ks=[3, 4])
