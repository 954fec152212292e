"""Reading a request's body under a size cap and a deadline, before anything parses it."""

from __future__ import annotations

import asyncio

from asgiref.typing import ASGIReceiveCallable, HTTPScope

DEADLINE_SECONDS = 3.0


class BodyError(Exception):
    """The body could not be read."""


class BodyTooLarge(BodyError):
    """The body is larger than any request of this kind."""


class BodyTooSlow(BodyError):
    """The body was not complete within the deadline; half-sent bodies must not take up a place."""


class Disconnected(BodyError):
    """The client disconnected, so there is no one left to answer."""


async def read_body(
    scope: HTTPScope,
    receive: ASGIReceiveCallable,
    *,
    limit: int,
    deadline: float = DEADLINE_SECONDS,
) -> bytes:
    if _announced_length(scope) > limit:
        raise BodyTooLarge
    try:
        async with asyncio.timeout(deadline):
            return await _read(receive, limit=limit)
    except TimeoutError:
        raise BodyTooSlow from None


async def _read(receive: ASGIReceiveCallable, *, limit: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Disconnected
        body += message.get("body", b"")
        if len(body) > limit:
            raise BodyTooLarge
        if not message.get("more_body", False):
            return bytes(body)


def _announced_length(scope: HTTPScope) -> int:
    for name, value in scope["headers"]:
        if name.lower() == b"content-length":
            return int(value) if value.isdigit() and len(value) < 20 else 0
    return 0
