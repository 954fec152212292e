"""Clients that are slow, unresponsive or excessive, while others need to be served."""

from __future__ import annotations

import itertools
import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from scripts.attacks.fuzz.target import Target, running_intake, wait_for

HEAD = b"POST /api/reports HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
PAGE = b"GET /accounts/login/ HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF_PAGE = PAGE.replace(b"GET", b"POST")[:-2]
BODY_DEADLINE, HEADER_DEADLINE = 3.0, 10.0
# Added to each deadline for busy machines.
SLACK = 4.0
PIECE = 1_000_000
# The memory that a connection may briefly use for the hundreds of megabytes sent over it.
MAX_GROWTH_MEGABYTES = 64
TCP_REPAIR = 19  # closes a socket without notifying the other side
numbers = itertools.count()


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with running_intake(var=tmp_path_factory.mktemp("clients")) as running:
        with running.client() as client:
            assert client.get("/accounts/login/").status_code == 200  # warms the process up
        yield running


class Crowd:
    """Opens any number of connections and closes all of them at the end."""

    def __init__(self, target: Target) -> None:
        self._address = ("127.0.0.1", target.stack.port)
        self._members = ExitStack()

    def connect(self, first: bytes = b"", *, window: int = 0) -> socket.socket:
        connection = self._members.enter_context(socket.socket())
        if window:  # set before connecting, because the window is part of the handshake
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        connection.settimeout(60)
        connection.connect(self._address)
        connection.sendall(first)
        return connection

    def hang(self, first: bytes, *, count: int) -> list[socket.socket]:
        return [self.connect(first) for _ in range(count)]

    def close(self) -> None:
        self._members.close()


@pytest.fixture
def crowd(target: Target) -> Iterator[Crowd]:
    made = Crowd(target)
    yield made
    made.close()


def read_to_the_end(connection: socket.socket) -> bytes:
    received = b""
    with suppress(ConnectionError):
        while piece := connection.recv(65_536):
            received += piece
    return received


def status_of(reply: bytes) -> int:
    return int(reply[9:12] or 0)


def assert_others_are_served(target: Target, *, pages: int = 20, reports: int = 100) -> None:
    started = time.monotonic()
    with target.client(timeout=10) as client:
        for _ in range(pages):
            assert client.get("/accounts/login/").status_code == 200
        for number in itertools.islice(numbers, reports):
            reply = client.post("/api/reports", content=target.body(number))
            assert reply.status_code == 201
    assert time.monotonic() - started < 20


