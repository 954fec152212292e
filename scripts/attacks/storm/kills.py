"""Kills any process while it has work, and measures how long work takes to resume.

A victim is stopped first, so that its work can be inspected, and then killed or continued.
Any process that dies is restarted at once, as systemd would do.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from scripts.attacks.storm.crowd import Crowd
from scripts.attacks.storm.rows import (
    AWAY,
    NEWEST_BATCH,
    Query,
    find_due_work,
    find_open_sealing,
    is_connected,
    open_rows,
)
from scripts.attacks.storm.victims import Victims, kind_of
from scripts.stack.postgres import Postgres
from scripts.stack.stack import Stack
from scripts.stack.world import World

MOMENT_SECONDS = 5.0  # how long to wait for a moment with work in progress
AIM_SECONDS = 3.0  # how long to wait for an open sealing transaction
AIMED = 0.75  # the share of worker kills aimed at such a moment
GIVE_UP_SECONDS = 60.0
START_SECONDS = 60.0
MAX_MISSED = 100
# After a crash, PostgreSQL first syncs its whole folder. Syncing a thousand files one by one takes
# seconds; syncing the whole file system does not.
SYNC_AT_ONCE = {"recovery_init_sync_method": "syncfs"}


@dataclass(kw_only=True)
class Kill:
    victim: str
    at: float
    evidence: str
    recovery: float = float("inf")

    def __str__(self) -> str:
        return f"{self.victim}, {self.recovery:.1f} s; at the kill: {self.evidence}"

    @property
    def kind(self) -> str:
        return kind_of(self.victim)


@dataclass(kw_only=True)
class Nemesis:
    world: World
    postgres: Postgres | None
    crowd: Crowd
    seed: int
    pause: float  # seconds from one kill to the next, on average

    kills: list[Kill] = field(default_factory=list)
    missed: Counter[str] = field(default_factory=Counter)  # how often no work was found
    deaths: Counter[str] = field(default_factory=Counter)  # processes that ended without a kill
    newest_batch: int = 0
    longest_gap: float = 0.0  # between two sightings of new batches

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._over = threading.Event()
        names = [*self.world.stack.names, *(["postgres"] if self.postgres else [])]
        self._victims = Victims(names=names, seed=self.seed)
        self._recovering: set[str] = set()  # parts whose work has not resumed yet
        self._starting: set[str] = set()  # not running again yet, even if twins do their work
        self._broker_port = urlsplit(self.world.stack.redis_url).port or 0
        self._kept_up = set(self.world.stack.names)

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Watch the rows, and restart every process that ends without a kill."""
        self._loop = asyncio.get_running_loop()
        self._over.clear()
        rows = asyncio.create_task(asyncio.to_thread(self._watch_rows))
        processes = asyncio.create_task(self._keep_up())
        try:
            yield
        finally:
            self._over.set()
            processes.cancel()
            await asyncio.gather(rows, processes, return_exceptions=True)

    async def wait_until_all_work(self) -> float:
        """Wait until sealing and all web processes work; return how long that took."""
        start = self._loop.time()
        deadline = start + START_SECONDS
        while self.crowd.served.keys() != self.crowd.ports.keys() or not self.newest_batch:
            assert self._loop.time() < deadline, "not everything started"
            await asyncio.sleep(0.05)
        return self._loop.time() - start

    async def kill_many(self, kills: int) -> None:
        """Kill this many processes, and wait until the work of each resumes."""
        recoveries: list[asyncio.Task[None]] = []
        while len(self.kills) < kills:
            await asyncio.sleep(self._random.uniform(0, 2 * self.pause))
            victims = self._victims.choose(recovering=self._recovering, starting=self._starting)
            if victims:
                recoveries += await self._strike(victims)
            assert sum(self.missed.values()) <= MAX_MISSED, dict(self.missed)
        await asyncio.gather(*recoveries)

    async def keep_broker_away(self, seconds: float) -> float:
        """Stop the broker for `seconds` under load; return the time until the next batch."""
        self._kept_up.discard("broker")
        self._kill("broker")
        await asyncio.sleep(seconds)
        batch_before = await asyncio.to_thread(self._read_newest_batch)
        await self._start("broker")
        begun = self._loop.time()
        self._kept_up.add("broker")
        while self.newest_batch <= batch_before:
            if self._loop.time() - begun > GIVE_UP_SECONDS:
                return float("inf")
            await asyncio.sleep(0.02)
        return self._loop.time() - begun

    async def _strike(self, victims: Sequence[str]) -> list[asyncio.Task[None]]:
        kind = kind_of(victims[0])
        if kind in ("web", "postgres", "limiter"):
            evidence = await self._stop_with_requests(victims[0])
        else:
            evidence = await asyncio.to_thread(self._stop_with_due_work, victims)
        if not evidence:
            self.missed[kind] += 1
            return []
        self._kept_up -= set(victims)
        for victim in victims:
            self._kill(victim)
        killed = [
            Kill(victim=victim, at=self._loop.time(), evidence=evidence) for victim in victims
        ]
        self.kills += killed
        self._recovering |= set(victims)
        self._starting |= set(victims)
        for victim in victims:
            await self._start(victim)
        self._kept_up |= set(victims) - {"postgres"}
        batch_before = await asyncio.to_thread(self._read_newest_batch)
        return [asyncio.create_task(self._recover(kill, batch_before)) for kill in killed]

    def _read_newest_batch(self) -> int:
        """Query the newest batch after the kill, because the watcher's last result may be older."""
        with suppress(*AWAY), open_rows(self.world) as query:
            return _newest_batch(query)
        return self.newest_batch

    def _kill(self, victim: str) -> None:
        if victim == "postgres":
            assert self.postgres is not None
            self.postgres.kill()
        else:
            self.world.stack.kill(victim)

    async def _start(self, victim: str) -> None:
        if victim == "postgres":
            assert self.postgres is not None
            await asyncio.to_thread(self.postgres.start, settings=SYNC_AT_ONCE)
        else:
            self.world.stack.start(victim)

    # Evidence of work in flight.

    async def _stop_with_requests(self, victim: str) -> str:
        """Stop a process while earlier requests are unanswered; say how many there are."""
        web = victim if victim.startswith("web") else None
        deadline = self._loop.time() + MOMENT_SECONDS
        while self._loop.time() < deadline:
            await asyncio.sleep(self._random.uniform(0.001, 0.01))
            if not self.crowd.waiting_at(web):
                continue
            if victim != "limiter":  # it is killed to show that requests continue without it
                self._signal(victim, signal.SIGSTOP)
            sent = self.crowd.waiting_at(web)
            await asyncio.sleep(0.005)  # all replies have been read by then
            unanswered = sent & self.crowd.in_flight if victim != "limiter" else sent
            if unanswered:
                return f"{len(unanswered)} requests sent and unanswered"
            self._signal(victim, signal.SIGCONT)
        return ""

    def _stop_with_due_work(self, victims: Sequence[str]) -> str:
        """Stop processes while the rows show due work; if possible, in the middle of sealing."""
        stack = self.world.stack
        with suppress(*AWAY), open_rows(self.world) as query:
            may_aim = victims[0].startswith("worker") and self.world.database_url
            if may_aim and self._random.random() < AIMED:
                seen = aim(
                    victims[0],
                    look=lambda leader: find_open_sealing(query, leader=leader),
                    stack=stack,
                    seconds=AIM_SECONDS,
                )
                if seen:
                    return seen
            deadline = time.monotonic() + MOMENT_SECONDS
            while time.monotonic() < deadline:
                for victim in victims:
                    stack.signal(victim, signal.SIGSTOP)
                due = find_due_work(query)
                if due:
                    return due
                for victim in victims:
                    stack.signal(victim, signal.SIGCONT)
                time.sleep(0.02)
        for victim in victims:  # the database has become unavailable
            stack.signal(victim, signal.SIGCONT)
        return ""

    def _signal(self, victim: str, number: signal.Signals) -> None:
        if victim != "postgres":
            self.world.stack.signal(victim, number)
            return
        assert self.postgres is not None
        assert self.postgres.process is not None
        server = self.postgres.process.pid
        os.kill(server, number)  # first, so that it does not start more children
        children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(int(child), number)

    # Recovery.

    async def _recover(self, kill: Kill, batch_before: int) -> None:
        """Wait until the part works again, as a report or batch newer than the kill shows."""

        def goes_on() -> bool:
            if kill.kind == "web":
                return self.crowd.served.get(kill.victim, 0.0) > kill.at
            if kill.kind in ("postgres", "limiter"):
                return max(self.crowd.served.values(), default=0.0) > kill.at
            return self.newest_batch > batch_before

        deadline = kill.at + GIVE_UP_SECONDS
        while not goes_on() and self._loop.time() < deadline:
            await asyncio.sleep(0.02)
        if goes_on():
            kill.recovery = self._loop.time() - kill.at
        self._recovering.discard(kill.victim)
        while not self._is_back(kill.victim) and self._loop.time() < deadline:
            await asyncio.sleep(0.2)
        self._starting.discard(kill.victim)
        with (self.world.stack.var / "kills").open("a") as file:
            file.write(f"{kill.at:.2f} {kill}\n")

    def _is_back(self, victim: str) -> bool:
        """Return whether a worker or beat is connected to its broker and can therefore work."""
        process = self.world.stack.processes.get(victim)
        if kind_of(victim) not in ("worker", "leisure", "beat"):
            return True
        return process is not None and is_connected(process.pid, to=self._broker_port)

    async def _keep_up(self) -> None:
        """Restart processes that ended without a kill, as `scripts/run` and systemd do."""
        while True:
            await asyncio.sleep(0.2)
            for name in list(self._kept_up):
                if not self.world.stack.is_running(name):
                    self.deaths[name] += 1
                    self.world.stack.start(name)

    def _watch_rows(self) -> None:
        """Watch the newest batch in a separate thread."""
        changed = time.monotonic()
        while not self._over.wait(0.05):
            with suppress(*AWAY), open_rows(self.world) as query:
                while not self._over.wait(0.05):
                    newest = _newest_batch(query)
                    if newest > self.newest_batch:
                        now = time.monotonic()
                        if self.newest_batch:  # before the first, everything is starting
                            self.longest_gap = max(self.longest_gap, now - changed)
                        self.newest_batch, changed = newest, now


def _newest_batch(query: Query) -> int:
    return int(query(NEWEST_BATCH)[0][0])


def aim(victim: str, *, look: Callable[[int], str], stack: Stack, seconds: float) -> str:
    """Stop a process group repeatedly until `look` finds it at a sensitive point.

    `look` gets the id of the group. Return the result of `look` and leave the group stopped, or
    return an empty string and leave the group running.
    """
    leader = stack.processes[victim].pid
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        stack.signal(victim, signal.SIGSTOP)
        time.sleep(0.001)  # until its earlier messages have arrived
        with suppress(*AWAY):
            if seen := look(leader):
                return seen
        stack.signal(victim, signal.SIGCONT)
        time.sleep(random.uniform(0.002, 0.01))
    return ""
