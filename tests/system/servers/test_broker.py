"""The broker's content, read from Redis itself: ids of waves, but no times."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis

from scripts.stack.opening import open_surveys
from scripts.stack.world import World, make_world

JSON = {"content-type": "application/json"}
SWEEPS = """
import time
from aggregator.tasks import sweep
for _ in range(3):
    sweep()
    time.sleep(1)
"""
TIMED = ("expires", "eta", "timestamp", "sent_at")


@pytest.fixture
def idle(tmp_path: Path) -> Iterator[World]:
    """Run everything but workers, so that messages stay where they are."""
    world = make_world(var=tmp_path, database_url="")
    try:
        world.begin(without=["worker", "leisure"])
        yield world
    finally:
        world.stack.stop()


def find_queues(broker: redis.Redis) -> list[bytes]:
    return [key for key in broker.scan_iter() if broker.type(key) == b"list"]


def read_messages(broker: redis.Redis) -> list[dict[str, Any]]:
    queues = find_queues(broker)
    return [json.loads(message) for key in queues for message in broker.lrange(key, 0, -1)]


def find_moments(text: str) -> list[str]:
    """Find today's date, and numbers close to the seconds since 1970, in any precision."""
    now = datetime.now(UTC)
    days = [f"{now + timedelta(days=days):%Y-%m-%d}" for days in (-1, 0, 1)]
    seconds = {str(int(time.time()) + shift)[:6] for shift in (-86_400, 0, 86_400)}
    numbers = [number for number in re.findall(r"\b\d{9,}", text) if number[:6] in seconds]
    return [day for day in days if day in text] + numbers


def test_messages_of_waves_name_no_moment_and_are_not_written_to_disk(idle: World) -> None:
    broker = redis.Redis.from_url(idle.stack.redis_url)
    [wave] = open_surveys(idle.stack, [{"minimum_batch": 10, "display_minimum": 10}], questions=1)
    with httpx.Client(base_url=idle.stack.url, trust_env=False, timeout=30) as client:
        for _ in range(30):
            reply = client.post("/api/reports", content=wave.body(b"\1"), headers=JSON)
            assert reply.status_code == 201
    idle.stack.manage("shell", "-v", "0", "-c", SWEEPS)
    deadline = time.monotonic() + 60
    while len(messages := read_messages(broker)) < 2:  # one of them is beat's sweep
        assert time.monotonic() < deadline
        time.sleep(0.2)
    names = [message["headers"]["task"].rpartition(".")[2] for message in messages]
    assert set(names) >= {"seal_wave", "sweep"}
    assert names.count("seal_wave") == 1  # although several sweeps found the wave
    for message in messages:
        headers = message["headers"]
        assert not any(headers.get(name) for name in TIMED), headers
        body = base64.b64decode(message["body"]).decode()
        assert find_moments(json.dumps(message) + body) == []
    assert all(broker.ttl(key) == -1 for key in find_queues(broker))
    assert [path.name for path in (idle.stack.var / "redis-broker").rglob("*")] == []
