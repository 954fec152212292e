"""Aimed kills of broken builds: the checker must report the damage."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import redis

from scripts.attacks.broken_builds.naive_settings import QUEUE
from scripts.attacks.storm.checker import History, Verdict
from scripts.attacks.storm.crowd import FAITHFUL, Crowd
from scripts.attacks.storm.kills import aim
from scripts.attacks.storm.rows import KEPT, MISSING, Query, open_rows
from scripts.attacks.storm.storm import Plan, begin, make_storm_world, settle_and_check
from scripts.stack.stack import Stack
from scripts.stack.world import World

SETTINGS = "scripts.attacks.broken_builds.{name}_settings"
AIM_SECONDS = 120.0
# By then, the database has finished the stopped process's requests.
REST_SECONDS = 0.03
TASK = b"scripts.attacks.broken_builds.tasks.keep_report"


class NaiveStack(Stack):
    """The same processes with the naive intake in place of Murmur's."""

    def _command(self, name: str) -> list[str]:
        naive = {
            "config.asgi:application": "scripts.attacks.broken_builds.naive_intake:application"
        }
        command = [naive.get(word, word) for word in super()._command(name)]
        return [*command, "--queues", f"celery,{QUEUE}"] if name == "worker" else command


@dataclass(frozen=True, kw_only=True)
class Caught:
    evidence: str  # what the rows showed when the worker was killed
    verdict: Verdict


def run_broken_sealer(name: str, *, var: Path, database_url: str) -> Caught:
    """Kill the sealer between its two halves; the rows show this while it is stopped."""
    world = make_storm_world(
        var=var,
        database_url=database_url,
        settings={"DJANGO_SETTINGS_MODULE": SETTINGS.format(name=name)},
    )

    def look(query: Query, crowd: Crowd) -> str:
        if not query(MISSING)[0][0]:
            return ""
        time.sleep(REST_SECONDS)
        missing = int(query(MISSING)[0][0])
        if missing:
            return f"{abs(missing)} reports {'in no table' if missing > 0 else 'in two tables'}"
        return ""

    return _run(world, Plan(seed=1, rate=150), look)


def run_naive_celery(*, var: Path, database_url: str) -> Caught:
    """Kill the worker when Redis has given it a message that is stored nowhere else."""
    world = make_storm_world(
        var=var,
        database_url=database_url,
        settings={"DJANGO_SETTINGS_MODULE": SETTINGS.format(name="naive")},
        stack_class=NaiveStack,
    )
    broker = redis.Redis.from_url(world.stack.redis_url)

    def look(query: Query, crowd: Crowd) -> str:
        time.sleep(REST_SECONDS)  # until the worker has received the message that it waits for
        # Count these first, because the other numbers only grow.
        acknowledged = len(crowd.history.acknowledged)
        waiting = [*broker.lrange(QUEUE, 0, -1), *broker.hvals("unacked")]
        kept = int(query(KEPT)[0][0]) + sum(TASK in message for message in waiting)
        missing = acknowledged - kept
        return f"{missing} reports in no table and in no queue" if missing > 0 else ""

    try:
        # Nothing is dropped or sent twice, so Celery causes all the damage.
        return _run(world, Plan(seed=1, rate=40, habits=FAITHFUL), look, ids_are_spent=False)
    finally:
        broker.close()


def _run(
    world: World, plan: Plan, look: Callable[[Query, Crowd], str], *, ids_are_spent: bool = True
) -> Caught:
    try:
        history = History()
        crowd = begin(world, plan, history=history)
        evidence = asyncio.run(_kill_once(world, crowd, look))
        verdict = settle_and_check(world, history, ids_are_spent=ids_are_spent)
    finally:
        world.stack.stop()
    return Caught(evidence=evidence, verdict=verdict)


async def _kill_once(world: World, crowd: Crowd, look: Callable[[Query, Crowd], str]) -> str:
    sending = asyncio.create_task(crowd.run())
    try:
        evidence = await asyncio.to_thread(_aim, world, crowd, look)
        world.stack.kill("worker")
        world.stack.start("worker")
    finally:
        crowd.stop()
        await sending
    return evidence


def _aim(world: World, crowd: Crowd, look: Callable[[Query, Crowd], str]) -> str:
    with open_rows(world) as query:
        deadline = time.monotonic() + AIM_SECONDS
        while not query(KEPT)[0][0]:  # web and worker have started
            assert time.monotonic() < deadline, "nothing was kept"
            time.sleep(0.05)
        seen = aim(
            "worker",
            look=lambda _: look(query, crowd),
            stack=world.stack,
            seconds=AIM_SECONDS,
        )
    assert seen, "the vulnerable moment was not found"
    return seen
