"""The length of the queue by priority, as kombu keeps it in Redis."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from kombu.exceptions import OperationalError
from pytest_django.fixtures import Settings

from aggregator import tasks
from aggregator.upkeep.broker import SWEEPS, count_waiting, drop_waiting_sweeps, find_queue
from config.celery import app
from tests.support.servers import running_redis


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
            tasks.compare.apply_async([1], priority=priority, connection=connection)
        for _ in range(4):
            tasks.sweep.apply_async(connection=connection)

    def count(queue: str) -> list[int]:
        return [count_waiting(queue, priority) for priority in (SWEEPS, *priorities)]

    assert (count("celery"), count("leisure")) == ([4, 1, 2, 3], [0, 1, 1, 1])
    drop_waiting_sweeps()
    assert (count("celery"), count("leisure")) == ([0, 1, 2, 3], [0, 1, 1, 1])


def test_what_may_take_long_has_a_queue_of_its_own() -> None:
    named = {name for name in app.tasks if name.startswith("aggregator.tasks.")}
    long = {task.name for task in (tasks.compare, tasks.render_file, tasks.propose_rows)}
    long |= {tasks.verify.name, tasks.send_account_mail.name, tasks.read_import.name}
    long |= {tasks.send_invitation.name}
    long |= {tasks.send_deletion_mail.name, tasks.delete_survey_on_its_date.name}
    queues = {name: app.amqp.router.route({}, name)["queue"].name for name in named}
    assert {name for name, queue in queues.items() if queue == "leisure"} == long
    assert set(queues.values()) == {"celery", "leisure"}
    assert all(find_queue(name) == queue for name, queue in queues.items())


@pytest.mark.parametrize("ask", [lambda: count_waiting("celery", tasks.SOON), drop_waiting_sweeps])
def test_a_broker_that_is_away_raises_what_sending_raises(
    settings: Settings, ask: Callable[[], object]
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    with pytest.raises(OperationalError):
        ask()
