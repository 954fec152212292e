"""The entry for pages: what half-sent bodies can hold."""

from __future__ import annotations

import asyncio
from typing import Any

from config.asgi import Entry

PART = 1_000


def test_half_sent_bodies_hold_only_so_much_together() -> None:
    async def run() -> tuple[list[int], int, int]:
        entry, gone = Entry(), asyncio.Event()
        entry._bodies = type(entry._bodies)(most_bytes=3 * PART)
        asked = [asyncio.create_task(send_half(entry, gone)) for _ in range(5)]
        await asyncio.sleep(0.01)
        held = entry._bodies.held_bytes
        gone.set()
        return await asyncio.gather(*asked), held, entry._bodies.held_bytes

    assert asyncio.run(run()) == ([0, 0, 0, 503, 503], 3 * PART, 0)


async def send_half(entry: Entry, gone: asyncio.Event) -> int:
    """Send a part of a body until `gone`; return the status, or 0 without a reply."""
    messages: list[Any] = [{"type": "http.request", "body": b"x" * PART, "more_body": True}]
    status = 0

    async def receive() -> Any:
        if messages:
            return messages.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(event: Any) -> None:
        nonlocal status
        status = event.get("status", status)

    scope: Any = {"type": "http", "path": "/plan", "query_string": b"", "headers": []}
    await entry(scope, receive, send)
    return status
