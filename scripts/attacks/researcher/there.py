"""The target of attacks over HTTP: a Murmur instance that runs in its own processes."""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Sequence

import httpx

from scripts.attacks.researcher.account import Sight, read_everything
from scripts.attacks.researcher.ground import ID_BYTES, Design
from scripts.attacks.storm.rows import find_due_work, open_rows
from scripts.attacks.storm.storm import CLOSE_WAVES
from scripts.stack.opening import open_surveys
from scripts.stack.world import World

ACKNOWLEDGED = 201
SECONDS = 240.0
_networks = itertools.count(1)


class There:
    """A survey on running servers; the attacker waits until everything is sealed and decided."""

    def __init__(self, design: Design, *, world: World, client: httpx.Client) -> None:
        settings = {
            "minimum_batch": design.minimum_batch,
            "display_minimum": design.display_minimum,
        }
        [self._wave] = open_surveys(
            world.stack, [settings], questions=design.questions, flips=design.flips
        )
        self._world, self._client = world, client

    def send(self, rows: Sequence[bytes], *, beginning: bytes = b"") -> None:
        """Send each report from its own network, because limits slow only senders who share one."""
        for symbols in rows:
            name = beginning + secrets.token_bytes(ID_BYTES - len(beginning))
            reply = httpx.post(
                f"{self._world.stack.url}/api/reports",
                content=self._wave.body(symbols, report_id=name),
                headers={
                    "content-type": "application/json",
                    "x-forwarded-for": f"2001:db8:{next(_networks):x}::1",
                },
                trust_env=False,
                verify=False,  # loads no certificates, which would take longer than the request
            )
            assert reply.status_code == ACKNOWLEDGED, reply.text

    def look(self) -> Sight:
        deadline = time.monotonic() + SECONDS
        with open_rows(self._world) as query:
            while due := find_due_work(query):
                assert time.monotonic() < deadline, (due, self._world.stack.read_logs())
                time.sleep(0.05)
        return read_everything(self._fetch, slug=self._wave.slug)

    def close(self) -> None:
        self._world.stack.manage("shell", "-v", "0", "-c", CLOSE_WAVES)

    def _fetch(self, path: str) -> tuple[int, bytes]:
        reply = self._client.get(path)
        return reply.status_code, reply.content
