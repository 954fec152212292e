"""A temporary loss makes a result late, but never wrong. For kills, see attacks/."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis

from scripts.stack.opening import open_surveys
from scripts.stack.postgres import Postgres
from scripts.stack.world import Tally, World, make_world

ONE_BATCH_IS_DUE = 100  # 2K raw reports


def due(tally: Tally) -> bool:
    return tally.raw >= ONE_BATCH_IS_DUE


@pytest.fixture
def fragile(own_postgres: Postgres, tmp_path: Path) -> Iterator[World]:
    world = make_world(var=tmp_path, database_url=own_postgres.create_database())
    try:
        world.begin()
        yield world
    finally:
        world.stack.stop()


@pytest.mark.long
def test_an_emptied_redis_loses_no_report(fragile: World) -> None:
    demo = fragile.start_demo(connections=2)
    broker = redis.Redis.from_url(fragile.stack.redis_url)
    for _ in range(3):
        before = fragile.wait_for(due)
        assert demo.poll() is None
        broker.flushall()
        fragile.wait_for(lambda t, k=before: t.sealed > k.sealed)  # type: ignore[misc]
    printed, _ = demo.communicate(timeout=240)
    assert demo.returncode == 0, printed
    fragile.assert_counted_exactly_once()


def test_without_a_database_everything_answers_503_and_recovers(
    fragile: World, own_postgres: Postgres
) -> None:
    [wave] = open_surveys(fragile.stack, [{}], questions=1)
    body = wave.body(b"\1", report_id=bytes(32))
    respondent = f"/s/{wave.slug}"
    pages = ("/", "/accounts/login/", respondent, "/surveys/new", "/api/surveys")
    with fragile.signed_in() as client:
        own_postgres.stop()
        refused = send(client, body)
        assert refused.status_code == 503
        assert refused.headers["content-type"] == "application/problem+json"
        assert int(refused.headers["retry-after"]) > 0
        # A visitor's start page needs no database; every other page does, and says so.
        statuses = {path: client.get(path).status_code for path in pages}
        assert all(status in (200, 503) for status in statuses.values()), statuses
        assert statuses[respondent] == statuses["/surveys/new"] == 503
        own_postgres.start()
        deadline = time.monotonic() + 30
        while (reply := send(client, body)).status_code != 201:
            assert reply.status_code == 503
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert send(client, body).status_code == 200
        assert client.get(respondent).status_code == 200
    assert fragile.tally() == Tally(acknowledged=1, raw=1, sealed=0)


def send(client: httpx.Client, body: bytes) -> httpx.Response:
    return client.post("/api/reports", content=body, headers={"content-type": "application/json"})


def test_without_the_limiter_sign_in_says_so_and_reports_are_accepted(fragile: World) -> None:
    [wave] = open_surveys(fragile.stack, [{}], questions=1)
    fragile.stack.kill("limiter")
    with pytest.raises(AssertionError, match="503"), fragile.signed_in():
        pass
    with httpx.Client(base_url=fragile.stack.url, trust_env=False) as client:
        assert send(client, wave.body(b"\1")).status_code == 201
    fragile.stack.start("limiter")
    with fragile.signed_in() as client:
        assert client.get("/surveys/new").status_code == 200


def test_one_report_sent_many_times_at_once_counts_once(world: World) -> None:
    [wave] = open_surveys(world.stack, [{}], questions=1)
    same, other = (wave.body(symbols, report_id=bytes(32)) for symbols in (b"\1", b"\0"))

    async def send_all() -> list[int]:
        async with httpx.AsyncClient(base_url=world.stack.url, trust_env=False) as client:
            headers = {"content-type": "application/json"}
            posts = [
                client.post("/api/reports", content=body, headers=headers)
                for body in (same, other) * 32
            ]
            return [reply.status_code for reply in await asyncio.gather(*posts)]

    statuses = Counter(asyncio.run(send_all()))
    # The first to arrive was recorded; its copies are recognized, the other content is refused.
    assert statuses == {201: 1, 200: 31, 409: 32}
    assert world.tally() == Tally(acknowledged=1, raw=1, sealed=0)
