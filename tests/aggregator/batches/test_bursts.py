"""Sizes of batches show how many reports arrived together."""

from __future__ import annotations

import pytest
from scipy import stats

from aggregator.batches.bursts import LEAST_IN_A_BURST, count_burst_reports
from aggregator.models import Batch
from tests.support.waves import make_wave

K = 50


def count(sizes: list[int], *, through: int | None = None, final: bool = False) -> int:
    wave = make_wave(minimum_batch=K, display_minimum=K)
    Batch.objects.bulk_create(
        Batch(wave=wave, number=n, size=size, packed=b"", content_hash=b"", counts=[])
        for n, size in enumerate(sizes, 1)
    )
    return count_burst_reports(wave, through_batch=through or len(sizes), final=final)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("sizes", "final", "burst"),
    [
        ([50, 51, 60, 99], False, 0),
        ([50, 100, 60], False, 50),
        ([50, 800, 60, 149], False, 750 + 99),
        ([60, 149], True, 0),  # the close also seals the K waiting reports
        ([60, 150], True, 50),
        ([149, 60], True, 99),
        ([65_536], False, 65_486),
        ([], False, 0),
    ],
)
def test_what_is_beyond_a_full_batch_came_within_seconds(
    sizes: list[int], final: bool, burst: int
) -> None:
    assert count(sizes, final=final) == burst


@pytest.mark.django_db
def test_batches_after_the_last_look_do_not_count() -> None:
    assert count([800, 50, 900], through=2) == 750


@pytest.mark.django_db
def test_the_last_batch_is_known_after_halves_were_drawn() -> None:
    wave = make_wave(minimum_batch=100, display_minimum=100)
    Batch.objects.bulk_create(
        Batch(wave=wave, number=n, size=size, packed=b"", content_hash=b"", counts=[])
        for n, size in ((2, 100), (1, 199))  # renumbered: batch 1 was sealed at the close
    )
    assert count_burst_reports(wave, through_batch=2, final=True) == 0


def test_the_stated_chances_are_right() -> None:
    """The methods, a decision and the module state these chances, for sweeps every two seconds."""
    chances = [stats.poisson.sf(LEAST_IN_A_BURST, 2 * rate) for rate in (10, 15, 25)]
    assert chances == pytest.approx([1 / 200e6, 3 / 10_000, 0.46], rel=0.05)
