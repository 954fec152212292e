"""Respondents on a bad network who remember what they sent.

Each report encodes its own number. Some requests are never sent or are cut off, some replies are
never read, some people give up, and some resend an acknowledged report much later.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import secrets
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto

from aggregator.intake.wire import encode_report
from scripts.attacks.storm.checker import Event, History, spell

ACKNOWLEDGED = (200, 201)
LATER = (408, 425, 429, 503)
REPLY_SECONDS = 10.0
MAX_PAUSE_SECONDS = 0.5  # a server may ask for a longer wait; these people do not wait that long
FINISH_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Target:
    """A wave that takes reports; if `ends`, it may close before its owner closes it."""

    wave: int
    manifest_hash: bytes
    ends: bool = False


@dataclass(frozen=True, kw_only=True)
class Habits:
    """Shares of all attempts, or of all reports."""

    unsent: float = 0.03
    cut: float = 0.05
    deaf: float = 0.08
    give_up: float = 0.04
    replay: float = 0.05


UNRELIABLE = Habits()
FAITHFUL = Habits(unsent=0, cut=0, deaf=0, give_up=0, replay=0)


class Fate(Enum):
    HEARD = auto()
    UNSENT = auto()
    CUT = auto()  # the connection closes after part of the request
    DEAF = auto()  # the whole request is sent, but the reply is never read


@dataclass(eq=False, kw_only=True)
class Attempt:
    """A request that was sent in full and waits for its reply."""

    web: str
    sent_at: float


@dataclass(frozen=True, kw_only=True)
class Reply:
    status: int
    retry_after: float
    body: bytes


@dataclass(frozen=True, kw_only=True)
class Envelope:
    number: int
    target: Target
    body: bytes

    def request(self) -> bytes:
        # Each request has its own address, as a proxy would report it, so no address reaches the
        # limit.
        address = ".".join(map(str, (10, *self.number.to_bytes(3, "big"))))
        return (
            f"POST /api/reports HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {address}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(self.body)}\r\n\r\n"
        ).encode() + self.body


class Line:
    """One persistent connection to one web process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def read_reply(self) -> Reply:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip().split("\r\n")
        fields = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in fields}
        body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return Reply(
            status=int(first.split()[1]),
            retry_after=float(headers.get("retry-after", "0")),
            body=body,
        )

    def close(self) -> None:
        self.writer.transport.abort()


