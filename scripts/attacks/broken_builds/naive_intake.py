"""An intake that acknowledges a report as soon as it has sent a message to the broker."""

from __future__ import annotations

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, Scope

from aggregator.intake.wire import parse_upload
from config.celery import app
from scripts.attacks.broken_builds.naive_settings import QUEUE

KEEP = "scripts.attacks.broken_builds.tasks.keep_report"


async def application(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return
        body, more = body + message["body"], message["more_body"]
    upload = parse_upload(body)
    # A separate queue is used, because sweeps drop and count the messages in their own queue.
    app.send_task(KEEP, [upload.manifest_hash.hex(), upload.symbols.hex()], queue=QUEUE)
    headers = [(b"content-length", b"0")]
    await send(
        {"type": "http.response.start", "status": 201, "headers": headers, "trailers": False}
    )
    await send({"type": "http.response.body", "body": b"", "more_body": False})