def resident_peak(target: Target) -> float:
    status = Path(f"/proc/{target.stack.processes['web'].pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def open_sockets(target: Target) -> int:
    folder = Path(f"/proc/{target.stack.processes['web'].pid}/fd")
    links = []
    for entry in folder.iterdir():
        with suppress(OSError):
            links.append(str(entry.readlink()))
    return sum(link.startswith("socket:") for link in links)


def test_half_sent_requests_delay_no_one_and_are_cut_off_in_time(
    target: Target, crowd: Crowd
) -> None:
    half_body = HEAD + b'Content-Length: 140\r\n\r\n{"format":1,"manifest":"'
    half_page = HALF_PAGE + b"Content-Length: 9\r\n\r\n"
    before = open_sockets(target)
    started = time.monotonic()
    headers = crowd.hang(HEAD[:-20], count=200) + crowd.hang(b"", count=50)
    bodies = crowd.hang(half_body, count=200) + crowd.hang(half_page, count=20)
    # The slow clients are still connected while others are served.
    wait_for(lambda: open_sockets(target) >= before + 400, seconds=BODY_DEADLINE)
    assert_others_are_served(target)
    served = time.monotonic() - started
    replies = [read_to_the_end(one) for one in bodies]
    assert {status_of(reply) for reply in replies} == {408}
    assert all(b"\r\nretry-after: 1\r\n" in reply for reply in replies[:200])
    assert BODY_DEADLINE < time.monotonic() - started < served + BODY_DEADLINE + SLACK
    assert {read_to_the_end(one) for one in headers} == {b""}
    assert HEADER_DEADLINE < time.monotonic() - started < served + HEADER_DEADLINE + SLACK
    wait_for(lambda: open_sockets(target) <= before + 2, seconds=SLACK)


@pytest.mark.long
def test_one_byte_per_second_does_not_extend_the_deadlines(target: Target, crowd: Crowd) -> None:
    trickles = {
        "headers": (b"", HEAD, HEADER_DEADLINE),
        "body": (HEAD + b"Content-Length: 60\r\n\r\n", b"x" * 60, BODY_DEADLINE),
        "chunks": (CHUNKED, b"1\r\nx\r\n" * 20, BODY_DEADLINE),
        "trailers": (CHUNKED + b"0\r\n", b"X: " + b"x" * 60, BODY_DEADLINE),
    }
    started = time.monotonic()
    open_still = {name: crowd.connect(first) for name, (first, _, _) in trickles.items()}
    lasted = {}
    for number in range(int(HEADER_DEADLINE + SLACK)):
        for name, connection in list(open_still.items()):
            if has_ended(connection):
                lasted[name] = time.monotonic() - started
                del open_still[name]
                continue
            with suppress(ConnectionError):
                connection.sendall(trickles[name][1][number : number + 1])
        time.sleep(1)
    assert not open_still
    for name, (_, _, deadline) in trickles.items():
        assert deadline - 1 < lasted[name] < deadline + SLACK, name


def has_ended(connection: socket.socket) -> bool:
    """Return whether the other side closed the connection; data that it sent before is ignored."""
    connection.setblocking(False)
    try:
        while connection.recv(65_536):
            pass
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    finally:
        connection.settimeout(60)
    return True


@pytest.mark.long
def test_silently_dead_clients_are_dropped(target: Target, crowd: Crowd) -> None:
    """Like machines that lose their network, these clients send no FIN, no RST, nothing."""
    before = open_sockets(target)
    half_body = HEAD + b"Content-Length: 140\r\n\r\n{"
    for first in (b"", HEAD, half_body, PAGE, PAGE * 5) * 10:
        connection = crowd.connect(first)
        if os.geteuid() == 0:
            connection.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
        else:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    assert_others_are_served(target, pages=5, reports=20)
    wait_for(lambda: open_sockets(target) <= before + 2, seconds=HEADER_DEADLINE + SLACK)
    if os.geteuid() != 0:
        pytest.skip(
            "not tested: clients that go without a word, which only root can play; those that "
            "reset their connections were"
        )


@pytest.mark.long
def test_clients_that_never_read_delay_no_one(target: Target, crowd: Crowd) -> None:
    static = target.stack.var / "static"
    largest = max(static.rglob("*.js"), key=lambda path: path.stat().st_size)
    address = f"/static/{largest.relative_to(static)}".encode()
    assert largest.stat().st_size > 100_000
    request = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % address
    readers = [crowd.connect(request * 100, window=4096) for _ in range(24)]
    readers += [crowd.connect(PAGE * 200, window=4096) for _ in range(8)]
    time.sleep(1)
    assert_others_are_served(target)
    for one in readers:  # the clients leave without reading; no thread may be lost with them
        one.close()
    time.sleep(0.5)
    assert_others_are_served(target)
    assert "Traceback" not in target.log


def test_pipelined_requests_from_a_client_that_vanishes_leave_no_trace(
    target: Target, crowd: Crowd
) -> None:
    """Reports that precede invalid HTTP are also harmless, whether they are accepted or not."""
    stored = len(target.stored())
    sent = 0
    for tail in (b"", b"GARBAGE\r\n\r\n", b"\0" * 9, PAGE * 3, HEAD):
        for count in (1, 2, 5):
            bodies = [target.body(number) for number in itertools.islice(numbers, count)]
            requests = [HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(b), b) for b in bodies]
            connection = crowd.connect(b"".join(requests) + tail)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
            sent += count
    assert_others_are_served(target, pages=20, reports=20)
    assert len(target.stored()) <= stored + sent + 20
    assert "Traceback" not in target.log


