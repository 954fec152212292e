"""The queue's length by priority, as kombu keeps it in Redis."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from kombu.exceptions import OperationalError
from pytest_django.fixtures import Settings

from aggregator import tasks
from aggregator.upkeep.broker import SWEEPS, count_waiting, drop_waiting_sweeps
from config.celery import app
from tests.support.redis_servers import running_redis


@pytest.fixture
def redis_url(settings: Settings) -> Iterator[str]:
    with running_redis("--save", "") as url:
        settings.REDIS_URL = url
        yield url


def test_messages_are_counted_by_priority_and_sweeps_can_be_dropped(redis_url: str) -> None:
    priorities = (tasks.SOON, tasks.LATER, tasks.AT_LEISURE)
    with app.connection_for_write(redis_url) as connection:
        for number, priority in enumerate(priorities, start=1):
            for _ in range(number):
                tasks.seal_wave.apply_async([1], priority=priority, connection=connection)
        for _ in range(4):
            tasks.sweep.apply_async(connection=connection)
    assert [count_waiting(priority) for priority in (SWEEPS, *priorities)] == [4, 1, 2, 3]
    drop_waiting_sweeps()
    assert [count_waiting(priority) for priority in (SWEEPS, *priorities)] == [0, 1, 2, 3]


@pytest.mark.parametrize("ask", [lambda: count_waiting(tasks.SOON), drop_waiting_sweeps])
def test_a_broker_that_is_away_raises_what_sending_raises(
    settings: Settings, ask: Callable[[], object]
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    with pytest.raises(OperationalError):
        ask()
