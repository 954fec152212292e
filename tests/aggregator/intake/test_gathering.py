"""Items that arrive while a group is processed form the next group."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from aggregator.intake.gathering import Gatherer


class Recorder:
    """A receiver that doubles numbers so slowly that others arrive in the meantime."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.running = 0

    async def __call__(self, items: Sequence[int]) -> list[int]:
        self.running += 1
        assert self.running == 1, "one hand-over at a time"
        self.groups.append(list(items))
        await asyncio.sleep(0.001)
        self.running -= 1
        if 13 in items:
            raise ValueError("thirteen")
        return [2 * item for item in items]


def test_each_item_gets_its_own_result_and_groups_form_during_a_hand_over() -> None:
    record = Recorder()

    async def submit_all() -> list[int]:
        gatherer = Gatherer(record, limit=4)
        return await asyncio.gather(*(gatherer.submit(number) for number in range(10)))

    assert asyncio.run(submit_all()) == [2 * number for number in range(10)]
    assert record.groups == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_a_failed_hand_over_fails_only_its_own_group() -> None:
    async def submit_all() -> list[int | BaseException]:
        gatherer = Gatherer(Recorder(), limit=2)
        numbers = (12, 13, 14, 15)
        return await asyncio.gather(*map(gatherer.submit, numbers), return_exceptions=True)

    first, second, *others = asyncio.run(submit_all())
    assert isinstance(first, ValueError)
    assert isinstance(second, ValueError)
    assert others == [28, 30]


def test_a_cancelled_request_does_not_stop_its_group() -> None:
    record = Recorder()

    async def submit_all() -> int:
        gatherer = Gatherer(record, limit=9)
        given_up = asyncio.create_task(gatherer.submit(1))
        other = asyncio.create_task(gatherer.submit(2))
        await asyncio.sleep(0)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        return await other

    assert asyncio.run(submit_all()) == 4
    assert record.groups == [[1, 2]]


def test_the_gatherer_works_again_after_a_pause() -> None:
    async def submit_twice() -> list[int]:
        gatherer = Gatherer(Recorder(), limit=2)
        first = await gatherer.submit(1)
        await asyncio.sleep(0.01)
        return [first, await gatherer.submit(2)]

    assert asyncio.run(submit_twice()) == [2, 4]
