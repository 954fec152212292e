"""Celery tasks: each takes an id, calls one service, and may run twice, late or never.

The work is in the rows. `sweep` runs every few seconds and finds what is due, so a lost
message, a dead worker or an emptied Redis delays a result and does nothing worse.
"""

from __future__ import annotations

from celery import shared_task

from aggregator.comparisons import find_comparisons_to_run, run_comparison
from aggregator.drawing import find_waves_to_draw, update_chart
from aggregator.sealing import close_due_waves, find_waves_to_seal, seal_next_batch
from aggregator.snapshots import find_waves_to_estimate, update_snapshot

# A message that waited longer than this is not worth acting on: newer sweeps sent others.
EXPIRES_SECONDS = 60


@shared_task
def sweep() -> None:
    close_due_waves()
    for wave in find_waves_to_seal():
        seal_wave.apply_async([wave.pk], expires=EXPIRES_SECONDS)
    for wave in find_waves_to_estimate():
        estimate_wave.apply_async([wave.pk], expires=EXPIRES_SECONDS)
    for wave in find_waves_to_draw():
        draw_wave.apply_async([wave.pk], expires=EXPIRES_SECONDS)
    for comparison in find_comparisons_to_run():
        compare.apply_async([comparison.pk], expires=EXPIRES_SECONDS)


@shared_task
def seal_wave(wave_id: int) -> None:
    while seal_next_batch(wave_id=wave_id) is not None:
        pass
    estimate_wave.apply_async([wave_id], expires=EXPIRES_SECONDS)


@shared_task
def estimate_wave(wave_id: int) -> None:
    # Drawing costs far more than estimating: that waits for a sweep, and so skips snapshots
    # that are old by then.
    update_snapshot(wave_id=wave_id)


@shared_task
def draw_wave(wave_id: int) -> None:
    update_chart(wave_id=wave_id)


@shared_task
def compare(comparison_id: int) -> None:
    run_comparison(comparison_id=comparison_id)
