"""A full dump after 10,000 submissions links nobody to a report; a leaky build is detected.

Twenty runs are twenty waves of one Murmur with 500 people each, who arrive in random order. A batch
contains reports of one wave only, so the waves are twenty experiments. They share one dump, as in a
real installation. Each guess of the linker is scored batch by batch against the order of
acknowledgements. ACCEPT is chosen so that a clean build fails here once in a million runs of this
test; the stated aim, p > .01 over 20 runs, is printed too.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
import redis

from aggregator.upkeep.checks.postgresql import RECOMMENDED_POSTGRESQL
from scripts.attacks.linker.control_settings import SERIAL_POSTGRESQL, SERIAL_SQLITE
from scripts.attacks.linker.crowd import FLIPS, QUESTIONS, Crowd, make_crowd
from scripts.attacks.linker.dump import copy_contents, copy_files
from scripts.attacks.linker.linker import Dump, Findings, Guess, SealedBatch, link
from scripts.attacks.linker.scores import score
from scripts.attacks.linker.server import Server, running_server
from scripts.stack.opening import open_surveys
from scripts.stack.prepared import copy_static_files
from scripts.stack.stack import MIGRATE, Stack, free_port

SEED = 19650301
RUNS, EACH = 20, 500
PER_SECOND = 1000
ACCEPT = 1e-6
AIM = 0.01
STATE = """
    SELECT (SELECT count(*) FROM aggregator_raw_report),
           (SELECT coalesce(sum(size), 0) FROM aggregator_batch),
           (SELECT coalesce(max(id), 0) FROM aggregator_batch),
           (SELECT cast(found AS text) FROM aggregator_upkeep WHERE job = 'purge')
"""
SECONDS = 240.0
# These files, among others, are searched. The broker's log is the only file that it writes.
SEARCHED = {f"files/var/log/{name}.log" for name in ("broker", "worker", "leisure")}
SEARCHED_POSTGRESQL = {"files/postgresql.log"}


@dataclass
class Site:
    """One Murmur and its database, to which the test has all rights."""

    stack: Stack
    server: Server | None

    def query(self, statement: str) -> list[Any]:
        """Run a query in the role that Murmur uses."""
        if self.server is not None:
            with psycopg.connect(self.server.application_url) as connection:
                cursor = connection.execute(statement.encode())
                return cursor.fetchall() if cursor.description else []
        with closing(sqlite3.connect(self.stack.var / "murmur.sqlite3", timeout=20)) as file:
            return file.execute(statement).fetchall()

    def field(self, *, runs: int, each: int, per_second: int = PER_SECOND) -> Crowd:
        """Open `runs` surveys, and let the crowd send reports to all of them in random order."""
        surveys = [{"title": f"Run {run}", "cap": each} for run in range(runs)]
        waves = open_surveys(self.stack, surveys, questions=QUESTIONS, flips=FLIPS)
        manifests = [wave.manifest_hash for wave in waves]
        crowd = make_crowd(manifests=manifests, each=each, seed=SEED, port=self.stack.port)
        crowd.send(port=self.stack.port, per_second=per_second)
        assert crowd.refused == []
        assert len({person.codes for person in crowd.acknowledged}) == runs * each
        return crowd

    def wait_until_sealed(self, total: int, *, purged: bool) -> None:
        deadline = time.monotonic() + SECONDS
        while True:
            raw, sealed, newest, found = self.query(STATE)[0]
            reached = json.loads(found)["batch"] if found else 0
            if (raw, sealed) == (0, total) and (not purged or reached == newest):
                break
            assert time.monotonic() < deadline, (raw, sealed, newest, found)
            time.sleep(0.3)
        assert not purged or json.loads(found)["left"] == []


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Collect static files once for all sites."""
    var = tmp_path_factory.mktemp("assets")
    copy_static_files(var)
    return var


@contextmanager
def running_site(vendor: str, var: Path, assets: Path, **settings: str) -> Iterator[Site]:
    with (
        running_server(RECOMMENDED_POSTGRESQL)
        if vendor == "postgresql"
        else nullcontext() as server
    ):
        stack = Stack(
            var=var,
            port=free_port(),
            database_url=server.application_url if server else "",
            settings={
                "MURMUR_SWEEP_SECONDS": "1",
                "MURMUR_PURGE_SECONDS": "1",
                "MURMUR_BEHIND_PROXY": "true",
                # On a busy machine, Valkey may answer late; one limit then applies to all senders.
                "MURMUR_REPORTS_PER_SECOND": "100000",
                "TMPDIR": str(var / "tmp"),
                **settings,
            },
        )
        shutil.copytree(assets, var)
        (var / "tmp").mkdir()
        try:
            stack.manage(*MIGRATE)
            yield Site(stack, server)
        finally:
            stack.stop()


def find_truths(batches: Sequence[SealedBatch], crowd: Crowd) -> list[Guess]:
    """Find the positions of every batch's reports in the order of acknowledgement."""
    moments = {person.codes: moment for moment, person in enumerate(crowd.acknowledged)}
    return [np.array([float(moments[row]) for row in batch.rows]) for batch in batches]


