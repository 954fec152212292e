"""The sweep finds all due work in the rows; tasks may run twice, late or never."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from aggregator import tasks
from aggregator.models import Chart
from aggregator.snapshots import newest_snapshot
from surveys.models import Wave
from tests.aggregator.waves import make_wave, send_many

pytestmark = pytest.mark.django_db
ROWS = [bytes([i % 2, 0, 1]) for i in range(40)]
Message = tuple[Callable[[int], None], list[int]]


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """Stands in for the broker: messages are kept and delivered by hand."""
    messages: list[Message] = []

    def keep(task: Any) -> Callable[..., None]:
        return lambda args, **_: messages.append((task, args))

    for task in (tasks.seal_wave, tasks.estimate_wave, tasks.draw_wave):
        monkeypatch.setattr(task, "apply_async", keep(task))
    monkeypatch.setattr(
        "aggregator.drawing.draw_chart",
        lambda wave, snapshot: ({"n": snapshot.total}, "<svg/>", b""),
    )
    return messages


def deliver(queue: list[Message], *, times: int = 1) -> None:
    while queue:
        task, args = queue.pop(0)
        for _ in range(times):
            task(*args)


@pytest.mark.parametrize("times", [1, 2])
def test_two_sweeps_and_their_messages_bring_a_wave_up_to_date(
    queue: list[Message], times: int
) -> None:
    wave = make_wave(cap=40)
    send_many(wave, ROWS)
    tasks.sweep()  # closes, seals, estimates
    deliver(queue, times=times)
    tasks.sweep()  # draws
    deliver(queue, times=times)
    wave.refresh_from_db()
    snapshot = newest_snapshot(wave)
    assert snapshot is not None
    assert (wave.ending, snapshot.total, snapshot.final) == (Wave.Ending.CAP, 40, True)
    assert Chart.objects.get().specification == {"n": 40}
    tasks.sweep()
    assert queue == []


@pytest.mark.parametrize("lost", [1, 2, 3, 4])
def test_lost_messages_are_made_good_by_later_sweeps(queue: list[Message], lost: int) -> None:
    wave = make_wave(cap=40)
    send_many(wave, ROWS)
    tasks.sweep()
    for _ in range(lost):
        if queue:
            queue.pop(0)
        else:
            tasks.sweep()
    for _ in range(4):
        tasks.sweep()
        deliver(queue)
    snapshot = newest_snapshot(wave)
    assert snapshot is not None
    assert (snapshot.total, snapshot.final) == (40, True)


def test_below_the_display_minimum_nothing_is_drawn(queue: list[Message]) -> None:
    wave = make_wave(display_minimum=41)
    send_many(wave, ROWS)
    for _ in range(2):
        tasks.sweep()
        deliver(queue)
    assert newest_snapshot(wave) is not None
    assert not Chart.objects.exists()
    tasks.sweep()
    assert queue == []


def test_messages_carry_ids_only(queue: list[Message]) -> None:
    wave = make_wave()
    send_many(wave, ROWS)
    tasks.sweep()
    assert [args for _, args in queue] == [[wave.pk]]
