"""The entry point for all requests, which sets headers and calls the async intake or Django.

Django runs as WSGI behind a2wsgi in a bounded pool of threads. The body is first read under a size
cap and a deadline, so that half-sent bodies hold no thread.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from typing import cast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from a2wsgi import WSGIMiddleware
from a2wsgi.wsgi_typing import WSGIApp
from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGIReceiveEvent,
    ASGISendCallable,
    HTTPScope,
    Scope,
)
from django.core.wsgi import get_wsgi_application
from django.http import FileResponse
from django.urls import get_resolver

django_application = get_wsgi_application()

from aggregator.intake.asgi import IntakeApplication
from aggregator.intake.body import (
    Bodies,
    BodyTooLarge,
    BodyTooSlow,
    Disconnected,
    Take,
    TooManyBodies,
    read_body,
)
from aggregator.upkeep.missing_migrations import report_missing_migrations
from config.headers import SecurityHeaders

INTAKE_PATH = "/api/reports"
MAX_PAGE_BODY_BYTES = 1_000_000
# Paths that accept questionnaires from other programs or definitions (surveys.definition.format).
LARGE_PATHS = ("/surveys/import", "/api/definitions/validate", "/api/surveys")
LARGE_BELOW, MAX_LARGE_BODY_BYTES = "/api/surveys/", 2_100_000
MAX_HELD_BYTES = 16_000_000  # sum of all bodies
_TOO_LARGE = b"This is too large. Go back and send a smaller file or a shorter text.\n"
_COME_BACK = ((b"retry-after", b"5"),)
DJANGO_THREADS = 8
# A thread yields to others after this time. With Python's default of 5 ms, the intake waits for
# each of eight threads in turn. While clients requested one page again and again, the 99th
# percentile of the intake's response times was 65 to 166 ms with the default, and 23 to 25 ms with
# this value.
SWITCH_SECONDS = 0.0005


# Up to ten blocks of a response wait between a thread and the client (a2wsgi's queue). With this
# block size, every page or static file fits in the queue, so no thread waits for a slow reader.
FileResponse.block_size = 131_072


class Entry:
    """Sends each request to the intake or to Django."""

    def __init__(self) -> None:
        self._intake = IntakeApplication()
        self._bodies = Bodies(most_bytes=MAX_HELD_BYTES)
        self._starting: asyncio.Task[None] | None = None
        # a2wsgi's own types for WSGI and ASGI are narrower than those of Django and asgiref.
        wsgi = cast(WSGIApp, django_application)
        self._django = cast(ASGI3Application, WSGIMiddleware(wsgi, workers=DJANGO_THREADS))

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] != "http":
            raise ValueError(f"unsupported scope {scope['type']}")  # servers run without WebSockets
        elif scope["path"] == INTAKE_PATH:
            await self._intake(scope, receive, send)
        else:
            await self._to_django(scope, receive, send)

    async def _live(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Start and stop with the process; the server answers every request before it stops."""
        while True:
            event = await receive()
            if event["type"] == "lifespan.startup":
                sys.setswitchinterval(SWITCH_SECONDS)
                # This runs in the background, so that a database that does not answer cannot delay
                # the start.
                self._starting = asyncio.create_task(asyncio.to_thread(report_missing_migrations))
                await send({"type": "lifespan.startup.complete"})
            elif event["type"] == "lifespan.shutdown":
                await self._intake.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _to_django(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        if not scope["query_string"].isascii():
            await _send_plain(send, 400, b"The address must be in ASCII.\n")
            return
        with self._bodies.hold() as take:
            await self._answer(scope, receive, send, take)

    async def _answer(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable, take: Take
    ) -> None:
        is_large = scope["path"] in LARGE_PATHS or scope["path"].startswith(LARGE_BELOW)
        limit = MAX_LARGE_BODY_BYTES if is_large else MAX_PAGE_BODY_BYTES
        try:
            body = await read_body(scope, receive, limit=limit, take=take)
        except Disconnected:
            return
        except TooManyBodies:
            await _send_plain(send, 503, b"The server is busy. Try again.\n", _COME_BACK)
            return
        except BodyTooLarge:
            await _send_plain(send, 413, _TOO_LARGE)
            return
        except BodyTooSlow:
            await _send_plain(send, 408, b"The request did not arrive in time. Try again.\n")
            return
        await self._django(_without_forged_names(scope), _replay(body, receive), send)


def _without_forged_names(scope: HTTPScope) -> HTTPScope:
    """Drop headers with underscores, which WSGI cannot tell from the same names with hyphens."""
    kept = [(name, value) for name, value in scope["headers"] if b"_" not in name]
    return {**scope, "headers": kept}


def _replay(body: bytes, receive: ASGIReceiveCallable) -> ASGIReceiveCallable:
    """Return a `receive` that gives the buffered body as one message, then the real messages."""
    pending: list[ASGIReceiveEvent] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> ASGIReceiveEvent:
        return pending.pop() if pending else await receive()

    return receive_again


async def _send_plain(
    send: ASGISendCallable, status: int, text: bytes, more: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close"), *more]
    await send(
        {"type": "http.response.start", "status": status, "headers": headers, "trailers": False}
    )
    await send({"type": "http.response.body", "body": text, "more_body": False})


application = SecurityHeaders(Entry())

# Load start-up objects now and exclude them from garbage collection: a full collection of them
# would stop all uploads for a tenth of a second.
_ = get_resolver().url_patterns
gc.collect()
gc.freeze()
