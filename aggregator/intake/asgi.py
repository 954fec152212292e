"""The intake as an ASGI application: body under cap and deadline, then the core in a thread."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope
from django.db import close_old_connections, connection

from aggregator import problems
from aggregator.intake.body import BodyTooLarge, BodyTooSlow, Disconnected, read_body
from aggregator.intake.core import Reply, handle, reply_to_error
from aggregator.intake.errors import NotNow, Refused
from aggregator.intake.wire import MAX_BODY_BYTES

MAX_WAITING = 1000


class IntakeApplication:
    """Answers POST /api/reports; at most MAX_WAITING requests wait for the database."""

    def __init__(self) -> None:
        # SQLite has one writer anyway; two would only starve each other.
        threads = 1 if connection.vendor == "sqlite" else 4
        self._threads = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="intake")
        self._waiting = 0

    async def __call__(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        try:
            body = await read_body(receive, limit=MAX_BODY_BYTES)
        except Disconnected:
            return
        except BodyTooLarge:
            detail = f"A report has at most {MAX_BODY_BYTES} bytes."
            reply = reply_to_error(Refused(problems.TOO_LARGE, detail))
        except BodyTooSlow:
            detail = "The report did not arrive in time. Send the same bytes again."
            reply = reply_to_error(NotNow(problems.BODY_TOO_SLOW, detail, retry_after=1))
        else:
            reply = await self._take(scope, body)
        await _send_reply(send, reply)

    async def _take(self, scope: HTTPScope, body: bytes) -> Reply:
        if self._waiting >= MAX_WAITING:
            detail = "Too many reports arrive at this moment. Send the same bytes again."
            return reply_to_error(NotNow(problems.BUSY, detail, retry_after=2))
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._threads, _handle_in_thread, scope["method"], headers, body
            )
        finally:
            self._waiting -= 1


def _handle_in_thread(method: str, headers: dict[str, str], body: bytes) -> Reply:
    close_old_connections()  # a connection that failed is opened anew
    try:
        return handle(method=method, headers=headers, body=body)
    finally:
        close_old_connections()


async def _send_reply(send: ASGISendCallable, reply: Reply) -> None:
    headers = [(k.lower().encode("latin-1"), v.encode("latin-1")) for k, v in reply.headers]
    headers.append((b"content-length", str(len(reply.body)).encode()))
    await send(
        {
            "type": "http.response.start",
            "status": reply.status,
            "headers": headers,
            "trailers": False,
        }
    )
    await send({"type": "http.response.body", "body": reply.body, "more_body": False})
