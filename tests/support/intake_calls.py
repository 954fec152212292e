"""Requests to the intake's ASGI application, without a server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from aggregator.intake.asgi import IntakeApplication
from aggregator.intake.wire import encode_report
from surveys.models import Wave

Message = dict[str, Any]


async def ask(
    application: Any,
    messages: list[Message],
    *,
    method: str = "POST",
    wait: bool = False,
    client: tuple[str, int] | None = ("127.0.0.1", 50_000),
    headers: Sequence[tuple[bytes, bytes]] = (),
    scheme: str = "http",
) -> list[Message]:
    """Pass the messages to the application, then nothing more; return what it sends."""
    pending, sent = list(messages), []

    async def receive() -> Message:
        if pending:
            return pending.pop(0)
        await asyncio.sleep(3600 if wait else 0)
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "scheme": scheme,
        "method": method,
        "path": "/api/reports",
        "client": client,
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json"), *headers],
    }
    await application(scope, receive, send)
    return sent


def call(messages: list[Message], **request: Any) -> tuple[int, dict[str, str], bytes]:
    """Send one request to a new application and return the reply."""

    async def run() -> list[Message]:
        application = IntakeApplication()
        try:
            return await ask(application, messages, **request)
        finally:
            await application.close()

    sent = asyncio.run(run())
    if not sent:
        return 0, {}, b""
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, sent[1]["body"]


def chunks(content: bytes, *, size: int = 16, complete: bool = True) -> list[Message]:
    parts = [content[i : i + size] for i in range(0, len(content), size)]
    return [
        {"type": "http.request", "body": part, "more_body": not complete or i < len(parts) - 1}
        for i, part in enumerate(parts)
    ]


def report(wave: Wave, *, report_id: bytes = bytes(32), symbols: bytes = b"\1\0\1") -> bytes:
    return encode_report(
        manifest_hash=bytes(wave.manifest_hash), report_id=report_id, symbols=symbols
    )
