"""The deadlines and bounds of config/protocol.py, over real connections to a real server."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest
import uvicorn

from config import protocol
from config.headers import headers_for
from config.protocol import Protocol

# Each test starts its own server.
OK = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bytes]]


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Reply with the names of the headers and the length of the body."""
    body = b""
    while True:
        event = await receive()
        body += event.get("body", b"")
        if not event.get("more_body"):
            break
    names = b",".join(name for name, _ in scope["headers"])
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"%s %d" % (names, len(body))})


def converse(*talks: Talk) -> list[bytes]:
    """Run each conversation over a separate connection to a server, and return the results."""

    async def run() -> list[bytes]:
        listener = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(
            uvicorn.Config(echo, http=Protocol, ws="none", lifespan="off", log_level="critical")
        )
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.01)

        async def connect(talk: Talk) -> bytes:
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            try:
                async with asyncio.timeout(60):
                    return await talk(reader, writer)
            finally:
                writer.close()

        try:
            return list(await asyncio.gather(*map(connect, talks)))
        finally:
            server.should_exit = True
            await serving
            listener.close()

    return asyncio.run(run())


def say(*parts: bytes, pause: float = 0) -> Talk:
    """Send the parts, then read until the server closes the connection or sends nothing more."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        try:
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(pause)
            received = b""
            while True:
                async with asyncio.timeout(4):
                    more = await reader.read(65_536)
                if not more:
                    return received + b"<end>"
                received += more
        except TimeoutError:
            return received
        except ConnectionError:
            return b"<reset>"

    return talk


def test_an_ordinary_request_is_answered_and_the_connection_stays() -> None:
    (reply,) = converse(say(OK, OK))
    assert reply.count(b"HTTP/1.1 200") == 2
    assert not reply.endswith(b"<end>")


@pytest.mark.parametrize("begun", [b"", b"\r\n", b"POST / HT", OK[:30]])
def test_headers_that_never_arrive_end_the_connection(
    begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEADER_DEADLINE_SECONDS", 0.2)
    assert converse(say(begun)) == [b"<end>"]
    # The deadline also applies after a first request, where uvicorn's own timeout ends at the first
    # byte.
    for reply in converse(*(say(OK, more, pause=0.05) for more in (b"POST / HT", b"\r\n", b"\r"))):
        assert reply.startswith(b"HTTP/1.1 200")
        assert reply.endswith(b"<end>")


def test_an_empty_line_between_two_requests_is_skipped() -> None:
    (reply,) = converse(say(OK, b"\r\n", OK, pause=0.05))
    assert reply.count(b"HTTP/1.1 200") == 2
    assert not reply.endswith(b"<end>")


def endless(line: bytes, *, times: int = 3000) -> Iterable[bytes]:
    return [line * 10] * (times // 10)


def test_endless_headers_are_refused() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\n"
    (reply,) = converse(say(head, *endless(b"X-Filler: %s\r\n" % (b"x" * 80))))
    assert reply == b"<reset>" or reply.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "framing",
    [
        b"0\r\n" + b"X-Trailer: %s\r\n" % (b"x" * 80) * 3000,  # trailers
        b"0\r\nX-Trailer: " + b"x" * 300_000,  # an endless trailer
        b"1;" + b"x" * 300_000,  # an extension of a chunk
    ],
)
def test_endless_chunks_and_trailers_are_cut_off(framing: bytes) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    parts = [framing[i : i + 1000] for i in range(0, len(framing), 1000)]
    (reply,) = converse(say(head, *parts))
    assert reply in (b"<reset>", b"<end>")


def test_a_large_body_is_not_mistaken_for_headers() -> None:
    size = 900_000
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size
    chunked = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    replies = converse(say(head + b"x" * size), say(chunked, *[chunks] * 12, b"0\r\n\r\n"))
    assert b"host,content-length 900000" in replies[0]
    assert b"host,transfer-encoding 786432" in replies[1].replace(b"\r\n", b" ")


def test_trailers_do_not_become_headers() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    (reply,) = converse(say(head, b"2\r\nhi\r\n0\r\nContent-Type: application/json\r\n\r\n"))
    assert b"content-type" not in reply
    assert b"host,transfer-encoding 2" in reply


LARGE = b"X-Filler: %s\r\n" % (b"x" * 70_000)
MANY = b"X: y\r\n" * 12_000


@pytest.mark.parametrize(
    "head",
    [
        b"GET /%s HTTP/1.1\r\nHost: x\r\n" % (b"x" * 70_000),
        b"GET / HTTP/1.1\r\nHost: x\r\n" + LARGE,
        b"GET / HTTP/1.1\r\nHost: x\r\n" + MANY,
    ],
)
def test_too_many_headers_are_refused_also_in_one_piece(head: bytes) -> None:
    (reply,) = converse(say(head + b"\r\n"))
    assert reply.startswith(b"HTTP/1.1 400")
    assert b"too many headers" in reply
    assert reply.endswith(b"<end>")


def test_the_headers_of_many_requests_do_not_add_up() -> None:
    one = b"GET / HTTP/1.1\r\nHost: x\r\nX-Filler: %s\r\n\r\n" % (b"x" * 9_000)
    (reply,) = converse(say(*[one] * 20, pause=0.01))
    assert reply.count(b"HTTP/1.1 200") == 20


@pytest.mark.parametrize(
    ("head", "detail"),
    [
        (b"GET /healthz\r\n", b"must be HTTP/1.1"),
        (b"GET /healthz HTTP/0.9\r\nHost: x\r\n", b"must be HTTP/1.1"),
        (b"GET / HTTP/1.1\r\n", b"must have one Host"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n", b"must have one Host"),
        (b"GET / HTTP/1.0\r\nHost: x\r\nhost: y\r\n", b"must have one Host"),
    ],
)
def test_a_request_needs_a_version_and_one_host(head: bytes, detail: bytes) -> None:
    (reply,) = converse(say(head + b"\r\n"))
    assert reply.startswith(b"HTTP/1.1 400")
    assert detail in reply
    assert reply.endswith(b"<end>")


def test_probes_may_use_http_1_0_without_a_host() -> None:
    (reply,) = converse(say(b"GET / HTTP/1.0\r\n\r\n"))
    assert reply.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "rest",
    [
        b"\x00nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",  # a request without Host
        b"GET / HTTP/1.1\r\nHost: x\r\n" + LARGE + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + LARGE,
        b"GET / HTTP/1.1\r\nHost: x\r\nX-Filler: " + b"x" * 70_000,
    ],
)
@pytest.mark.parametrize("requests", [1, 3])
def test_garbage_after_requests_does_not_change_their_replies(rest: bytes, requests: int) -> None:
    (reply,) = converse(say(OK * requests + rest))
    assert reply.count(b"HTTP/1.1 200") == requests
    assert reply.count(b"HTTP/1.1 ") == requests  # nothing that would look like another reply
    assert reply.endswith(b"<end>")


def test_a_request_whose_body_turns_into_garbage_gets_no_reply() -> None:
    chunked = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    (reply,) = converse(say(chunked + b"2\r\nhi\r\nnonsense\r\n"))
    assert reply == b"<end>"


def test_invalid_http_is_refused_with_the_headers_of_all_responses() -> None:
    (reply,) = converse(say(b"\x00nonsense\r\n\r\n"))
    head, _, body = reply.removesuffix(b"<end>").partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    assert status == "HTTP/1.1 400 Bad Request"
    assert headers_for("/api/").items() <= headers.items()
    assert headers["Cache-Control"] == "no-store"
    assert headers["Content-Type"] == "application/problem+json"
    assert int(headers["Content-Length"]) == len(body)
    assert json.loads(body)["type"] == "/problems/not-http"
