"""A clock that is set back two hours: beat, worker and web process go on with the new time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from scripts.attacks.fuzz.target import wait_for
from scripts.stack.opening import open_surveys
from scripts.stack.stack import Stack, StackError, free_port
from scripts.stack.world import World

K = 10
BACK = "-2"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    clock = tmp_path / "clock"
    clock.write_text("0")
    stack = Stack(
        var=tmp_path,
        port=free_port(),
        settings={
            "MURMUR_SWEEP_SECONDS": "1",
            "DJANGO_SETTINGS_MODULE": "scripts.stack.clock_settings",
            "MURMUR_TEST_CLOCK": str(clock),
        },
    )
    world = World(stack=stack, database_url="")
    try:
        world.begin(without=["leisure"])
        yield world
    finally:
        stack.stop()


def test_sealing_goes_on_after_the_clock_was_set_back_and_readyz_tells_while_it_does_not(
    world: World,
) -> None:
    [wave] = open_surveys(world.stack, [{"minimum_batch": K, "display_minimum": K}], questions=3)
    with httpx.Client(base_url=world.stack.url, trust_env=False, timeout=30) as client:

        def send(count: int) -> None:
            for _ in range(count):
                headers = {"content-type": "application/json"}
                reply = client.post("/api/reports", content=wave.body(b"\0\1\0"), headers=headers)
                assert reply.status_code == 201

        def is_ready() -> bool:
            return client.get("/readyz?late=503").status_code == 200

        send(2 * K)
        world.wait_for(lambda tally: tally.sealed == K)
        wait_for(is_ready, seconds=30)

        world.stack.kill("worker")
        (world.stack.var / "clock").write_text(BACK)
        assert not is_ready()
        assert client.get("/readyz").json() == {"status": "late"}
        with pytest.raises(StackError, match="in the future"):
            world.stack.manage("status")
        send(K)

        world.stack.start("worker")
        world.wait_for(lambda tally: tally.sealed == 2 * K)
        wait_for(is_ready, seconds=30)
    assert "The clock was set back" in (world.stack.var / "log" / "beat.log").read_text()
    world.stack.manage("verify")
