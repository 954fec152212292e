"""The intake as an ASGI application that commits many reports together.

A request waits twice, first for the limiter's count and then for the commit. Requests that arrive
during such a wait are processed together. At most MAX_WAITING requests wait; others are asked to
retry.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope
from django.conf import settings
from django.db import connection

from accounts.networks import find_network
from aggregator import problems
from aggregator.intake.body import BodyTooLarge, BodyTooSlow, Disconnected, read_body
from aggregator.intake.core import (
    Reply,
    read_request,
    reply_to_error,
    reply_to_outcome,
    storing_failed,
)
from aggregator.intake.errors import IntakeError, Refused, RetryLater
from aggregator.intake.gathering import Gatherer
from aggregator.intake.limiter import make_limiter, network_to_limit
from aggregator.intake.store import Outcome, record_reports
from aggregator.intake.wire import MAX_BODY_BYTES, Upload

MAX_WAITING = 1000
MAX_GROUP = 256
BUSY_RETRY_SECONDS = 2
# This message does not state the limit, because attackers find it out anyway, and a respondent
# behind a shared address cannot do anything about it.
_OVER_LIMIT = "Too many reports came from this network. Send the same bytes again later."


class IntakeApplication:
    """Answers POST /api/reports.

    One thread writes, over this process's own connection for reports. While the thread commits one
    group, the next group forms.
    """

    def __init__(self) -> None:
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="intake")
        self._store = Gatherer(self._record, limit=MAX_GROUP)
        self._limiter = make_limiter()
        self._limit = Gatherer(self._admit, limit=MAX_GROUP)
        self._waiting = 0

    async def __call__(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        try:
            body = await read_body(scope, receive, limit=MAX_BODY_BYTES)
        except Disconnected:
            return
        except BodyTooLarge:
            detail = f"A report has at most {MAX_BODY_BYTES} bytes."
            reply = _hang_up(reply_to_error(Refused(problems.TOO_LARGE, detail)))
        except BodyTooSlow:
            detail = "The report did not arrive in time. Send the same bytes again."
            late = RetryLater(problems.BODY_TOO_SLOW, detail, retry_after=1)
            reply = _hang_up(reply_to_error(late))
        else:
            reply = await self._answer(scope, body)
        await _send_reply(send, reply)

    async def close(self) -> None:
        """Let the current commit end, then close the connections."""
        await asyncio.get_running_loop().run_in_executor(self._writer, _disconnect)
        self._writer.shutdown()
        self._limiter.close()

    async def _answer(self, scope: HTTPScope, body: bytes) -> Reply:
        headers = _join_headers(scope)
        try:
            _check_transport(scope, headers)
            upload = read_request(scope["method"], headers, body)
            return reply_to_outcome(await self._take(upload, network=_sender(scope, headers)))
        except IntakeError as error:
            return reply_to_error(error)

    async def _take(self, upload: Upload, *, network: bytes | None) -> Outcome:
        if self._waiting >= MAX_WAITING:
            detail = "Too many reports are arriving right now. Send the same bytes again."
            raise RetryLater(problems.BUSY, detail, retry_after=BUSY_RETRY_SECONDS)
        self._waiting += 1
        try:
            if network is not None:
                await self._check_limit(network)
            outcome = await self._store.submit(upload)
        finally:
            self._waiting -= 1
        if isinstance(outcome, IntakeError):
            raise outcome
        return outcome

    async def _check_limit(self, network: bytes) -> None:
        wait = await self._limit.submit(network)
        if wait:
            raise RetryLater(problems.TOO_MANY_REQUESTS, _OVER_LIMIT, retry_after=wait)

    async def _admit(self, networks: Sequence[bytes]) -> Sequence[int]:
        return await asyncio.to_thread(self._limiter.admit, networks)

    async def _record(self, uploads: Sequence[Upload]) -> Sequence[Outcome | IntakeError]:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._writer, record_reports, uploads)
        except Exception as error:  # whatever it is, everyone in the group may retry
            return [storing_failed(error)] * len(uploads)


def _disconnect() -> None:
    connection.close()  # each thread has its own connection


def _join_headers(scope: HTTPScope) -> dict[str, str]:
    """Return headers by lower-case name; a repeated one becomes a list, which no check accepts."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _check_transport(scope: HTTPScope, headers: Mapping[str, str]) -> None:
    """Refuse a report sent without encryption; Django redirects requests for pages to HTTPS."""
    scheme = headers.get("x-forwarded-proto", "") if settings.BEHIND_PROXY else scope["scheme"]
    if settings.HTTPS and scheme != "https":
        raise Refused(problems.PLAIN_HTTP, "Send reports over HTTPS only.")


def _sender(scope: HTTPScope, headers: Mapping[str, str]) -> bytes | None:
    client = scope.get("client")
    network = find_network(
        client=client[0] if client else "", forwarded=headers.get("x-forwarded-for", "")
    )
    return network_to_limit(network)


def _hang_up(reply: Reply) -> Reply:
    """Close the connection, because the rest of the body may still arrive on it."""
    return replace(reply, headers=(*reply.headers, ("Connection", "close")))


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
