"""Work recovers from a stopped or emptied broker, two beats, and workers that race or hang."""

from __future__ import annotations

import json
import random
import secrets
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import redis

from aggregator.batches.packing import unpack_reports
from aggregator.intake.wire import encode_report
from scripts.attacks.fuzz.target import wait_for
from scripts.stack.opening import open_surveys
from scripts.stack.postgres import Postgres
from scripts.stack.stack import ROOT, Stack, free_port
from scripts.stack.world import World, make_world

# Fifteen weak yes/no questions give 32,768 patterns: enough for every report to be unique.
QUESTIONS = 15
ONE_BATCH_IS_DUE = 100  # 2K raw reports
# The state left by a worker that died between finding the work and doing it.
LOOK = """
from django.utils import timezone
from aggregator.upkeep.due import find_due_work, remember_due_work
remember_due_work(find_due_work(), now=timezone.now())
"""
COMPARE = """
from aggregator.comparisons.jobs import request_comparison
from aggregator.models import Comparison
from surveys.models import Wave
wave = Wave.objects.get(pk={wave})
kind = Comparison.Kind.TABLE
request_comparison(wave=wave, snapshot=wave.snapshots.get(), kind=kind, names=["q1", "q2"])
"""
# Fails, instead of hanging, if it has to wait for a lock.
SEAL_WITHOUT_WAITING = """
from django.db import connection
from aggregator.batches.sealing import seal_next_batch
with connection.cursor() as cursor:
    cursor.execute("SET lock_timeout = '2s'")
print(seal_next_batch(wave_id={wave}))
"""
# Seals waves in small batches in a given order until nothing is due; starts when all are ready.
SEALER = """
import sys, time
from pathlib import Path
from aggregator.batches import sealing
from surveys.models import Wave
sealing.MAX_BATCH = 500
folder, name, backwards = Path({folder!r}), {name!r}, {backwards!r}
waves = sorted(Wave.objects.values_list("pk", flat=True), reverse=backwards)
(folder / name).touch()
deadline = time.monotonic() + 60
while not (folder / "go").exists():
    assert time.monotonic() < deadline
    time.sleep(0.005)
sealed = 0
while sealing.find_waves_to_seal().exists():
    assert time.monotonic() < deadline
    for wave in waves:
        sealed += sealing.seal_next_batch(wave_id=wave) is not None
print(sealed)
"""


def launch(world: World, *, waves: int = 1, cap: int | None = None) -> list[int]:
    survey = {"minimum_batch": 10, "display_minimum": 10, "cap": cap}
    opened = open_surveys(world.stack, [survey] * waves, questions=QUESTIONS, flips=49)
    return [wave.pk for wave in opened]


def draw_reports(count: int, *, first: int = 0) -> list[bytes]:
    """Draw reports, each with a unique pattern of codes."""
    return [
        bytes(number >> question & 1 for question in range(QUESTIONS))
        for number in range(first, first + count)
    ]


def put(world: World, wave: int, reports: Sequence[bytes]) -> None:
    """Store reports as the intake does: spent ids and raw reports in one transaction."""
    ids = [secrets.token_bytes(32) for _ in reports]
    spent = [(report_id, wave) for report_id in ids]
    raw = [(report_id, wave, report) for report_id, report in zip(ids, reports, strict=True)]
    if not world.database_url:
        with closing(sqlite3.connect(world.stack.var / "murmur.sqlite3", timeout=20)) as file, file:
            file.executemany("INSERT INTO aggregator_spent_id (id, wave_id) VALUES (?, ?)", spent)
            file.executemany(
                "INSERT INTO aggregator_raw_report (id, wave_id, symbols) VALUES (?, ?, ?)", raw
            )
        return
    with psycopg.connect(world.database_url) as connection, connection.cursor() as cursor:
        for table, columns, rows in (
            ("aggregator_spent_id", "id, wave_id", spent),
            ("aggregator_raw_report", "id, wave_id, symbols", raw),
        ):
            with cursor.copy(f"COPY {table} ({columns}) FROM STDIN".encode()) as copy:
                for row in rows:
                    copy.write_row(row)


def assert_each_counted_once(world: World, wave: int, reports: Sequence[bytes]) -> None:
    """Check that batches have no gaps, are large enough and contain exactly these reports."""
    batches = world.query(
        f"SELECT number, size, packed FROM aggregator_batch WHERE wave_id = {wave} ORDER BY number"
    )
    assert [number for number, _, _ in batches] == list(range(1, len(batches) + 1))
    assert all(size >= 10 for _, size, _ in batches)
    found = Counter(
        row.tobytes()
        for _, size, packed in batches
        for row in unpack_reports(bytes(packed), size=size, ks=[2] * QUESTIONS)
    )
    assert found == Counter(reports)


