"""A web process with one open survey, for tests that send it reports of all kinds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from scripts.attacks.fuzz.draws import Survey
from scripts.attacks.fuzz.intake_model import Sent, write
from scripts.stack.opening import open_surveys
from scripts.stack.prepared import prepare_with_account
from scripts.stack.stack import Stack, free_port
from scripts.stack.world import OWNER, World

QUESTIONS = 12
JSON = {"content-type": "application/json"}
# The work of beat and a worker in one round.
SWEEP = """
from aggregator.batches.closing import close_due_waves
from aggregator.batches.sealing import find_waves_to_seal, seal_next_batch
close_due_waves()
for wave in find_waves_to_seal():
    while seal_next_batch(wave_id=wave.pk) is not None:
        pass
"""


@dataclass
class Target:
    world: World
    survey: Survey

    @property
    def stack(self) -> Stack:
        return self.world.stack

    @property
    def log(self) -> str:
        return (self.stack.var / "log" / "web.log").read_text(errors="replace")

    def open_survey(self, **settings: Any) -> Survey:
        [wave] = open_surveys(self.stack, [settings], questions=QUESTIONS, flips=49)
        return Survey(wave.manifest_hash, QUESTIONS)

    def body(self, number: int, *, survey: Survey | None = None) -> bytes:
        """Return the report with this number, which its symbols encode."""
        symbols = bytes(number >> bit & 1 for bit in range(QUESTIONS))
        manifest_hash = (survey or self.survey).manifest_hash
        return write(Sent(manifest_hash, number.to_bytes(32, "big"), symbols))

    def client(self, *, timeout: float = 30) -> httpx.Client:
        return httpx.Client(
            base_url=self.stack.url,
            headers=JSON,
            trust_env=False,
            timeout=timeout,
            verify=False,  # loads no certificates, which would take longer than many requests
        )

    def stored(self) -> set[bytes]:
        return {bytes(row[0]) for row in self.world.query("SELECT id FROM aggregator_spent_id")}

    def resident_megabytes(self) -> float:
        status = Path(f"/proc/{self.stack.processes['web'].pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


@contextmanager
def running_intake(*, var: Path, database_url: str = "", **settings: str) -> Iterator[Target]:
    """Run web and limiter, without sealing. `settings` are environment variables."""
    stack = Stack(var=var, port=free_port(), database_url=database_url, settings=settings)
    target = Target(World(stack=stack, database_url=database_url), Survey(b"", QUESTIONS))
    try:
        target.world.password = prepare_with_account(stack, OWNER)
        target.survey = target.open_survey()
        stack.start("limiter")
        stack.start("web")
        stack.wait_until_ready()
        yield target
    finally:
        stack.stop()


def post(target: Target, body: bytes) -> httpx.Response:
    with target.client() as client:
        return client.post("/api/reports", content=body)


def wait_for(what: Callable[[], bool], *, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)
