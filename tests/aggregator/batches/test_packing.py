"""Packed reports come out sorted, and counts agree with them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.batches.packing import count_codes, pack_reports, unpack_reports


@st.composite
def reports(draw: st.DrawFn) -> tuple[list[int], list[bytes]]:
    ks = draw(st.lists(st.integers(2, 5), min_size=1, max_size=6))
    row = st.tuples(*[st.integers(0, k - 1) for k in ks]).map(bytes)
    return ks, draw(st.lists(row, min_size=1, max_size=200))


@given(reports())
def test_unpacking_returns_the_same_reports_sorted(case: tuple[list[int], list[bytes]]) -> None:
    ks, rows = case
    packed = pack_reports(rows, ks=ks)
    matrix = unpack_reports(packed, size=len(rows), ks=ks)
    assert [bytes(row) for row in matrix] == sorted(rows)


@given(reports(), st.randoms())
def test_packing_leaves_no_trace_of_the_order_of_arrival(case, random) -> None:  # type: ignore[no-untyped-def]
    ks, rows = case
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert pack_reports(rows, ks=ks) == pack_reports(shuffled, ks=ks)


@given(reports())
def test_counts_agree_with_the_unpacked_reports(case: tuple[list[int], list[bytes]]) -> None:
    ks, rows = case
    matrix = np.array([list(row) for row in rows])
    expected = [np.bincount(matrix[:, i], minlength=k).tolist() for i, k in enumerate(ks)]
    assert count_codes(pack_reports(rows, ks=ks), size=len(rows), ks=ks) == expected


def test_two_codes_take_one_bit_per_report_padded_to_words() -> None:
    assert len(pack_reports([b"\1"] * 64, ks=[2])) == 8
    assert len(pack_reports([b"\1"] * 65, ks=[2])) == 16


def test_a_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="packed must contain 8 bytes, got 7"):
        unpack_reports(b"1234567", size=3, ks=[2])