def send_over_http(world: World, reports: Sequence[bytes]) -> None:
    [(manifest_hash,)] = world.query("SELECT manifest_hash FROM surveys_wave")
    with httpx.Client(base_url=world.stack.url, trust_env=False, timeout=30) as client:
        for report in reports:
            body = encode_report(
                manifest_hash=bytes(manifest_hash),
                report_id=secrets.token_bytes(32),
                symbols=report,
            )
            headers = {"content-type": "application/json"}
            assert client.post("/api/reports", content=body, headers=headers).status_code == 201


def ask(world: World, query: str = "") -> tuple[int, dict[str, Any]]:
    reply = httpx.get(f"{world.stack.url}/readyz{query}", trust_env=False, verify=False, timeout=30)
    return reply.status_code, reply.json()


def sealed(world: World) -> int:
    return world.tally().sealed


def pids(world: World) -> dict[str, int]:
    names = ("web", "worker", "leisure", "beat")
    assert all(world.stack.is_running(name) for name in names)
    return {name: world.stack.processes[name].pid for name in names}


@pytest.mark.long
@pytest.mark.parametrize("world", ["postgresql"], indirect=True)
def test_work_continues_after_the_broker_was_unavailable_and_emptied(world: World) -> None:
    """The broker is down for two minutes, after which /readyz says so."""
    [wave] = launch(world)
    wait_for(lambda: ask(world, "?late=503")[0] == 200, seconds=60)
    before = pids(world)

    world.stack.kill("broker")
    send_over_http(world, draw_reports(40))  # the intake needs no broker
    world.stack.manage("shell", "-v", "0", "-c", LOOK)
    assert ask(world) == (200, {"status": "ok"})
    wait_for(lambda: ask(world, "?late=503")[0] == 503, seconds=240)
    # This process can still accept reports, so the load balancer keeps it.
    assert ask(world) == (200, {"status": "late"})
    assert sealed(world) == 0

    world.stack.start("broker")
    wait_for(lambda: sealed(world) == 30, seconds=60)
    wait_for(lambda: ask(world, "?late=503")[0] == 200, seconds=60)

    more = draw_reports(40, first=40)
    broker = redis.Redis.from_url(world.stack.redis_url)
    put(world, wave, more)
    for _ in range(4):
        broker.flushall()
        time.sleep(0.2)
    wait_for(lambda: sealed(world) == 70, seconds=60)
    assert pids(world) == before
    world.stack.manage("verify")


@pytest.mark.long
@pytest.mark.parametrize("world", ["postgresql"], indirect=True)
def test_a_broker_emptied_under_load_loses_no_report(world: World) -> None:
    demo = world.start_demo(connections=2)
    broker = redis.Redis.from_url(world.stack.redis_url)
    for _ in range(3):
        before = world.wait_for(lambda tally: tally.raw >= ONE_BATCH_IS_DUE)
        assert demo.poll() is None
        broker.flushall()
        world.wait_for(lambda t, k=before: t.sealed > k.sealed)  # type: ignore[misc]
    printed, _ = demo.communicate(timeout=240)
    assert demo.returncode == 0, printed
    world.assert_counted_exactly_once()


@pytest.mark.parametrize(
    "world", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)
def test_sealing_and_estimating_never_wait_for_a_long_job(world: World) -> None:
    first, second = launch(world, waves=2, cap=40)

    def settled(wave: int) -> bool:
        final = f"SELECT count(*) FROM aggregator_snapshot WHERE wave_id = {wave} AND final"
        return bool(world.query(final)[0][0])

    def states() -> list[str]:
        return [state for (state,) in world.query("SELECT state FROM aggregator_comparison")]

    put(world, first, draw_reports(40))
    wait_for(
        lambda: settled(first) and not world.query("SELECT 1 FROM aggregator_duework"), seconds=60
    )
    world.stack.signal("leisure", signal.SIGSTOP)  # as in the middle of an endless job
    try:
        world.stack.manage("shell", "-v", "0", "-c", COMPARE.format(wave=first))
        put(world, second, draw_reports(40))
        wait_for(lambda: settled(second), seconds=60)
        assert states() == ["waiting"]
    finally:
        world.stack.signal("leisure", signal.SIGCONT)
    wait_for(lambda: states() == ["done"], seconds=60)


def verify_until_done(world: World, *, total: int) -> int:
    """Recompute everything repeatedly while reports are being sealed; return how many times."""
    for times in range(1, 30):
        world.stack.manage("verify")  # raises if anything differs
        if sealed(world) == total:
            return times
    raise AssertionError("not sealed in time")


@pytest.fixture
def twin(postgres: Postgres, tmp_path: Path) -> Iterator[World]:
    """Run two of each process on a PostgreSQL server that soon ends idle transactions."""
    url = postgres.create_database() + "?options=-c%20idle_in_transaction_session_timeout%3D5s"
    stack = Stack(
        var=tmp_path,
        port=free_port(),
        database_url=url,
        settings={"MURMUR_SWEEP_SECONDS": "1"},
        copies=2,
    )
    world = World(stack=stack, database_url=url)
    try:
        world.begin()
        yield world
    finally:
        if stack.is_running("worker"):
            stack.signal("worker", signal.SIGCONT)
        stack.stop()


