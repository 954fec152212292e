"""Process requests in groups; those that arrive while one group is processed form the next.

All reports that wait at the same moment share one commit, and their addresses share one call to
Redis. A lone request costs a whole round trip; under load, each request costs a fraction of one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Gatherer(Generic[Item, Result]):
    """Calls `process` with at most `limit` items at a time, one call after another.

    `process` returns one result for each item, in order. If it raises an exception, `submit` raises
    the exception for every item of the group.
    """

    def __init__(
        self, process: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]], *, limit: int
    ) -> None:
        self._process = process
        self._limit = limit
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._worker: asyncio.Task[None] | None = None

    async def submit(self, item: Item) -> Result:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((item, future))
        if self._worker is None:
            self._worker = loop.create_task(self._work())
        return await future

    async def _work(self) -> None:
        try:
            while self._waiting:
                size = min(self._limit, len(self._waiting))
                await self._hand_over([self._waiting.popleft() for _ in range(size)])
        finally:
            self._worker = None

    async def _hand_over(self, group: Sequence[tuple[Item, asyncio.Future[Result]]]) -> None:
        try:
            results = await self._process([item for item, _ in group])
        except Exception as error:
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), result in zip(group, results, strict=True):
            if not future.done():  # its request may have been cancelled
                future.set_result(result)
