"""A proxy between a browser and Murmur that notes every request and can fail in several ways."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from scripts.stack.stack import free_port
from tests.support.browser.live import LiveApplication

Headers = list[tuple[bytes, bytes]]
POLICY = b"content-security-policy"
# Where browsers report what a policy forbids, in all three engines.
VIOLATIONS = "/violations"


def watch(headers: Headers) -> Headers:
    """Ask browsers to report what the policy forbids; change nothing else about the policy."""
    ask = f"; report-uri {VIOLATIONS}".encode()
    return [(name, value + ask if name == POLICY else value) for name, value in headers]


@dataclass(frozen=True, kw_only=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Line:
    """A proxy at `url`, through which this browser reaches Murmur."""

    url: str
    requests: list[Request] = field(default_factory=list)
    # Files that never arrive, like those that a content blocker drops.
    drops: Callable[[str], bool] = lambda path: False
    # How a proxy changes the headers of a response.
    rewrite: Callable[[Headers], Headers] = watch
    loses_acknowledgements: bool = False
    holds_seconds: float = 0  # how long each acknowledgement takes
    _is_down: bool = False
    _connections: set[asyncio.WriteTransport] = field(default_factory=set)
    _loop: asyncio.AbstractEventLoop | None = None

    @property
    def violations(self) -> list[bytes]:
        return [one.body for one in self.requests if one.path == VIOLATIONS]

    @property
    def reports(self) -> list[Request]:
        return [one for one in self.requests if one.path == "/api/reports"]

    def wait_for_report(self) -> None:
        """Wait until the server has stored a report and acknowledged it."""
        deadline = time.monotonic() + 60
        while not self.reports:
            assert time.monotonic() < deadline, "no report arrived"
            time.sleep(0.1)

    def cut(self) -> None:
        """Drop all connections, and refuse new ones until `restore`."""
        self._is_down = True
        self._call(self._drop_all)

    def restore(self) -> None:
        self.loses_acknowledgements = False
        self._is_down = False

    def _call(self, act: Callable[[], None]) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(act)

    def _drop_all(self) -> None:
        for connection in list(self._connections):
            connection.abort()

    @contextmanager
    def carry(self, port: int, server_port: int) -> Iterator[None]:
        """Carry bytes between the two ports, in a thread."""
        is_ready, done = threading.Event(), asyncio.Event()
        thread = threading.Thread(
            target=lambda: asyncio.run(self._listen(port, server_port, is_ready, done))
        )
        thread.start()
        is_ready.wait(timeout=10)
        yield
        self._call(done.set)
        thread.join(timeout=10)

    async def _listen(
        self, port: int, server_port: int, is_ready: threading.Event, done: asyncio.Event
    ) -> None:
        async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if self._is_down:
                writer.transport.abort()
                return
            # The connection is noted before the server replies, because the line may end or be cut
            # before the reply. It stays noted after it was closed, because its socket stays open
            # until the last bytes are read.
            self._connections.add(writer.transport)
            inner, outer = await asyncio.open_connection("127.0.0.1", server_port)
            self._connections.add(outer.transport)
            await asyncio.gather(_copy(reader, outer), _copy(inner, writer))

        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(connect, "127.0.0.1", port)
        is_ready.set()
        await done.wait()
        self._is_down = True  # for connections that the system has already accepted
        # A server that is closed while it accepts a connection leaves that connection open.
        for listening in server.sockets:
            self._loop.remove_reader(listening.fileno())
        await asyncio.sleep(0.1)
        server.close()
        for _ in range(100):
            is_alone = len(asyncio.all_tasks()) == 1  # no connection is being carried or accepted
            self._drop_all()
            await asyncio.sleep(0.1)  # until all connections have ended
            if is_alone:
                break

    def wrap(self, application: Any) -> Any:
        """Return the application as it answers over this line."""

        async def answer(scope: Any, receive: Any, send: Any) -> None:
            body, received = b"", []

            async def receive_noting() -> Any:
                nonlocal body
                event = await receive()
                received.append(event)
                body += event.get("body", b"")
                return event

            async def send_noting(event: Any) -> None:
                if event["type"] == "http.response.start":
                    self._note(scope, body)
                    if scope["method"] == "POST":
                        await asyncio.sleep(self.holds_seconds)
                    if self.loses_acknowledgements and scope["method"] == "POST":
                        self.cut()
                        await asyncio.sleep(1)
                    event = {**event, "headers": self.rewrite(list(event["headers"]))}
                await send(event)

            if self.drops(scope["path"]):
                self._note(scope, b"")
                await send({"type": "http.response.start", "status": 404, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                return
            await application(scope, receive_noting, send_noting)

        return answer

    def _note(self, scope: Any, body: bytes) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        found = Request(method=scope["method"], path=scope["path"], headers=headers, body=body)
        self.requests.append(found)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


@pytest.fixture
def line(live: LiveApplication) -> Iterator[Line]:
    """Provide a working line to a Murmur instance with an empty database."""
    port = free_port()
    line = Line(url=f"http://localhost:{port}")
    live.application.around = line.wrap
    with line.carry(port, live.port):
        yield line
    live.application.around = None
    assert line.violations == []
