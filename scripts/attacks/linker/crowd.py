"""A crowd whose requests have canaries in every part except the report."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from aggregator.intake.wire import encode_report
from privacy.mechanism.mechanisms import RandomizedResponse

QUESTIONS = 60  # enough weak coins to make every report unique
FLIPS = 49
CONNECTIONS = 16
# The middle of every address. The beginnings differ, because each /48 network has a limit.
NETWORK = "5ca1:ab1e:7ace"
FIRST_NETWORK = 0x2000
MARK = "Kanarie-7/ö"
TEXTS = {
    name: f"{MARK}-{name}"
    for name in ("agent", "referer", "cookie", "query", "language", "invented", "forwarded")
}
CANARIES = {**TEXTS, "address": f"{NETWORK}:", "packed address": "0x5ca1ab1e7ace"}


@dataclass(frozen=True, kw_only=True)
class Person:
    wave: int
    answer: bytes  # the truth, which is never sent
    codes: bytes
    head: bytes
    body: bytes


@dataclass
class Crowd:
    people: list[Person]
    # Sorted by time of acknowledgement, the order that the linker tries to recover.
    acknowledged: list[Person] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)

    def write_canaries(self, folder: Path) -> None:
        answers = ["".join(map(str, person.answer)) for person in self.people]
        (folder / "canaries.json").write_text(json.dumps({"texts": CANARIES, "answers": answers}))

    def send(self, *, port: int, per_second: float) -> None:
        asyncio.run(self._send(port=port, per_second=per_second))

    async def _send(self, *, port: int, per_second: float) -> None:
        waiting = deque(enumerate(self.people))
        begun = asyncio.get_running_loop().time()

        async def keep_sending() -> None:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            while waiting:
                number, person = waiting.popleft()
                due = begun + number / per_second
                await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
                writer.write(person.head + person.body)
                status = await _read_status(reader)
                if status == 201:
                    self.acknowledged.append(person)
                else:
                    self.refused.append(status)
            writer.close()

        await asyncio.wait_for(
            asyncio.gather(*(keep_sending() for _ in range(CONNECTIONS))), timeout=240
        )


async def _read_status(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    )
    await reader.readexactly(length)
    return int(head.split()[1])


def make_crowd(*, manifests: list[bytes], each: int, seed: int, port: int) -> Crowd:
    """Make `each` people for every wave, in random order."""
    generator = random.Random(seed)
    coins = RandomizedResponse.from_flips(symbols=2, flips=FLIPS)
    people = []
    for number in range(each * len(manifests)):
        wave = number % len(manifests)
        answer = bytes(generator.getrandbits(1) for _ in range(QUESTIONS))
        codes = bytes(
            coins.randomize(code, random_uint32=lambda: generator.getrandbits(32))
            for code in answer
        )
        body = encode_report(
            manifest_hash=manifests[wave], report_id=secrets.token_bytes(32), symbols=codes
        )
        head = _write_head(number, length=len(body), port=port)
        people.append(Person(wave=wave, answer=answer, codes=codes, head=head, body=body))
    return Crowd(people)


def _write_head(number: int, *, length: int, port: int) -> bytes:
    query = TEXTS["query"].replace("ö", "%C3%B6")
    return (
        f"POST /api/reports?visitor={query} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"X-Forwarded-For: {TEXTS['forwarded']}, {FIRST_NETWORK + number:x}:{NETWORK}::1\r\n"
        f"User-Agent: {TEXTS['agent']}\r\nReferer: https://{TEXTS['referer']}/\r\n"
        f"Cookie: session={TEXTS['cookie']}\r\nAccept-Language: {TEXTS['language']}\r\n"
        f"X-Invented: {TEXTS['invented']}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()
