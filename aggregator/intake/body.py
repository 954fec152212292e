"""Read a request's body under a size cap and a deadline, before anything parses it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from asgiref.typing import ASGIReceiveCallable, HTTPScope

DEADLINE_SECONDS = 3.0


class BodyError(Exception):
    """The body could not be read."""


class BodyTooLarge(BodyError):
    """The body exceeds the limit for this kind of request."""


class BodyTooSlow(BodyError):
    """The body was incomplete at the deadline; half-sent bodies must not take up places."""


class TooManyBodies(BodyError):
    """Other requests already use so much memory that this process accepts no more."""


class Disconnected(BodyError):
    """The client disconnected, so there is no one left to answer."""


Take = Callable[[int], None]  # counts bytes that were received


class Bodies:
    """Limits the bodies that a process holds at once, because half-sent ones could fill memory."""

    def __init__(self, *, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self.held_bytes = 0

    @contextmanager
    def hold(self) -> Iterator[Take]:
        """Count the body of one request until it has been answered."""
        own = 0

        def take(size: int) -> None:
            nonlocal own
            if self.held_bytes + size > self._most_bytes:
                raise TooManyBodies
            self.held_bytes += size
            own += size

        try:
            yield take
        finally:
            self.held_bytes -= own


def _take_all(size: int) -> None:
    """Count nothing, because reports are small."""


async def read_body(
    scope: HTTPScope,
    receive: ASGIReceiveCallable,
    *,
    limit: int,
    deadline: float = DEADLINE_SECONDS,
    take: Take = _take_all,
) -> bytes:
    if _announced_length(scope) > limit:
        raise BodyTooLarge
    try:
        async with asyncio.timeout(deadline):
            return await _read(receive, limit=limit, take=take)
    except TimeoutError:
        raise BodyTooSlow from None


async def _read(receive: ASGIReceiveCallable, *, limit: int, take: Take) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Disconnected
        part = message.get("body", b"")
        if len(body) + len(part) > limit:
            raise BodyTooLarge
        take(len(part))
        body += part
        if not message.get("more_body", False):
            return bytes(body)


def _announced_length(scope: HTTPScope) -> int:
    for name, value in scope["headers"]:
        if name.lower() == b"content-length":
            return int(value) if value.isdigit() and len(value) < 20 else 0
    return 0