def pour(connection: socket.socket, piece: bytes, *, seconds: float = 30) -> tuple[int, bytes]:
    """Send for as long as the server allows; return how much was sent and what came back."""
    sent, deadline = 0, time.monotonic() + seconds
    with suppress(ConnectionError):
        while time.monotonic() < deadline:
            connection.sendall(piece)
            sent += len(piece)
    assert time.monotonic() < deadline
    return sent, read_to_the_end(connection)


ENDLESS = {
    "body": (HEAD + b"Content-Length: 1000000000000\r\n\r\n", b"x" * PIECE),
    "chunks": (CHUNKED, b"%x\r\n" % PIECE + b"x" * PIECE + b"\r\n"),
    "one chunk": (CHUNKED + b"ffffffffff\r\n", b"x" * PIECE),
    "small chunks": (CHUNKED, b"1\r\nx\r\n" * 100_000),
    "chunk extension": (CHUNKED + b"5;", b"x" * PIECE),
    "trailers": (CHUNKED + b"0\r\n", b"X-Trailer: something\r\n" * 50_000),
    "trailer": (CHUNKED + b"0\r\nX: ", b"x" * PIECE),
    "headers": (HEAD, b"X-Header: something\r\n" * 50_000),
    "header": (HEAD + b"X: ", b"x" * PIECE),
    "header name": (HEAD, b"x" * PIECE),
    "address": (b"POST /", b"x" * PIECE),
    "method": (b"", b"X" * PIECE),
    "empty lines": (b"", b"\r\n" * (PIECE // 2)),
    "page body": (
        PAGE.replace(b"GET", b"POST")[:-2] + b"Content-Length: 9999999999\r\n\r\n",
        b"x" * PIECE,
    ),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_endless_requests_are_cut_off_and_do_not_fill_memory(
    target: Target, crowd: Crowd, kind: str
) -> None:
    first, piece = ENDLESS[kind]
    before = resident_peak(target)
    started = time.monotonic()
    sent, _ = pour(crowd.connect(first), piece)
    assert time.monotonic() - started < HEADER_DEADLINE + SLACK
    print(f"{kind}: {sent / 1e6:.0f} MB")
    assert resident_peak(target) - before < MAX_GROWTH_MEGABYTES
    assert_others_are_served(target, pages=2, reports=2)


@pytest.mark.parametrize("expect", [b"", b"Expect: 100-continue\r\n"])
def test_a_huge_length_is_refused_before_anything_is_read(
    target: Target, crowd: Crowd, expect: bytes
) -> None:
    started = time.monotonic()
    connection = crowd.connect(HEAD + expect + b"Content-Length: 1000000000000\r\n\r\n")
    reply = read_to_the_end(connection)
    assert time.monotonic() - started < BODY_DEADLINE
    assert status_of(reply) == 413  # at once, without asking for the body first
    assert b"application/problem+json" in reply
    assert b"\r\nconnection: close\r\n" in reply.lower()


def test_an_endless_chunked_body_is_cut_off_at_the_cap(target: Target, crowd: Crowd) -> None:
    started = time.monotonic()
    reply = read_to_the_end(crowd.connect(CHUNKED + b"1001\r\n" + b"x" * 4097))
    assert status_of(reply) == 413
    assert time.monotonic() - started < BODY_DEADLINE


def test_a_client_that_asks_before_sending_is_told_to_continue(
    target: Target, crowd: Crowd
) -> None:
    body = target.body(next(numbers))
    connection = crowd.connect(
        HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body)
    )
    assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.sendall(body)
    assert status_of(connection.recv(1000)) == 201


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"[" * 4096, {}, 422),
        (b'{"a":' * 800, {}, 422),
        (b"[" * 1_000_000, {}, 413),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\x03", {"content-encoding": "gzip"}, 422),
        (b"{}", {"content-type": "application/gzip"}, 415),
    ],
)
def test_deep_and_compressed_bodies_are_refused_without_decoding(
    target: Target, body: bytes, headers: dict[str, str], status: int
) -> None:
    with target.client() as client:
        reply = client.post("/api/reports", content=body, headers=headers)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
