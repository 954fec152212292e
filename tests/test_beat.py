"""Beat keeps sending tasks if the clock is set back or forward."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from celery import beat
from celery.schedules import crontab

from config.beat import Scheduler
from config.celery import app
from config.settings import CELERY_BEAT_SCHEDULE, CELERY_BEAT_SCHEDULER, SWEEP_SECONDS

START = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


class Clock:
    """A clock that can be set, and the tasks that beat sends by this clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, scheduler: type[beat.Scheduler]) -> None:
        self.now = START
        self.sent: list[str] = []
        monkeypatch.setattr(type(app), "now", lambda _: self.now)
        monkeypatch.setattr(
            scheduler, "apply_async", lambda _, entry, **__: self.sent.append(entry.name)
        )
        monkeypatch.setattr(scheduler, "producer", None)
        self.scheduler = scheduler(app, schedule={})
        self.scheduler.schedule = {
            name: scheduler.Entry(name=name, app=app, task=entry["task"], schedule=schedule)
            for name, entry in CELERY_BEAT_SCHEDULE.items()
            if isinstance(schedule := entry["schedule"], float | crontab)
        }

    def run(self, duration: timedelta) -> list[str]:
        """Do what beat does for this duration, and return the names of the tasks sent."""
        self.sent.clear()
        left = duration.total_seconds()
        while left > 0:
            pause = max(self.scheduler.tick(), 0.001)
            left -= pause
            self.now += timedelta(seconds=pause)
        return self.sent


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch, Scheduler)


def test_beat_uses_this_scheduler() -> None:
    assert f"{Scheduler.__module__}:{Scheduler.__name__}" == CELERY_BEAT_SCHEDULER


def test_celerys_own_scheduler_would_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this test fails, config/beat.py is no longer needed."""
    clock = Clock(monkeypatch, beat.Scheduler)
    clock.run(timedelta(seconds=10 * SWEEP_SECONDS))
    clock.now -= timedelta(hours=2)
    assert clock.run(timedelta(minutes=30)) == []


@pytest.mark.parametrize("hours", [-24 * 365 * 10, -24, -2, -0.01, 0, 2, 24, 24 * 365 * 10])
def test_sweeps_go_on_after_the_clock_was_set(clock: Clock, hours: float) -> None:
    assert clock.run(timedelta(seconds=10 * SWEEP_SECONDS)).count("sweep") >= 9
    clock.now += timedelta(hours=hours)
    assert "sweep" in clock.run(timedelta(seconds=2 * SWEEP_SECONDS))
    assert clock.run(timedelta(seconds=10 * SWEEP_SECONDS)).count("sweep") >= 9


@pytest.mark.parametrize("hours", [-2, -0.5, 2])
def test_tasks_at_fixed_times_follow_the_new_time(clock: Clock, hours: float) -> None:
    clock.run(timedelta(seconds=10))
    del clock.scheduler.schedule["sweep"]  # 40,000 ticks a day
    clock.run(timedelta(minutes=30))
    clock.now += timedelta(hours=hours)
    clock.run(timedelta(seconds=10))  # after a step forward, the skipped tasks are sent
    day = clock.run(timedelta(hours=24))
    assert day.count("verify") == 1
    assert day.count("forget_sessions") == 24


def test_a_clock_set_back_every_second_still_lets_sweeps_through(clock: Clock) -> None:
    names = []
    for _ in range(20):
        names += clock.run(timedelta(seconds=SWEEP_SECONDS * 1.2))
        clock.now -= timedelta(seconds=SWEEP_SECONDS)
    assert names.count("sweep") >= 10
