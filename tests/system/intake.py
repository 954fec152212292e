"""A web process with one open survey, for tests that send it reports of all kinds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from scripts.stack import Stack, free_port
from tests.aggregator.intake_model import Sent, write
from tests.system.draws import Survey
from tests.system.world import OWNER, World

QUESTIONS = 12
OPEN_SURVEY = """
from accounts.models import User
from surveys.services import add_question, create_survey, launch_survey
import datetime
survey = create_survey(owner=User.objects.get(), title="Weak questions", **{settings})
for number in range({questions}):
    add_question(survey=survey, text=f"Question {{number}}?", flips=49)
print("hash", launch_survey(survey=survey).manifest_hash_hex)
"""
JSON = {"content-type": "application/json"}


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
        code = OPEN_SURVEY.format(settings=settings, questions=QUESTIONS)
        printed = self.stack.manage("shell", "-v", "0", "-c", code)
        return Survey(bytes.fromhex(printed.split()[-1]), QUESTIONS)

    def body(self, number: int, *, survey: Survey | None = None) -> bytes:
        """The report of this number; its symbols spell the number."""
        symbols = bytes(number >> bit & 1 for bit in range(QUESTIONS))
        manifest_hash = (survey or self.survey).manifest_hash
        return write(Sent(manifest_hash, number.to_bytes(32, "big"), symbols))

    def client(self, *, timeout: float = 30) -> httpx.Client:
        return httpx.Client(base_url=self.stack.url, headers=JSON, trust_env=False, timeout=timeout)

    def stored(self) -> set[bytes]:
        return {bytes(row[0]) for row in self.world.query("SELECT id FROM aggregator_spent_id")}

    def resident_megabytes(self) -> float:
        status = Path(f"/proc/{self.stack.processes['web'].pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


@contextmanager
def running_intake(*, var: Path, database_url: str = "", **settings: str) -> Iterator[Target]:
    """Web and limiter; nobody seals. `settings` are variables of the environment."""
    stack = Stack(var=var, port=free_port(), database_url=database_url, settings=settings)
    target = Target(World(stack=stack, database_url=database_url), Survey(b"", QUESTIONS))
    try:
        _prepare(stack)
        target.world.password = _create_owner(stack)
        target.survey = target.open_survey()
        stack.start("limiter")
        stack.start("web")
        stack.wait_until_ready()
        yield target
    finally:
        stack.stop()


_prepared: list[Path] = []


def _prepare(stack: Stack) -> None:
    """As `stack.prepare()`, but static files are collected once for all stacks of a run."""
    if not _prepared:
        stack.prepare()
        _prepared.append(stack.var)
        return
    for folder in ("static", "charts"):
        shutil.copytree(_prepared[0] / folder, stack.var / folder)
    stack.manage("migrate", "--no-input", "--verbosity", "0")


def _create_owner(stack: Stack) -> str:
    printed = stack.manage("create_first_account", "--email", OWNER)
    return printed.partition("with the password ")[2].split()[0]
