"""One run of a load plan in one process: connections, and the reports that are due on them."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle
from typing import cast
from urllib.parse import urlsplit

from scripts.load.plan import Plan, Tally, arrivals, make_bodies, make_heads

ID = re.compile(rb'"id":"([A-Za-z0-9_-]{43})"')
CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
CLOSE = re.compile(rb"\r\nconnection: *close\r\n", re.IGNORECASE)
HEADERS_END = b"\r\n\r\n"
# The event loop's timers use whole milliseconds.
TICK_SECONDS = 0.001


class Connection(asyncio.Protocol):
    """One connection with at most one report in flight."""

    def __init__(self, load: Load, target: Target) -> None:
        self._load, self._target = load, target
        self._transport: asyncio.Transport | None = None
        self._received = b""
        self.report_id: bytes | None = None
        self.due = self.sent_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._load.on_free(self)

    def send(self, body: bytes, *, due: float, now: float) -> None:
        assert self._transport is not None
        match = ID.search(body)
        self.report_id = match[1] if match else b""
        self.due, self.sent_at = due, now
        self._transport.write(self._target.add_head(body))

    def data_received(self, data: bytes) -> None:
        if self._received:
            data = self._received + data
        end = data.find(HEADERS_END)
        length = CONTENT_LENGTH.search(data, 0, end + 2) if end >= 0 else None
        if length is None or len(data) < end + 4 + int(length[1]):
            self._received = data
            return
        self._received = b""
        report_id, self.report_id = self.report_id, None
        if report_id is None:  # a reply without a request, such as 408 on an idle connection
            self.abort()
            return
        self._load.on_answer(self, report_id, status=int(data[9:12]))
        # A server without keep-alive closes the connection, and a new connection replaces it.
        if not CLOSE.search(data, 0, end + 2):
            self._load.on_free(self)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.report_id is not None:
            self._load.tally.failures["connection"] += 1
            self.report_id = None
        self._load.on_lost(self, self._target)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class Target:
    """One web process."""

    def __init__(self, plan: Plan, url: str) -> None:
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "", parts.port or 80
        self._plan, self._netloc = plan, parts.netloc
        self._heads: dict[int, Iterator[bytes]] = {}

    def add_head(self, body: bytes) -> bytes:
        length = len(body)
        if length not in self._heads:
            heads = make_heads(self._plan, netloc=self._netloc, length=length)
            self._heads[length] = cycle(heads)
        return next(self._heads[length]) + body


class Load:
    """One run of a plan in one process."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.tally = Tally()
        self._targets = [Target(plan, url) for url in plan.urls]
        self._bodies = iter(plan.bodies or make_bodies(plan))
        self._empty = asyncio.Event()  # no body is left to send
        self._free: deque[Connection] = deque()
        self._all: set[Connection] = set()
        self._dialling: set[asyncio.Task[None]] = set()
        self._waiting: deque[float] = deque()  # due times of reports that wait for a connection
        self._begun = self._running = self._sending = False
        self._measure_from = self._end = 0.0

    async def run(self) -> Tally:
        plan = self.plan
        await asyncio.gather(
            *(
                self._dial(target)
                for _, target in zip(range(plan.connections), cycle(self._targets), strict=False)
            )
        )
        self._begun = self._running = self._sending = True
        start = time.perf_counter()
        self._measure_from, self._end = start + plan.warm_up, start + plan.seconds
        watch = asyncio.create_task(self._give_up_on_the_silent())
        if plan.rate is None:
            for _ in range(len(self._free)):
                self.on_free(self._free.popleft())
            with suppress(TimeoutError):
                await asyncio.wait_for(self._empty.wait(), plan.seconds)
        else:
            await self._keep_time(start)
        self._sending = False
        await self._wait_for_answers()
        self._running = False
        watch.cancel()
        await asyncio.gather(*self._dialling)
        for connection in list(self._all):
            self._give_up(connection)
            connection.close()
        if self._waiting:
            self.tally.failures["never sent"] += len(self._waiting)
        return self.tally

    async def _keep_time(self, start: float) -> None:
        assert self.plan.rate is not None
        plan = self.plan
        for moment in arrivals(rate=self.plan.rate, seconds=plan.seconds, seed=plan.seed):
            due = start + moment
            while (now := time.perf_counter()) < due:
                # Rounding down to zero would turn the wait into a busy loop.
                await asyncio.sleep(max(due - now, TICK_SECONDS))
            self.tally.lags.append(now - due)
            if self._empty.is_set():
                return
            if self._free:
                self._send(self._free.popleft(), due=due, now=now)
            else:
                self._waiting.append(due)

    async def _wait_for_answers(self) -> None:
        deadline = time.perf_counter() + self.plan.timeout
        while time.perf_counter() < deadline:
            if not self._waiting and all(c.report_id is None for c in self._all):
                return
            await asyncio.sleep(0.01)

    # Called by connections.

    def on_free(self, connection: Connection) -> None:
        self._all.add(connection)
        now = time.perf_counter()
        if self._waiting:
            self._send(connection, due=self._waiting.popleft(), now=now)
        elif self._sending and self.plan.rate is None and now < self._end:
            self._send(connection, due=now, now=now)
        else:
            self._free.append(connection)

    def _send(self, connection: Connection, *, due: float, now: float) -> None:
        body = next(self._bodies, None)
        if body is None:
            self._empty.set()
            self._waiting.clear()
            self._free.append(connection)
        else:
            self.tally.sent += 1
            connection.send(body, due=due, now=now)

    def on_answer(self, connection: Connection, report_id: bytes, *, status: int) -> None:
        tally, now = self.tally, time.perf_counter()
        tally.statuses[status] += 1
        if not 200 <= status < 300:
            return
        tally.acknowledged.append(report_id)
        if self._measure_from <= now < self._end:
            tally.measured += 1
        # Late answers also count, because slow answers matter most.
        if self._measure_from <= connection.due < self._end:
            tally.latencies.append(now - connection.due)

    def on_lost(self, connection: Connection, target: Target) -> None:
        self._all.discard(connection)
        if connection in self._free:
            self._free.remove(connection)
        if self._running:
            task = asyncio.get_running_loop().create_task(self._dial(target))
            self._dialling.add(task)
            task.add_done_callback(self._dialling.discard)

    async def _dial(self, target: Target) -> None:
        loop = asyncio.get_running_loop()
        while self._running or not self._begun:
            try:
                await loop.create_connection(
                    lambda: Connection(self, target), target.host, target.port
                )
            except OSError:
                self.tally.failures["not connected"] += 1
                if not self._begun:
                    raise
                await asyncio.sleep(0.1)
            else:
                return

    async def _give_up_on_the_silent(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            too_old = time.perf_counter() - self.plan.timeout
            for connection in list(self._all):
                if connection.sent_at < too_old:
                    self._give_up(connection)

    def _give_up(self, connection: Connection) -> None:
        if connection.report_id is not None:
            connection.report_id = None
            self.tally.failures["timeout"] += 1
            connection.abort()
