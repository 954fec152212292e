"""Each batch takes reports by chance, in a new random draw: no id is preferred."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest
from scipy import stats

from aggregator.batches import sealing
from aggregator.batches.sealing import seal_next_batch
from aggregator.models import RawReport
from surveys.models import Wave
from tests.support.waves import make_wave, send

pytestmark = pytest.mark.django_db
K = 10
ONE_IN_A_MILLION = 1e-6


@pytest.fixture(autouse=True)
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SQLite "draw" the nonces 1, 2, 3 and so on, a new one for each statement."""
    numbers = iter(range(1, 1_000_000))

    class Nonces(dict[str, str]):
        def __getitem__(self, vendor: str) -> str:
            return f"'{next(numbers)}'"

    monkeypatch.setattr(sealing, "_NONCE", Nonces())


def put(wave: Wave, ids: list[bytes]) -> None:
    for report_id in ids:
        send(wave, b"\0\1\0", report_id=report_id)


def find_waiting(wave: Wave) -> set[bytes]:
    return {bytes(pk) for pk in RawReport.objects.filter(wave=wave).values_list("pk", flat=True)}


def seal(wave: Wave) -> set[bytes]:
    """Seal a batch, and return the ids of the reports that still wait."""
    assert seal_next_batch(wave_id=wave.pk) is not None
    return find_waiting(wave)


def ids_from(first: int, count: int, *, begin: bytes = b"") -> list[bytes]:
    """Return ids like those that browsers draw, or ids whose first bytes a program has chosen."""
    return [
        (begin + hashlib.sha256(number.to_bytes(8, "big")).digest())[:32]
        for number in range(first, first + count)
    ]


def count_rounds(rounds: int, ids: list[bytes]) -> Iterator[set[bytes]]:
    """In each round, store the same reports, seal one batch, and yield the ids that still wait."""
    wave = make_wave(minimum_batch=K, display_minimum=K)
    for _ in range(rounds):
        RawReport.objects.bulk_create(
            RawReport(pk=report_id, wave=wave, symbols=b"\0\1\0") for report_id in ids
        )
        yield seal(wave)
        RawReport.objects.filter(wave=wave).delete()


def is_plausible(count: int, *, of: int, chance: float) -> bool:
    return float(stats.binomtest(count, of, chance).pvalue) > ONE_IN_A_MILLION


def test_each_report_goes_on_waiting_with_the_chance_that_the_sizes_give() -> None:
    """Of 35 reports, K go on waiting. Over 400 rounds, each id waits as often as any other."""
    ids = sorted(ids_from(0, 35))
    rounds = 400
    waited = dict.fromkeys(ids, 0)
    for waiting in count_rounds(rounds, ids):
        assert len(waiting) == K
        for report_id in waiting:
            waited[report_id] += 1
    for position, report_id in enumerate(ids):
        # 35 ids are tested, so a single result may be as rare as one in 35 million.
        pvalue = stats.binomtest(waited[report_id], rounds, K / 35).pvalue
        assert pvalue > ONE_IN_A_MILLION / 35, (position, waited[report_id])


def test_of_those_that_wait_half_stay_each_time() -> None:
    """Of the reports left after the first batch, 1/2, 1/4 and 1/8 are left after the next three."""
    rounds, batches = 60, 3
    stayed = [0] * batches
    wave = make_wave(minimum_batch=K, display_minimum=K)
    for number in range(rounds):
        RawReport.objects.all().delete()
        put(wave, ids_from(10_000 * number, 2 * K))
        first = seal(wave)
        for batch in range(batches):
            put(wave, ids_from(10_000 * number + 100 * (batch + 1), K))
            stayed[batch] += len(first & seal(wave))
    for batch, count in enumerate(stayed):
        assert is_plausible(count, of=rounds * K, chance=0.5 ** (batch + 1)), stayed


@pytest.mark.parametrize("begin", [b"\x00" * 8, b"\xff" * 8])
def test_ids_of_one_range_are_sealed_neither_first_nor_last(begin: bytes) -> None:
    rounds = 60
    chosen = ids_from(500, K, begin=begin)
    waited = sum(
        len(waiting & set(chosen)) for waiting in count_rounds(rounds, chosen + ids_from(0, 2 * K))
    )
    # Of 3K reports, K go on waiting, and K have such ids. Because reports are drawn without
    # replacement, the counts vary less than under the binomial distribution.
    assert is_plausible(waited, of=rounds * K, chance=1 / 3), waited


def test_the_next_batch_draws_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = ids_from(0, 40)
    first, second = (frozenset(waiting) for waiting in count_rounds(2, ids))
    assert first != second
    monkeypatch.setattr(sealing, "_NONCE", {"sqlite": "'same'"})
    first, second = (frozenset(waiting) for waiting in count_rounds(2, ids))
    assert first == second


def test_reports_beyond_the_largest_batch_can_be_chosen_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sealing, "MAX_BATCH", 16)
    ids = sorted(ids_from(0, 400))
    waiting = next(count_rounds(1, ids))
    taken = [position for position, report_id in enumerate(ids) if report_id not in waiting]
    assert len(taken) == 16
    # If the lowest ids were taken, as in an earlier version, none would be beyond position 26.
    assert max(taken) > 200 > min(taken)


def test_the_database_draws_a_nonce_for_each_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    ids = ids_from(0, 40)
    first, second = (frozenset(waiting) for waiting in count_rounds(2, ids))
    assert first != second  # equal by chance once in 10^9 runs: 40 choose 10 is 848 million
