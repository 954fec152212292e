"""Every fault that a storm may leave is planted; the checker names these faults and no others."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregator.batches.packing import count_codes, pack_reports
from scripts.attacks.storm.checker import (
    NUMBER_BITS,
    QUESTIONS,
    Event,
    History,
    Sealed,
    Verdict,
    check,
    read_number,
    spell,
)

K = 10
ACKNOWLEDGED, ABANDONED = range(40), range(40, 45)


def seal(numbers: Sequence[int], *, number: int, wave: int = 1) -> Sealed:
    return seal_rows([spell(n) for n in numbers], number=number, wave=wave)


def seal_rows(rows: Sequence[bytes], *, number: int, wave: int = 1) -> Sealed:
    ks = [2] * QUESTIONS
    packed = pack_reports(rows, ks=ks)
    return Sealed(
        wave=wave,
        number=number,
        size=len(rows),
        packed=packed,
        content_hash=hashlib.sha256(packed).digest(),
        counts=count_codes(packed, size=len(rows), ks=ks),
    )


@pytest.fixture
def history() -> History:
    """Forty reports were acknowledged in wave 1, and five were given up."""
    history = History()
    for number in (*ACKNOWLEDGED, *ABANDONED):
        history.add(Event.ATTEMPTED, number=number, wave=1)
    for number in ACKNOWLEDGED:
        history.add(Event.ACKNOWLEDGED, number=number, wave=1)
    for number in ABANDONED:
        history.add(Event.ABANDONED, number=number, wave=1)
    return history


def judge(history: History, *batches: Sealed, spent: int | None = None) -> Verdict:
    return check(history, batches, minimum_batch=K, spent=spent)


def test_a_history_with_each_acknowledged_report_once_is_clean(history: History) -> None:
    verdict = judge(
        history, seal(range(15), number=1), seal([*range(15, 40), 42], number=2), spent=41
    )
    assert verdict.is_clean, verdict
    assert (verdict.acknowledged, verdict.abandoned, verdict.counted) == (40, 5, 41)


def test_a_lost_report_is_named(history: History) -> None:
    verdict = judge(history, seal([n for n in ACKNOWLEDGED if n != 7], number=1))
    assert (verdict.lost, verdict.doubled, verdict.forged, verdict.flaws) == ((7,), (), (), ())
    assert "lost: 7" in str(verdict)


def test_a_lost_batch_is_a_gap_too(history: History) -> None:
    verdict = judge(history, seal(range(15), number=1), seal(range(30, 40), number=3))
    assert verdict.lost == tuple(range(15, 30))
    assert verdict.flaws == ("wave 1 has batches [1, 3], not 1 to 2",)


@pytest.mark.parametrize("twice", [7, 42])  # acknowledged and given up
def test_a_doubled_report_is_named(history: History, twice: int) -> None:
    first, second = seal([*ACKNOWLEDGED, 42], number=1), seal([twice, 43], number=2)
    verdict = check(history, [first, second], minimum_batch=2)
    assert (verdict.lost, verdict.doubled, verdict.forged, verdict.flaws) == ((), (twice,), (), ())


def test_a_report_doubled_within_one_batch_is_named(history: History) -> None:
    assert judge(history, seal([*ACKNOWLEDGED, 7], number=1)).doubled == (7,)


def test_a_forged_report_is_named(history: History) -> None:
    verdict = judge(history, seal([*ACKNOWLEDGED, 99], number=1))
    assert verdict.forged == ("99 in wave 1 batch 1",)
    assert not verdict.lost
    assert not verdict.doubled


@pytest.mark.parametrize("bit", range(QUESTIONS))
def test_an_altered_bit_is_a_lost_and_a_forged_report(history: History, bit: int) -> None:
    rows = [bytearray(spell(number)) for number in ACKNOWLEDGED]
    rows[7][bit] ^= 1
    verdict = judge(history, seal_rows([bytes(row) for row in rows], number=1))
    assert verdict.lost == (7,)
    assert verdict.forged == ("None in wave 1 batch 1",)


def test_a_report_in_another_wave_is_forged_there_and_lost_here(history: History) -> None:
    here = seal([n for n in ACKNOWLEDGED if n != 7], number=1)
    there = seal([7], number=1, wave=2)
    verdict = check(history, [here, there], minimum_batch=1)
    assert (verdict.lost, verdict.forged) == ((7,), ("7 in wave 2 batch 1",))


@pytest.mark.parametrize(
    ("fault", "flaw"),
    [
        (lambda batch: replace(batch, content_hash=bytes(32)), "does not match its hash"),
        (lambda batch: replace(batch, counts=[[0, 40]] * QUESTIONS), "does not match its counts"),
        (lambda batch: replace(batch, number=2), "has batches [2], not 1 to 1"),
        (lambda batch: replace(batch, packed=batch.packed + b"\0"), "packed must contain"),
    ],
)
def test_a_batch_that_contradicts_itself_is_named(history: History, fault, flaw: str) -> None:  # type: ignore[no-untyped-def]
    verdict = judge(history, fault(seal(ACKNOWLEDGED, number=1)))
    assert flaw in " ".join(verdict.flaws)


def test_a_batch_below_k_is_named(history: History) -> None:
    verdict = judge(history, seal(range(9), number=1), seal(range(9, 40), number=2))
    assert verdict.flaws == ("wave 1 batch 1 holds 9 reports, fewer than 10",)


def test_rows_in_order_of_arrival_are_reported(history: History) -> None:
    arrived = [spell(number) for number in reversed(ACKNOWLEDGED)]
    matrix = np.frombuffer(b"".join(arrived), dtype=np.uint8).reshape(len(arrived), QUESTIONS)
    packed = b"".join(np.packbits(c, bitorder="little").tobytes().ljust(8, b"\0") for c in matrix.T)
    batch = replace(
        seal(ACKNOWLEDGED, number=1), packed=packed, content_hash=hashlib.sha256(packed).digest()
    )
    assert judge(history, batch).flaws == (
        "wave 1 batch 1 is not sorted: its order may be that of arrival",
    )


def test_spent_ids_without_reports_are_named(history: History) -> None:
    verdict = judge(history, seal(ACKNOWLEDGED, number=1), spent=41)
    assert verdict.flaws == ("41 ids are spent but 40 reports are counted",)


@given(st.integers(0, 2**NUMBER_BITS - 1))
def test_a_number_is_read_as_it_was_spelled(number: int) -> None:
    symbols = spell(number)
    assert set(symbols) <= {0, 1}
    assert read_number(symbols) == number


def test_the_file_holds_the_whole_history(history: History, tmp_path: Path) -> None:
    with History(path=tmp_path / "history") as written:
        for number in (*ACKNOWLEDGED, *ABANDONED):
            written.add(Event.ATTEMPTED, number=number, wave=1)
        for number in ACKNOWLEDGED:
            written.add(Event.ACKNOWLEDGED, number=number, wave=1)
        for number in ABANDONED:
            written.add(Event.ABANDONED, number=number, wave=1)
    read = History.read(tmp_path / "history")
    assert (read.waves, read.acknowledged, read.abandoned) == (
        history.waves,
        history.acknowledged,
        history.abandoned,
    )
