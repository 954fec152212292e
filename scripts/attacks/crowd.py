"""Respondents who keep sending different reports while a test breaks things."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from scripts.attacks.fuzz.target import Target

SENDERS = 6


@dataclass
class History:
    """The reports sent and their replies; status 0 means a broken connection."""

    target: Target
    first: int
    replies: dict[int, httpx.Response | None] = field(default_factory=dict)

    @property
    def statuses(self) -> Counter[int]:
        return Counter(0 if r is None else r.status_code for r in list(self.replies.values()))

    @property
    def acknowledged(self) -> set[bytes]:
        return {
            number.to_bytes(32, "big")
            for number, reply in list(self.replies.items())
            if reply is not None and reply.status_code in (200, 201)
        }

    def assert_nothing_lost(self) -> None:
        assert self.acknowledged <= self.target.stored()

    def assert_refusals_say_when_to_come_back(self) -> None:
        for reply in self.replies.values():
            if reply is None or reply.status_code == 201:
                continue
            assert reply.status_code == 503, reply.text
            assert reply.headers["content-type"] == "application/problem+json"
            assert int(reply.headers["retry-after"]) > 0
            assert reply.json()["type"] in ("/problems/database-unavailable", "/problems/busy")

    def retry_the_rest(self) -> None:
        """Send the same bytes until they are acknowledged, as browsers do, and then once more."""
        with self.target.client() as client:
            for number, reply in list(self.replies.items()):
                if reply is None or reply.status_code == 503:
                    body = self.target.body(number)
                    assert client.post("/api/reports", content=body).status_code in (200, 201)
                    assert client.post("/api/reports", content=body).status_code == 200
        sent = {number.to_bytes(32, "big") for number in self.replies}
        assert sent <= self.target.stored()


@contextmanager
def sending(target: Target, *, first: int) -> Iterator[History]:
    """Send reports numbered from `first` until the block ends."""
    history = History(target, first)
    numbers = itertools.count(first)
    stop = threading.Event()

    def send() -> None:
        with target.client(timeout=20) as client:
            while not stop.is_set():
                number = next(numbers)
                try:
                    reply = client.post("/api/reports", content=target.body(number))
                except httpx.TransportError:
                    history.replies[number] = None
                    stop.wait(0.02)
                else:
                    history.replies[number] = reply
                    stop.wait(0.02 if reply.status_code == 503 else 0)

    threads = [threading.Thread(target=send) for _ in range(SENDERS)]
    for thread in threads:
        thread.start()
    try:
        yield history
    finally:
        stop.set()
        for thread in threads:
            thread.join(30)
        assert not any(thread.is_alive() for thread in threads)