@pytest.mark.long
def test_two_beats_and_two_workers_do_no_harm_even_if_one_is_stopped(twin: World) -> None:
    waves = launch(twin, waves=3, cap=4000)
    reports = draw_reports(4000)
    for start in range(0, 4000, 800):
        for wave in waves:
            put(twin, wave, reports[start : start + 800])
    assert verify_until_done(twin, total=3 * 4000) >= 1
    for wave in waves:
        assert_each_counted_once(twin, wave, reports)
    stand_still_in_the_middle_of_sealing(twin)


def stand_still_in_the_middle_of_sealing(twin: World) -> None:
    [wave] = launch(twin, cap=80)
    before = sealed(twin)
    reports = draw_reports(80)
    twin.stack.kill("worker-2")
    with psycopg.connect(twin.database_url, autocommit=True) as gate:
        gate.execute("SET idle_in_transaction_session_timeout = 0")
        with gate.transaction():
            # No one can insert a batch: the sealer waits, with its reports deleted and the wave's
            # row locked, until this transaction ends.
            gate.execute("LOCK TABLE aggregator_batch IN EXCLUSIVE MODE")
            put(twin, wave, reports[:40])
            wait_for(lambda: find_sealer(gate) == "waits", seconds=60)
            twin.stack.signal("worker", signal.SIGSTOP)
        # The insert succeeds on the server; the worker is never told, and never commits.
        wait_for(lambda: find_sealer(gate) == "idle in transaction", seconds=4)
    assert sealed(twin) == before
    twin.stack.start("worker-2")
    late = "SELECT count(*) FROM aggregator_duework WHERE since < now() - interval '1 second'"
    wait_for(lambda: bool(twin.query(late)[0][0]), seconds=60)
    wait_for(lambda: sealed(twin) == before + 30, seconds=60)
    wait_for(lambda: not twin.query(late)[0][0], seconds=60)

    twin.stack.signal("worker", signal.SIGCONT)
    twin.stack.kill("worker-2")
    put(twin, wave, reports[40:])  # the stopped worker works again
    wait_for(lambda: sealed(twin) == before + 80, seconds=60)
    assert_each_counted_once(twin, wave, reports)
    twin.stack.manage("verify")


def find_sealer(gate: psycopg.Connection[tuple[Any, ...]]) -> str:
    """Return the state of the server process that last inserted a batch, or "" if none did."""
    gate.execute("SELECT pg_stat_clear_snapshot()")  # otherwise, the view would not change
    row = gate.execute(
        "SELECT CASE WHEN wait_event_type = 'Lock' THEN 'waits' ELSE state END "
        "FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' "
        "AND query LIKE 'INSERT INTO \"aggregator_batch\"%'"
    ).fetchone()
    return row[0] if row else ""


def test_sealers_that_race_on_postgresql_take_every_report_once(
    postgres: Postgres, tmp_path: Path
) -> None:
    world = make_world(var=tmp_path, database_url=postgres.create_database())
    waves = launch(world, waves=2)
    reports = draw_reports(20_000)
    random.Random(4).shuffle(reports)
    for wave in waves:
        put(world, wave, reports)
    world.query(
        "UPDATE surveys_wave SET state='closed', ending='owner', closed_at=now() RETURNING id"
    )
    with psycopg.connect(world.database_url) as other:
        other.execute("SELECT FROM surveys_wave FOR NO KEY UPDATE")
        code = SEAL_WITHOUT_WAITING.format(wave=waves[0])
        assert world.stack.manage("shell", "-v", "0", "-c", code) == "None\n"
    printed = race_sealers(world, folder=tmp_path, names=("a", "b", "c"))
    # If any sealer did no work, the sealers did not race.
    assert all(printed), printed
    for wave in waves:
        assert_each_counted_once(world, wave, reports)
    assert world.tally().raw == 0
    world.stack.manage("verify")


def race_sealers(world: World, *, folder: Path, names: Sequence[str]) -> list[int]:
    """Race sealers, every other one backwards; return each one's batch count."""
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, "manage.py", "shell", "-v", "0", "-c"),
                SEALER.format(folder=str(folder), name=name, backwards=bool(place % 2)),
            ],
            cwd=ROOT,
            env=world.stack.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for place, name in enumerate(names)
    ]
    try:
        wait_for(lambda: all((folder / name).exists() for name in names), seconds=60)
        (folder / "go").touch()
        results = [process.communicate(timeout=90) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert [process.returncode for process in processes] == [0] * len(names), results
    return [json.loads(out) for out, _ in results]
