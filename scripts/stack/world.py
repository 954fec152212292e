"""A running Murmur and its database, as a test sees them from the outside."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

from aggregator.batches.columns import Columns
from scripts.stack.prepared import prepare_with_account
from scripts.stack.stack import ROOT, SQLITE_FILE, Stack, free_port
from surveys.manifest.manifest import Manifest
from surveys.manifest.serialization import parse_manifest

OWNER = "researcher@localhost"
SEED = 19740101
# One statement counts everything, so that reports that are being sealed count as raw or as sealed,
# but not as both.
TALLY = """
    SELECT (SELECT count(*) FROM aggregator_spent_id),
           (SELECT count(*) FROM aggregator_raw_report),
           (SELECT coalesce(sum(size), 0) FROM aggregator_batch)
"""
# Draws the demo's envelopes with a seeded generator, so that statistical checks do not vary.
SEEDED_ENVELOPES = """
import random, sys
from pathlib import Path
from accounts.models import User
from aggregator.simulation.demo import draw_envelopes, field_demo, store_envelopes
from aggregator.simulation.demo_surveys import DEMOS
(chosen,) = (demo for demo in DEMOS if demo.key == {key!r})
wave = field_demo(chosen, owner=User.objects.get())
generator = random.Random({seed})
envelopes = draw_envelopes(
    wave.description,
    chosen.people(),
    random_uint32=lambda: generator.getrandbits(32),
)
store_envelopes(envelopes, wave=wave, path=Path({path!r}))
"""


@dataclass(frozen=True)
class Tally:
    acknowledged: int
    raw: int
    sealed: int


@dataclass
class World:
    stack: Stack
    database_url: str
    password: str = ""
    tallies: list[Tally] = field(default_factory=list)

    @property
    def envelopes(self) -> Path:
        return self.stack.var / "envelopes.json"

    def begin(self, *, without: Sequence[str] = ()) -> None:
        """Make a database with an account, and start all processes except those in `without`."""
        self.password = prepare_with_account(self.stack, OWNER)
        self.stack.start_all(without=without)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        if self.database_url:
            with psycopg.connect(self.database_url) as connection:
                return connection.execute(sql.encode()).fetchall()
        with closing(sqlite3.connect(self.stack.var / SQLITE_FILE, timeout=20)) as file:
            return file.execute(sql).fetchall()

    def tally(self) -> Tally:
        """Count the reports, and check that each acknowledged report is either raw or sealed."""
        tally = Tally(*(int(n) for n in self.query(TALLY)[0]))
        assert tally.acknowledged == tally.raw + tally.sealed
        self.tallies.append(tally)
        return tally

    def start_demo(self, *, key: str = "redbook", connections: int = 8) -> subprocess.Popen[str]:
        code = SEEDED_ENVELOPES.format(seed=SEED, key=key, path=str(self.envelopes))
        self.stack.manage("shell", "-v", "0", "-c", code)
        return subprocess.Popen(
            [
                *(sys.executable, "manage.py", "demo", "--url", self.stack.url),
                *("--only", key, "--owner", OWNER, "--envelopes", str(self.envelopes)),
                *("--connections", str(connections), "--seconds", "240"),
            ],
            cwd=ROOT,
            env=self.stack.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def wait_for(self, what: Callable[[Tally], bool], *, seconds: float = 90) -> Tally:
        deadline = time.monotonic() + seconds
        while True:
            tally = self.tally()
            if what(tally):
                return tally
            assert time.monotonic() < deadline, tally
            time.sleep(0.2)  # each look opens a connection, which also costs the server time

    def manifest(self) -> Manifest:
        """Return the manifest of the only wave."""
        [(content,)] = self.query("SELECT manifest FROM surveys_wave")
        return parse_manifest(bytes(content))

    def sent(self) -> list[bytes]:
        """Return the symbols of every envelope, as respondents sent them."""
        content = json.loads(self.envelopes.read_text())
        return [base64.b64decode(symbols) for _, symbols in content["envelopes"]]

    def final_snapshot(self) -> dict[str, Any]:
        rows = self.query(
            "SELECT total, counts, tables, estimates, final, told FROM aggregator_snapshot "
            "ORDER BY through_batch DESC LIMIT 1"
        )
        total, counts, tables, estimates, final, told = rows[0]
        parse = json.loads if isinstance(counts, str) else (lambda value: value)
        return {
            "total": total,
            "counts": parse(counts),
            "tables": parse(tables),
            "estimates": parse(estimates),
            "final": bool(final),
            "told": parse(told),
        }

    def assert_counted_exactly_once(self) -> None:
        sent = self.sent()
        tally = self.tally()
        assert (tally.acknowledged, tally.raw, tally.sealed) == (len(sent), 0, len(sent))
        snapshot, manifest = self.final_snapshot(), self.manifest()
        assert snapshot["final"]
        assert snapshot["total"] == len(sent)
        counts = Columns.of(manifest).read_counts(snapshot["counts"])
        assert counts == [
            [sum(1 for symbols in sent if symbols[place] == code) for code in range(symbol.k)]
            for place, symbol in enumerate(manifest.symbols)
        ]

    @contextmanager
    def signed_in(self) -> Iterator[httpx.Client]:
        with httpx.Client(base_url=self.stack.url, trust_env=False, timeout=30) as client:
            page = client.get("/accounts/login/")
            token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
            assert token is not None
            reply = client.post(
                "/accounts/login/",
                data={"login": OWNER, "password": self.password, "csrfmiddlewaretoken": token[1]},
                headers={"Referer": f"{self.stack.url}/accounts/login/"},
            )
            assert reply.status_code == 302, f"{reply.status_code} {reply.text}"
            yield client


def make_world(*, var: Path, database_url: str, **settings: str) -> World:
    stack = Stack(
        var=var,
        port=free_port(),
        database_url=database_url,
        settings={"MURMUR_SWEEP_SECONDS": "1", **settings},
    )
    return World(stack=stack, database_url=database_url)
