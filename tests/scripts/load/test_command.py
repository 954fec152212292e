"""The arithmetic of the load generator: what it sends, when it sends, and how it counts."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import cast

import pytest

from aggregator.intake.wire import parse_upload
from scripts.load.plan import Plan, Tally, arrivals, make_bodies, quantile, split
from scripts.load.run import Load, Target
from scripts.stack.stack import ROOT

BENCHMARKS = ROOT / "scripts" / "benchmarks"
MANIFEST = "A" * 43
CREATED = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\n\r\n"
LAST = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Server(asyncio.Protocol):
    """A server that sends these replies in turn, each in two pieces; the first waits `hold` s."""

    def __init__(self, replies: Iterator[bytes], received: list[bytes], hold: float) -> None:
        self._replies, self._received, self._hold = replies, received, hold
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        head, _, body = (self._data + data).partition(b"\r\n\r\n")
        length = head.partition(b"Content-Length: ")[2].split()
        if not length or len(body) < int(length[0]):
            self._data += data
            return
        self._data = b""
        self._received.append(body)
        wait = self._hold if len(self._received) == 1 else 0
        reply = next(self._replies)
        loop = asyncio.get_running_loop()
        loop.call_later(wait, self._transport.write, reply[:20])
        loop.call_later(wait + 0.002, self._transport.write, reply[20:])
        if reply == LAST:
            loop.call_later(wait + 0.004, self._transport.close)


def run_against(*replies: bytes, hold: float = 0.0, **plan: object) -> tuple[Tally, list[bytes]]:
    """Return the counts, and the bodies that the server received."""
    received: list[bytes] = []
    turns = cycle(replies)

    async def run() -> Tally:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Server(turns, received, hold), "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        made = Plan(urls=(url,), manifest=MANIFEST, **plan)  # type: ignore[arg-type]
        async with server:
            tally = await Load(made).run()
            await asyncio.sleep(0.05)  # until the connections end
        return tally

    return asyncio.run(run()), received


def test_every_request_is_a_report_that_the_intake_can_read() -> None:
    plan = Plan(urls=("http://localhost:8000",), manifest=MANIFEST, questions=100, addresses=5)
    target = Target(plan, plan.urls[0])
    ids, addresses = set(), set()
    for body in islice(make_bodies(plan), 200):
        head, _, sent = target.add_head(body).partition(b"\r\n\r\n")
        assert sent == body
        assert f"Content-Length: {len(body)}".encode() in head
        assert b"\r\nHost: localhost:8000\r\n" in head
        addresses.add(head.partition(b"X-Forwarded-For: ")[2].split()[0])
        upload = parse_upload(body)
        ids.add(upload.report_id)
        assert len(upload.symbols) == 100
        assert set(upload.symbols) == {0, 1}
    assert len(ids) == 200
    assert len(addresses) == 5


def test_given_bodies_are_sent_once_each() -> None:
    bodies = tuple(b'{"id":"%s"}' % (b"%043d" % number) for number in range(7))
    tally, received = run_against(CREATED, bodies=bodies, connections=2, seconds=5)
    assert sorted(received) == sorted(bodies)
    assert sorted(tally.acknowledged) == [b"%043d" % number for number in range(7)]


def test_arrivals_are_a_poisson_process() -> None:
    moments = list(arrivals(rate=1000, seconds=20, seed=3))
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    # 20,000 arrivals are expected, with a standard deviation of √20,000 = 141. A difference of 4.9
    # standard deviations has a chance of one in a million.
    assert abs(len(moments) - 20_000) < 4.9 * 141
    # The gaps of such a process are exponential: mean and standard deviation are equal.
    assert statistics.mean(gaps) == pytest.approx(statistics.stdev(gaps), rel=0.05)
    assert moments != list(arrivals(rate=1000, seconds=20, seed=4))
    assert moments == list(arrivals(rate=1000, seconds=20, seed=3))


@pytest.mark.parametrize(
    ("size", "share", "expected"), [(100, 0.5, 50), (100, 0.99, 99), (101, 0.99, 100), (1, 0.5, 1)]
)
def test_no_more_than_its_share_exceeds_a_quantile(size: int, share: float, expected: int) -> None:
    assert quantile(list(range(1, size + 1)), share) == expected
    assert quantile(list(range(1, size + 1)), 1.0) == size


def test_refusals_and_new_connections_are_counted() -> None:
    tally, received = run_against(CREATED, BUSY, LAST, connections=3, seconds=0.3)
    summary = tally.describe(seconds=0.3)
    assert sum(tally.statuses.values()) == len(received) == tally.sent
    assert summary["errors"] == tally.statuses[503] > 0
    assert summary["acknowledged"] == tally.statuses[201]
    assert len(set(tally.acknowledged)) == tally.statuses[201]


def test_requests_that_wait_for_a_pausing_server_are_counted() -> None:
    """A request must wait if it arrives while the only connection is busy; the wait is counted."""
    tally, _ = run_against(CREATED, hold=0.5, connections=1, rate=200, seconds=1)
    # About 100 requests arrive in the held half second, and they wait half of it on average.
    assert tally.statuses[201] == tally.sent == len(tally.latencies)
    assert sum(latency > 0.2 for latency in tally.latencies) >= 30
    assert tally.failures.total() == 0


def test_a_missing_reply_is_an_error() -> None:
    tally, received = run_against(CREATED, hold=60, connections=1, seconds=0.1, timeout=0.2)
    assert len(received) == 1
    assert tally.failures == {"timeout": 1}
    assert tally.acknowledged == []


def test_shares_of_several_processes_add_up() -> None:
    bodies = tuple(b"%d" % number for number in range(11))
    shares = split(Plan(urls=("http://a",), connections=5, rate=90, bodies=bodies), 3)
    assert [share.connections for share in shares] == [2, 2, 1]
    assert sum(share.rate or 0 for share in shares) == 90
    assert sorted(body for share in shares for body in share.bodies) == sorted(bodies)
    assert len({share.seed for share in shares}) == 3


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_every_benchmark_starts_without_settings(path: Path) -> None:
    """Benchmarks start outside Django, as scripts/bench runs them."""
    environment = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    command = [
        sys.executable,
        "-m",
        "scripts.stack.stoppable",
        f"scripts.benchmarks.{path.stem}",
        "--help",
    ]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "usage:" in shown.stdout
