"""Count and drop messages waiting in the broker, so that they do not pile up.

Messages contain no time, because a time next to a wave would date the wave's batches to the second.
A message therefore cannot show that it is out of date.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import redis
from django.conf import settings
from kombu.exceptions import OperationalError
from kombu.transport.redis import Channel

PATIENCE_SECONDS = 5
SWEEPS = 0  # the priority of sweeps only


def find_queue(task_name: str) -> str:
    """Return the queue in which messages to a task wait."""
    route = settings.CELERY_TASK_ROUTES.get(task_name, {})
    return str(route.get("queue", settings.CELERY_TASK_DEFAULT_QUEUE))


def count_waiting(queue: str, priority: int) -> int:
    with _connected() as client:
        return int(client.llen(_key(queue, priority)))


def drop_waiting_sweeps() -> None:
    """Delete the sweeps that piled up while no worker ran; they would precede all other work.

    The caller is itself a sweep and finds the same work.
    """
    with _connected() as client:
        client.delete(_key(settings.CELERY_TASK_DEFAULT_QUEUE, SWEEPS))


@contextmanager
def _connected() -> Iterator[redis.Redis]:
    """Connect to the broker; if it is unavailable, raise the error that sending raises."""
    try:
        with redis.Redis.from_url(
            settings.REDIS_URL,
            socket_timeout=PATIENCE_SECONDS,
            socket_connect_timeout=PATIENCE_SECONDS,
        ) as client:
            yield client
    except redis.RedisError as error:
        raise OperationalError(str(error)) from error


def _key(queue: str, priority: int) -> str:
    """Return the key of the list in which kombu keeps the messages of this priority."""
    return f"{queue}{Channel.sep}{priority}" if priority else queue