@dataclass(kw_only=True)
class Crowd:
    """People who send about `rate` reports per second, spread evenly over all web processes."""

    ports: Mapping[str, int]
    targets: list[Target]
    history: History
    seed: int
    rate: float
    people: int = 48
    habits: Habits = UNRELIABLE

    # The kills and their records use these fields. Times are those of the event loop.
    in_flight: set[Attempt] = field(default_factory=set)
    served: dict[str, float] = field(default_factory=dict)  # the newest acknowledged request
    last_acknowledged: float = 0.0
    longest_gap: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    fates: Counter[Fate] = field(default_factory=Counter)
    replays: int = 0
    surprises: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._numbers = itertools.count()
        self._stopping = False
        self._next_turn = 0.0
        self._known: deque[Envelope] = deque(maxlen=2000)

    async def run(self) -> None:
        """Send until `stop` is called, then finish all started reports."""
        self._loop = asyncio.get_running_loop()
        self._next_turn = self._loop.time()
        self._deadline = float("inf")
        async with asyncio.TaskGroup() as group:
            for _ in range(self.people):
                group.create_task(self._live())

    def stop(self) -> None:
        self._stopping = True
        self._deadline = self._loop.time() + FINISH_SECONDS

    def waiting_at(self, web: str | None) -> set[Attempt]:
        """Return unanswered requests to one web process, or to any web process."""
        return {attempt for attempt in self.in_flight if web in (None, attempt.web)}

    async def _live(self) -> None:
        lines: dict[str, Line] = {}
        while not self._stopping and self.targets:
            await self._take_turn()
            await self._report(self._seal_envelope(), lines)
            if self._known and self._random.random() < self.habits.replay:
                await self._replay(self._random.choice(self._known), lines)
        for line in lines.values():
            line.close()

    async def _take_turn(self) -> None:
        now = self._loop.time()
        # After an outage people send a little faster, to make up for at most one second.
        self._next_turn = max(self._next_turn, now - 1) + self._random.expovariate(self.rate)
        await asyncio.sleep(max(0.0, self._next_turn - now))

    def _seal_envelope(self) -> Envelope:
        number, target = next(self._numbers), self._random.choice(self.targets)
        body = encode_report(
            manifest_hash=target.manifest_hash,
            report_id=secrets.token_bytes(32),
            symbols=spell(number),
        )
        return Envelope(number=number, target=target, body=body)

    async def _report(self, envelope: Envelope, lines: dict[str, Line]) -> None:
        """Send a report until it is acknowledged or given up."""
        self._note(Event.ATTEMPTED, envelope)
        gives_up = self._random.random() < self.habits.give_up
        attempts = 0
        while self._loop.time() < self._deadline:
            reply = await self._attempt(envelope, lines)
            if reply is not None and reply.status in ACKNOWLEDGED:
                self._note(Event.ACKNOWLEDGED, envelope)
                self._known.append(envelope)
                return
            if reply is not None and reply.status == 410 and envelope.target.ends:
                with suppress(ValueError):
                    self.targets.remove(envelope.target)
                break
            if reply is not None and reply.status not in LATER:
                self.surprises.append(f"{reply.status} {reply.body[:200]!r}")
                break
            attempts += 1
            if gives_up and self._random.random() < 0.5:
                break
            asked = reply.retry_after if reply is not None else 0.0
            await self._pause(min(MAX_PAUSE_SECONDS, max(asked, 0.02 * 2 ** min(attempts, 5))))
        else:
            self.surprises.append(f"report {envelope.number} was not acknowledged in time")
        self._note(Event.ABANDONED, envelope)

    async def _replay(self, envelope: Envelope, lines: dict[str, Line]) -> None:
        """Resend an acknowledged report: the reply must say that it is known."""
        reply = await self._attempt(envelope, lines)
        if reply is None or reply.status in LATER:
            return
        self.replays += 1
        if reply.status != 200:
            self.surprises.append(f"a replay was answered {reply.status}")

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self._random.uniform(0.5, 1))

    def _note(self, event: Event, envelope: Envelope) -> None:
        self.history.add(event, number=envelope.number, wave=envelope.target.wave)

    async def _attempt(self, envelope: Envelope, lines: dict[str, Line]) -> Reply | None:
        """Try once with one web process; return None if no reply was read for any reason."""
        fate, web = self._draw_fate(), self._random.choice(list(self.ports))
        self.fates[fate] += 1
        if fate is Fate.UNSENT:
            return None
        request = envelope.request()
        attempt = None
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                line = lines.get(web) or await self._connect(web)
                lines[web] = line
                if fate is not Fate.HEARD:
                    cut = self._random.randrange(1, len(request))
                    line.writer.write(request if fate is Fate.DEAF else request[:cut])
                    await line.writer.drain()
                    await self._pause(0.01)
                    self._hang_up(web, lines)
                    return None
                line.writer.write(request)
                attempt = Attempt(web=web, sent_at=self._loop.time())
                self.in_flight.add(attempt)
                reply = await line.read_reply()
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            self._hang_up(web, lines)
            return None
        finally:
            if attempt is not None:
                self.in_flight.discard(attempt)
        self._remember(attempt, reply)
        return reply

    def _draw_fate(self) -> Fate:
        draw = self._random.random()
        for fate, share in (
            (Fate.UNSENT, self.habits.unsent),
            (Fate.CUT, self.habits.cut),
            (Fate.DEAF, self.habits.deaf),
        ):
            if draw < share:
                return fate
            draw -= share
        return Fate.HEARD

    async def _connect(self, web: str) -> Line:
        return Line(*await asyncio.open_connection("127.0.0.1", self.ports[web]))

    @staticmethod
    def _hang_up(web: str, lines: dict[str, Line]) -> None:
        line = lines.pop(web, None)
        if line is not None:
            line.close()

    def _remember(self, attempt: Attempt, reply: Reply) -> None:
        self.statuses[reply.status] += 1
        if reply.status in ACKNOWLEDGED:
            now = self._loop.time()
            if self.last_acknowledged:  # before the first, everything is starting
                self.longest_gap = max(self.longest_gap, now - self.last_acknowledged)
            self.last_acknowledged = now
            # Use the time of sending: a reply that is read after a kill may be older than the kill.
            self.served[attempt.web] = max(self.served.get(attempt.web, 0.0), attempt.sent_at)
