"""Send many reports over HTTP, with the same retries as browsers."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence

import httpx

ACKNOWLEDGED = (200, 201)
# These replies mean that the report is fine and may be sent again, unchanged.
RETRY = (408, 425, 429, 500, 502, 503, 504)
MAX_BACKOFF_SECONDS = 5.0


class SendingError(Exception):
    """Some reports were not acknowledged; these can be sent again."""


def send_reports(
    bodies: Sequence[bytes],
    *,
    url: str,
    connections: int,
    seconds: float,
    on_acknowledged: Callable[[int], object],
) -> None:
    """Send every body until it is acknowledged; `on_acknowledged` gets each index once."""
    asyncio.run(
        _send_all(
            bodies,
            url=url,
            connections=connections,
            deadline=time.monotonic() + seconds,
            on_acknowledged=on_acknowledged,
        )
    )


async def _send_all(
    bodies: Sequence[bytes],
    *,
    url: str,
    connections: int,
    deadline: float,
    on_acknowledged: Callable[[int], object],
) -> None:
    waiting = iter(enumerate(bodies))
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    # This ignores the computer's proxy settings and password files.
    async with httpx.AsyncClient(limits=limits, timeout=10, trust_env=False) as client:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(connections):
                    group.create_task(_work(client, waiting, url, deadline, on_acknowledged))
        except ExceptionGroup as errors:  # before Python 3.11.4, except* would wrap the error again
            raise errors.exceptions[0] from None


async def _work(
    client: httpx.AsyncClient,
    waiting: Iterator[tuple[int, bytes]],
    url: str,
    deadline: float,
    on_acknowledged: Callable[[int], object],
) -> None:
    for index, body in waiting:
        await _send_one(client, body, url, deadline)
        on_acknowledged(index)


async def _send_one(client: httpx.AsyncClient, body: bytes, url: str, deadline: float) -> None:
    attempt = 0
    while True:
        pause = min(MAX_BACKOFF_SECONDS, 0.1 * 2**attempt)
        try:
            response = await client.post(
                f"{url}/api/reports", content=body, headers={"Content-Type": "application/json"}
            )
        except httpx.TransportError as error:
            reason = f"no reply ({type(error).__name__})"
        else:
            if response.status_code in ACKNOWLEDGED:
                return
            reason = f"reply {response.status_code}"
            if response.status_code not in RETRY:
                raise SendingError(f"A report was refused: {reason}, {response.text}")
            asked = response.headers.get("Retry-After", "")
            pause = float(asked) if asked.isdecimal() else pause
        attempt += 1
        pause *= 1 + random.random() / 2  # noqa: S311  jitter, so that not all retry at the same moment
        if time.monotonic() + pause > deadline:
            raise SendingError(f"Gave up waiting for an acknowledgement: {reason}.")
        await asyncio.sleep(pause)
