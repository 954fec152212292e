"""Sealing makes batches of at least K, leaves K reports, loses none and takes none twice."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from aggregator.batches import sealing
from aggregator.batches.closing import close_due_waves
from aggregator.batches.packing import unpack_reports
from aggregator.batches.sealing import (
    MAX_BATCH,
    SealingError,
    choose_batch_size,
    count_acknowledged,
    find_waves_to_seal,
    seal_next_batch,
)
from aggregator.models import Batch, Discard, RawReport, SpentId
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.waves import make_wave, send_many

pytestmark = pytest.mark.django_db
ROWS = [bytes([i & 1, i >> 1 & 1, i >> 2 & 1]) for i in range(100)]


@pytest.mark.parametrize(
    ("waiting", "closed", "size"),
    [
        (0, False, 0),
        (99, False, 0),  # below 2K, nothing is sealed
        (100, False, 50),  # K reports stay
        (149, False, 99),
        (1_000_000, False, MAX_BATCH),
        (0, True, 0),
        (49, True, 0),  # below K: nothing can be published
        (50, True, 50),
        (99, True, 99),
        (MAX_BATCH, True, MAX_BATCH),
        (MAX_BATCH + 1, True, MAX_BATCH + 1 - 50),  # K reports stay for the next batch
    ],
)
def test_sealing_leaves_a_full_batch_behind(waiting: int, closed: bool, size: int) -> None:
    assert choose_batch_size(waiting=waiting, minimum=50, closed=closed) == size


@pytest.mark.parametrize("minimum", [50, 32_768, 32_769, 40_000, MAX_BATCH, 70_000])
def test_a_closed_wave_is_sealed_with_nothing_left_over(minimum: int) -> None:
    for waiting in range(minimum, 250_000, 997):
        left = waiting
        while left:
            # Sealing counts no more reports than this.
            seen = min(left, max(MAX_BATCH, minimum) + minimum)
            size = choose_batch_size(waiting=seen, minimum=minimum, closed=True)
            assert minimum <= size <= max(MAX_BATCH, 2 * minimum)
            left -= size


@pytest.mark.parametrize("waiting", [20, 24, 25, 29, 30, 31, 60])
def test_a_large_minimum_does_not_discard_reports_that_make_a_batch(
    waiting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "MAX_BATCH", 16)  # stands for 65,536; 15 stands for 60,000
    wave = make_wave(minimum_batch=15, display_minimum=15)
    send_many(wave, ROWS[:waiting])
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    while seal_next_batch(wave_id=wave.pk):
        pass
    assert not Discard.objects.exists()
    assert not RawReport.objects.exists()
    sizes = list(wave.batches.values_list("size", flat=True))
    assert (sum(sizes), min(sizes) >= 15) == (waiting, True)


def test_a_batch_holds_exactly_the_reports_that_were_taken() -> None:
    wave = make_wave()
    send_many(wave, ROWS)
    batch = seal_next_batch(wave_id=wave.pk)
    assert batch is not None
    assert (batch.number, batch.size) == (1, 90)
    left = [bytes(raw.symbols) for raw in RawReport.objects.all()]
    assert len(left) == 10
    sealed = unpack_reports(bytes(batch.packed), size=90, ks=[2, 2, 2])
    assert sorted([bytes(row) for row in sealed] + left) == sorted(ROWS)
    assert batch.counts == [[int((sealed[:, q] == c).sum()) for c in (0, 1)] for q in range(3)]


def test_nothing_is_sealed_below_two_batches() -> None:
    wave = make_wave()
    send_many(wave, ROWS[:19])
    assert seal_next_batch(wave_id=wave.pk) is None
    assert not find_waves_to_seal().exists()
    assert RawReport.objects.count() == 19


def test_closing_seals_the_rest_and_batch_numbers_have_no_gaps() -> None:
    wave = make_wave()
    send_many(wave, ROWS[:50])
    seal_next_batch(wave_id=wave.pk)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert list(find_waves_to_seal()) == [wave]
    assert seal_next_batch(wave_id=wave.pk) is not None
    assert seal_next_batch(wave_id=wave.pk) is None
    assert list(wave.batches.values_list("number", "size")) == [(1, 40), (2, 10)]
    assert RawReport.objects.count() == 0
    assert not find_waves_to_seal().exists()


def test_a_wave_below_its_minimum_publishes_nothing_and_says_so() -> None:
    wave = make_wave()
    send_many(wave, ROWS[:9])
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert seal_next_batch(wave_id=wave.pk) is None
    assert (RawReport.objects.count(), Batch.objects.count()) == (0, 0)
    assert Discard.objects.get().size == 9
    assert count_acknowledged(wave) == SpentId.objects.count() == 9


def test_deleting_fewer_rows_than_counted_rolls_everything_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wave = make_wave()
    send_many(wave, ROWS[:30])
    monkeypatch.setattr(sealing, "choose_batch_size", lambda **_: 31)
    with pytest.raises(SealingError, match="expected 31 raw reports, took 30"):
        seal_next_batch(wave_id=wave.pk)
    assert (RawReport.objects.count(), Batch.objects.count()) == (30, 0)


def test_acknowledged_reports_are_raw_or_sealed_at_every_step() -> None:
    wave = make_wave()
    for sent in range(1, 101):
        send_many(wave, [ROWS[sent - 1]])
        seal_next_batch(wave_id=wave.pk)
        assert count_acknowledged(wave) == SpentId.objects.count() == sent
        assert RawReport.objects.count() >= min(sent, 10)


def test_the_order_of_arrival_cannot_be_read_from_a_batch() -> None:
    packed = []
    for rows in (ROWS[:40], ROWS[:40][::-1]):
        wave = make_wave()
        send_many(wave, rows)
        close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
        batch = seal_next_batch(wave_id=wave.pk)
        assert batch is not None
        packed.append(bytes(batch.packed))
    assert packed[0] == packed[1]


def test_sqlite_keeps_no_rowid_that_would_count_arrivals() -> None:
    assert connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        for table in ("aggregator_raw_report", "aggregator_spent_id"):
            cursor.execute("SELECT sql FROM sqlite_master WHERE name = %s", [table])
            assert cursor.fetchone()[0].endswith("WITHOUT ROWID")


def test_reports_come_back_from_the_table_in_the_order_of_their_random_ids() -> None:
    wave = make_wave()
    send_many(wave, ROWS)
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM aggregator_raw_report")
        ids = [row[0] for row in cursor.fetchall()]
    assert ids == sorted(ids)


def test_a_wave_is_closed_at_its_cap() -> None:
    wave = make_wave(cap=20)
    send_many(wave, ROWS[:19])
    assert close_due_waves() == 0
    send_many(wave, ROWS[19:20])
    assert close_due_waves() == 1
    wave.refresh_from_db()
    assert (wave.state, wave.ending) == (Wave.State.CLOSED, Wave.Ending.CAP)


def test_the_cap_also_counts_sealed_reports() -> None:
    wave = make_wave(cap=30)
    send_many(wave, ROWS[:29])
    seal_next_batch(wave_id=wave.pk)
    assert close_due_waves() == 0
    send_many(wave, ROWS[29:30])
    assert close_due_waves() == 1


def test_more_sealed_reports_than_the_cap_also_close_the_wave() -> None:
    wave = make_wave(cap=10)
    send_many(wave, ROWS[:40])
    seal_next_batch(wave_id=wave.pk)
    assert close_due_waves() == 1


def test_a_wave_is_closed_on_its_date(monkeypatch: pytest.MonkeyPatch) -> None:
    closes_at = timezone.now().replace(microsecond=0) + timedelta(hours=1)
    wave = make_wave(closes_at=closes_at)
    assert close_due_waves() == 0
    monkeypatch.setattr("aggregator.batches.closing.timezone.now", lambda: closes_at)
    assert close_due_waves() == 1
    wave.refresh_from_db()
    assert wave.ending == Wave.Ending.DATE


def test_a_second_sealer_finds_nothing_left_to_do() -> None:
    wave = make_wave()
    send_many(wave, ROWS[:20])
    assert seal_next_batch(wave_id=wave.pk) is not None
    assert seal_next_batch(wave_id=wave.pk) is None  # ten are left, and ten must stay
