"""Sends many thousands of spoiled requests as raw bytes over many connections.

The requests depend only on the seed, so a number reproduces a finding:
`make_case(survey, seed=1, number=4711, known=…)`. The fuzzer checks every status, the form of every
reply and, at the end, every stored id.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from scripts.attacks.fuzz.draws import Case, Draw, Survey
from scripts.attacks.fuzz.spoiled_bodies import BODIES
from scripts.attacks.fuzz.spoiled_requests import REQUESTS
from scripts.attacks.fuzz.target import Target

CONNECTIONS = 24
PIPELINED = 12
KNOWN = 50  # reports recorded first, to be replayed and forged
PATIENCE_SECONDS = 20.0
# How long to wait for a reply if the server may still expect more of the request.
SILENCE_SECONDS = 0.05
DOCUMENTED = {200, 201, 400, 403, 404, 405, 408, 409, 410, 413, 415, 422, 425, 429, 503}
MUTATIONS = {**BODIES, **REQUESTS}
_NAMES, _WEIGHTS = list(MUTATIONS), list(itertools.accumulate(MUTATIONS.values()))
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)
_TYPE = re.compile(rb"\r\ncontent-type: ([^\r\n;]+)", re.IGNORECASE)


def make_case(survey: Survey, *, seed: int, number: int, known: Sequence[bytes]) -> Case:
    draw = Draw(survey=survey, seed=f"{seed}/{number}", known=tuple(known))
    mutation = draw.rng.choices(_NAMES, cum_weights=_WEIGHTS)[0]
    return replace(mutation(draw), name=f"{seed}/{number} {mutation.__name__}")


class Reply(NamedTuple):
    status: int
    content_type: bytes
    retry_after: bool
    closes: bool


@dataclass
class Findings:
    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    mutations: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    accepted: set[bytes] = field(default_factory=set)  # answered 201
    possible: set[bytes] = field(default_factory=set)  # allowed, but no reply came
    wrongly_taken: int = 0
    grown_megabytes: float = 0.0

    @property
    def server_errors(self) -> int:
        return sum(n for status, n in self.statuses.items() if status >= 500 and status != 503)

    def note(self, case: Case, reply: Reply | None) -> None:
        self.requests += 1
        self.mutations[case.name.split()[1]] += 1
        if reply is None:
            if not case.silent:
                self.wrong.append(f"{case.name}: no reply")
            self.possible.update(case.allowed)
            return
        self.statuses[reply.status] += 1
        if reply.status == 201:
            if not case.allowed:
                self.wrongly_taken += 1
            self.accepted.update(case.allowed)
        self._check(case, reply)

    def _check(self, case: Case, reply: Reply) -> None:
        if reply.status >= 500:
            right = reply.status == 503 and reply.retry_after
        elif case.silent:  # the server's reading of the request is unknown
            right = reply.status in DOCUMENTED
        else:
            right = reply.status in case.expected
        if not right:
            self.wrong.append(f"{case.name}: {reply.status}")

    def compare(self, stored: set[bytes]) -> None:
        """Compare the database with the replies."""
        strangers = len(stored - self.accepted - self.possible)
        self.wrongly_taken += strangers
        lost = len(self.accepted - stored)
        if strangers or lost:
            self.wrong.append(f"{strangers} stored although wrong, {lost} accepted and lost")


class Wire:
    """One connection, opened when needed. It understands only as much HTTP as replies need."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._read = b""

    async def send(self, payload: bytes) -> None:
        if self._streams is None:
            self._streams = await asyncio.open_connection(*self._address)
            self._read = b""
        _, writer = self._streams
        writer.write(payload)
        with suppress(ConnectionError):  # earlier replies can still be read
            await writer.drain()

    async def reply(self, *, patience: float) -> Reply | None:
        """Return the next reply, or None if the connection ends or the time runs out."""
        try:
            async with asyncio.timeout(patience):
                return await self._next_reply()
        except (TimeoutError, ConnectionError):
            return None

    async def _next_reply(self) -> Reply | None:
        while True:
            while (end := self._read.find(b"\r\n\r\n")) < 0:
                if not await self._more():
                    return None
            head = self._read[: end + 2]
            status = int(head[9:12])
            length = _LENGTH.search(head)
            if status < 200 or length is None:
                self._read = self._read[end + 4 :]
            else:
                size = end + 4 + int(length[1])
                while len(self._read) < size:
                    if not await self._more():
                        break
                self._read = self._read[size:]
            if status >= 200:
                return self._describe(head, status, framed=length is not None)

    @staticmethod
    def _describe(head: bytes, status: int, *, framed: bool) -> Reply:
        kind = _TYPE.search(head)
        low = head.lower()
        closes = not framed or b"\r\nconnection: close" in low
        return Reply(status, kind[1] if kind else b"", b"\r\nretry-after: " in low, closes)

    async def _more(self) -> bool:
        assert self._streams is not None
        data = await self._streams[0].read(65_536)
        self._read += data
        return bool(data)

    def hang_up(self) -> None:
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None


def fuzz(target: Target, *, requests: int, seed: int = 1) -> Findings:
    """Send the requests, then check the database, the memory, the log and one page."""
    known = [target.body(number) for number in range(KNOWN)]
    findings = Findings(accepted=target.stored())
    with target.client() as client:
        for body in known:
            assert client.post("/api/reports", content=body).status_code in (200, 201)
    findings.accepted |= {target.survey.wants(body) or b"" for body in known}
    warm = min(requests // 10, 10_000)
    asyncio.run(_attack(target, range(warm), findings, seed=seed, known=known))
    before = target.resident_megabytes()
    asyncio.run(_attack(target, range(warm, requests), findings, seed=seed, known=known))
    findings.grown_megabytes = target.resident_megabytes() - before
    time.sleep(0.5)  # until the last requests, which had no awaited replies, are stored
    findings.compare(target.stored())
    findings.wrong += ["a traceback in the log"] * target.log.count("Traceback")
    with target.client() as client:
        if client.get("/accounts/login/").status_code != 200:
            findings.wrong.append("the sign-in page is unavailable")
    return findings


async def _attack(
    target: Target, numbers: range, findings: Findings, *, seed: int, known: Sequence[bytes]
) -> None:
    cases = (make_case(target.survey, seed=seed, number=n, known=known) for n in numbers)
    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            wire = Wire("127.0.0.1", target.stack.port)
            group.create_task(_attack_in_turn(wire, cases, findings))


async def _attack_in_turn(wire: Wire, cases: Iterator[Case], findings: Findings) -> None:
    pipelined: list[Case] = []
    for case in cases:
        if case.framed:
            pipelined.append(case)
        if not case.framed or len(pipelined) == PIPELINED:
            await _send(wire, pipelined, findings)
            pipelined = []
        if not case.framed:
            await _send(wire, [case], findings)
            wire.hang_up()
    await _send(wire, pipelined, findings)
    wire.hang_up()


async def _send(wire: Wire, cases: Sequence[Case], findings: Findings) -> None:
    """Send requests in one piece and read their replies."""
    if not cases:
        return
    await wire.send(b"".join(case.request for case in cases))
    for case in cases:
        reply = await wire.reply(patience=SILENCE_SECONDS if case.silent else PATIENCE_SECONDS)
        findings.note(case, reply)
        if reply is None or reply.closes:
            wire.hang_up()
            if case is not cases[-1]:
                findings.wrong.append(f"{case.name}: the connection was closed after it")
                return