def find_searched(dump: Dump) -> set[str]:
    return {name for name, _ in dump.read_files()}


def judge(dump: Dump, findings: Findings, crowd: Crowd) -> dict[str, float]:
    """Print how well each strategy did and return its p-value."""
    truths = find_truths(dump.batches, crowd)
    waves = [batch.wave for batch in dump.batches]
    print(f"{findings.files} files, {findings.size:,} bytes, {len(waves)} batches")
    chances = {}
    for strategy, guesses in findings.guesses.items():
        whole = score(guesses, truths)
        runs = [
            score(_of(wave, guesses, waves), _of(wave, truths, waves)).p
            for wave in sorted(set(waves))
        ]
        print(
            f"ρ = {whole.correlation:+.4f}  p = {whole.p:<8.3g} "
            f"{'meets' if whole.p > AIM else 'misses'} p > {AIM}; of {len(runs)} runs "
            f"{sum(p <= AIM for p in runs)} below; {whole.placed:,} reports, {strategy}"
        )
        chances[strategy] = whole.p
    return chances


def _of(wave: int, values: Sequence[Guess], waves: Sequence[int]) -> list[Guess]:
    return [value for value, other in zip(values, waves, strict=True) if other == wave]


@pytest.mark.parametrize(
    ("vendor", "runs", "each", "per_second"),
    [
        pytest.param("sqlite", RUNS, EACH // 2, PER_SECOND, marks=pytest.mark.long),
        pytest.param("postgresql", RUNS, EACH, PER_SECOND, marks=pytest.mark.long),
    ],
)
def test_a_full_dump_links_no_one_and_contains_no_canary(
    vendor: str, runs: int, each: int, per_second: int, tmp_path: Path, assets: Path
) -> None:
    running, stopped = tmp_path / "running", tmp_path / "stopped"
    is_postgresql = vendor == "postgresql"
    with running_site(vendor, tmp_path / "var", assets) as site:
        site.stack.start_all()
        crowd = site.field(runs=runs, each=each, per_second=per_second)
        site.wait_until_sealed(runs * each, purged=True)
        copy_files(running, stack=site.stack, server=site.server)
        copy_contents(running, stack=site.stack, server=site.server)
        site.stack.stop()
        if site.server is not None:
            site.server.postgres.stop()
        copy_files(stopped, stack=site.stack, server=site.server)
        shutil.copytree(running / "tables", stopped / "tables")
    for folder in (running, stopped):
        crowd.write_canaries(folder)
        dump = Dump(folder)
        findings = link(dump)
        chances = judge(dump, findings, crowd)
        assert findings.hits == []
        assert findings.dates == set()
        assert find_searched(dump) >= SEARCHED | (SEARCHED_POSTGRESQL if is_postgresql else set())
        assert [strategy for strategy in chances if not strategy.startswith("rows")] == []
        # The search works: it finds the ids, which the database's files keep.
        assert any("place in files/" in strategy for strategy in chances)
        assert len(dump.batches) > runs, "nothing was sealed before the waves closed"
        assert min(chances.values()) > ACCEPT / (2 * len(chances))


@pytest.mark.long
@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_a_leaky_build_is_detected(vendor: str, tmp_path: Path, assets: Path) -> None:
    control = {"DJANGO_SETTINGS_MODULE": "scripts.attacks.linker.control_settings"}
    folder = tmp_path / "dump"
    with running_site(vendor, tmp_path / "var", assets, **control) as site:
        for statement in SERIAL_POSTGRESQL if site.server else SERIAL_SQLITE:
            site.query(statement)
        site.stack.start_all()
        with redis.Redis.from_url(site.stack.redis_url) as broker:
            broker.config_set("appendonly", "yes")
        if site.server is not None:
            site.server.run("ALTER SYSTEM SET log_checkpoints = on", "SELECT pg_reload_conf()")
        crowd = site.field(runs=1, each=300)
        site.wait_until_sealed(300, purged=False)
        if site.server is not None:
            site.server.run("CHECKPOINT")  # as Murmur does when it erases reports
        copy_files(folder, stack=site.stack, server=site.server)
        copy_contents(folder, stack=site.stack, server=site.server)
    crowd.write_canaries(folder)
    dump = Dump(folder)
    findings = link(dump)
    chances = judge(dump, findings, crowd)
    assert {hit.canary for hit in findings.hits} == {"forwarded", "address"}
    assert {hit.file for hit in findings.hits} == {"files/var/log/web.log"}
    dates = {("a task's message", "files/var/redis-broker/appendonlydir/appendonly.aof.1.incr.aof")}
    if vendor == "postgresql":
        dates.add(("a checkpoint in a log", "files/postgresql.log"))
    assert findings.dates == dates
    assert chances["rows as they lie"] < ACCEPT
    # SQLite may have written the beginning of its log into the file already.
    log = "files/postgresql/pg_wal/" if vendor == "postgresql" else "files/var/murmur.sqlite3"
    assert min(p for name, p in chances.items() if name.startswith(f"bytes in {log}")) < ACCEPT
