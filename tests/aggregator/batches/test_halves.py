"""The halves of a wave are drawn once, by chance, after its end, and from batch sizes alone."""

from __future__ import annotations

import pytest

from aggregator.batches import halves
from aggregator.batches.halves import (
    FEW_BATCHES,
    FEW_REPORTS,
    UNEVEN,
    count_held,
    draw_sides,
    find_half,
    settle_half,
)
from aggregator.batches.sealing import choose_batch_size, find_largest_batch, seal_next_batch
from aggregator.models import Batch, SealedHalf
from aggregator.results import estimating, snapshots
from aggregator.results.groups.halves import can_tell_groups
from aggregator.results.snapshots import find_waves_to_estimate, update_snapshot
from aggregator.upkeep.deleting import delete_survey
from surveys.lifecycle.services import close_wave
from surveys.models import Survey, Wave
from tests.support.fielding import process, send_people
from tests.support.halves import list_differences, make_divided_wave
from tests.support.waves import make_wave


def test_each_batch_is_sealed_in_half_of_the_draws_and_the_halves_are_alike() -> None:
    sizes = [50 + place for place in range(24)]
    draws = [draw_sides(sizes, crowd=150) for _ in range(2000)]
    for sides in draws:
        assert sides is not None
        held = sum(size for size, is_held in zip(sizes, sides, strict=True) if is_held)
        assert 0.4 <= held / sum(sizes) <= 0.6
    for place in range(24):  # five standard deviations
        assert abs(sum(sides[place] for sides in draws if sides) - 1000) < 112


@pytest.mark.parametrize(
    ("sizes", "crowd"),
    [([100] * 19, 150), ([100] * 20, 1001), ([10] * 19 + [10_000], 30), ([10] * 19 + [300], 30)],
)
def test_there_is_no_draw_where_one_half_would_be_too_small(sizes: list[int], crowd: int) -> None:
    assert draw_sides(sizes, crowd=crowd) is None


def test_halves_of_exactly_the_crowd_can_be_drawn() -> None:
    sides = draw_sides([15] * 20, crowd=150)
    assert sides is not None
    assert sum(sides) == 10


@pytest.mark.django_db
def test_a_wave_is_divided_after_its_end_and_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    wave = make_wave(sealed_half=True)
    send_people(wave, people=600)
    process(wave)
    assert (find_half(wave), wave.snapshots.get().is_half) == (None, False)
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert (
        settle_half(wave_id=wave.pk, can_tell_groups=can_tell_groups) is None
    )  # the last reports are still waiting
    process(wave)
    half = find_half(wave)
    assert half is not None
    assert half.is_sealed
    batches = Batch.every.filter(wave=wave)
    assert [one.number for one in batches] == list(range(1, len(batches) + 1))
    assert wave.batches.count() == half.through_batch
    assert set(Batch.every.filter(wave=wave, is_held=True).values_list("number", flat=True)) == (
        set(range(half.through_batch + 1, len(batches) + 1))
    )
    [snapshot] = wave.snapshots.all()
    assert (snapshot.through_batch, snapshot.final, snapshot.is_half) == (
        half.through_batch,
        False,
        True,
    )
    assert snapshot.total + count_held(wave) == 600
    monkeypatch.setattr(halves, "draw_sides", lambda *_args, **_more: pytest.fail("drawn again"))
    assert settle_half(wave_id=wave.pk, can_tell_groups=can_tell_groups) == half
    assert not find_waves_to_estimate().exists()
    assert list_differences() == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("people", "problem"),
    [
        (100, FEW_BATCHES.format(batches=4)),
        (560, FEW_REPORTS.format(crowd=300, reports=560)),
    ],
)
def test_a_wave_that_cannot_be_divided_shows_everything(people: int, problem: str) -> None:
    wave = make_divided_wave(people=people, display_minimum=30 if people < 300 else 300)
    assert SealedHalf.objects.get().problem == problem
    last = wave.snapshots.order_by("through_batch").last()
    assert last is not None
    assert (last.final, last.is_half, last.total) == (True, False, people)
    assert not find_waves_to_estimate().exists()
    assert list_differences() == []


def test_every_refusal_has_its_reason() -> None:
    assert halves._explain([10] * 19 + [10_000], crowd=30) == UNEVEN


@pytest.mark.django_db
def test_a_worker_that_read_all_batches_before_the_division_stores_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wave = make_wave(sealed_half=True)
    send_people(wave, people=600)
    while seal_next_batch(wave_id=wave.pk):
        pass
    compute = estimating.compute_estimates

    def compute_slowly(**arguments: object) -> object:
        monkeypatch.setattr(snapshots, "compute_estimates", compute)
        close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
        process(wave)  # another worker
        return compute(**arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(snapshots, "compute_estimates", compute_slowly)
    assert update_snapshot(wave_id=wave.pk) is None
    half = find_half(wave)
    assert half is not None
    assert [one.through_batch for one in wave.snapshots.all()] == [half.through_batch]


@pytest.mark.django_db
def test_a_burst_makes_many_batches_of_equal_size() -> None:
    wave = make_wave(sealed_half=True, people_expected=4000)
    assert find_largest_batch(wave) == 100
    assert choose_batch_size(waiting=9000, minimum=10, closed=False, largest=100) == 100
    assert find_largest_batch(make_wave(sealed_half=True, people_expected=None)) == 25


@pytest.mark.django_db
def test_a_survey_is_deleted_with_both_halves() -> None:
    survey = make_divided_wave().survey
    delete_survey(survey=survey)
    assert not Survey.objects.exists()
    assert not Batch.every.exists()
    assert not SealedHalf.objects.exists()
