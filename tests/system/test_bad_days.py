"""Full disks, missing databases, jumping clocks: reports may be late but are never lost."""

from __future__ import annotations

import asyncio
import itertools
import os
import pwd
import resource
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import httpx
import psycopg
import pytest

from scripts.attacks.crowd import History, sending
from scripts.attacks.fuzz.intake_model import Sent, write
from scripts.attacks.fuzz.target import JSON, SWEEP, Target, post, running_intake, wait_for
from scripts.stack.disks import SmallDisk, small_disk
from scripts.stack.postgres import Postgres

# Numbers of reports, which no test sends twice.
blocks = itertools.count(0, 100_000)


@dataclass
class Place:
    target: Target
    disk: SmallDisk | None
    server: Postgres | None = None


@pytest.fixture(scope="module")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    var = tmp_path_factory.mktemp("days")
    (var / "disk").mkdir()
    (var / "clock").write_text("0")
    # SQLite follows the link and keeps its journal next to the real file.
    (var / "murmur.sqlite3").symlink_to(var / "disk" / "murmur.sqlite3")
    clock = {
        "DJANGO_SETTINGS_MODULE": "scripts.stack.clock_settings",
        "MURMUR_TEST_CLOCK": str(var / "clock"),
    }
    with (
        small_disk(var / "disk", megabytes=16) as disk,
        running_intake(var=var, **clock) as target,
    ):
        yield Place(target, disk)


@pytest.fixture(scope="module")
def on_postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    server = Postgres()
    nobody = pwd.getpwnam("nobody").pw_uid
    with ExitStack() as stack:
        stack.callback(server.remove)
        server.data.mkdir(exist_ok=True)
        disk = stack.enter_context(small_disk(server.data, megabytes=200, owner=nobody))
        server.initialize()
        server.start(settings=LIMITS)
        stack.callback(server.stop)  # before its disk is removed
        url = server.create_database()
        target = stack.enter_context(
            running_intake(var=tmp_path_factory.mktemp("days"), database_url=url)
        )
        yield Place(target, disk, server)


LIMITS = {"max_connections": "20"}


def wait_until_taken(target: Target, number: int, *, seconds: float = 20) -> None:
    wait_for(lambda: post(target, target.body(number)).status_code in (200, 201), seconds=seconds)


def send_until_refused(target: Target, *, most: int = 5_000) -> History:
    history = History(target, next(blocks))
    with target.client() as client:
        for number in range(history.first, history.first + most):
            reply = client.post("/api/reports", content=target.body(number))
            history.replies[number] = reply
            if history.statuses[503] == 20:
                return history
    raise AssertionError(history.statuses)


def assert_room_was_all_that_it_lacked(target: Target, history: History) -> None:
    history.assert_refusals_say_when_to_come_back()
    history.assert_nothing_lost()
    wait_until_taken(target, next(blocks))
    history.retry_the_rest()


@pytest.mark.parametrize(
    "place", ["on_sqlite", pytest.param("on_postgresql", marks=pytest.mark.long)]
)
def test_a_full_disk_gives_503_and_loses_nothing(
    place: str, request: pytest.FixtureRequest
) -> None:
    here: Place = request.getfixturevalue(place)
    if here.disk is None:
        assert os.geteuid() != 0, "root may not mount here; run the container with CAP_SYS_ADMIN"
        pytest.skip(
            f"not tested: a full disk {place.replace('_', ' ')}, because only root may mount a "
            "small one"
            + ("; a file that may not grow is tested" if place == "on_sqlite" else " at all")
        )
    here.disk.fill()
    try:
        history = send_until_refused(here.target)
    finally:
        here.disk.free()
    assert_room_was_all_that_it_lacked(here.target, history)


def test_a_file_that_may_not_grow_gives_503_and_loses_nothing(on_sqlite: Place) -> None:
    """As with a quota, nothing else fails, and a write to the write-ahead log can stop halfway."""
    target = on_sqlite.target
    web = target.stack.processes["web"].pid
    (log,) = (target.stack.var / "disk").glob("*-wal")
    free = resource.prlimit(web, resource.RLIMIT_FSIZE)
    resource.prlimit(web, resource.RLIMIT_FSIZE, (log.stat().st_size + 20_000, free[1]))
    try:
        history = send_until_refused(target)
    finally:
        resource.prlimit(web, resource.RLIMIT_FSIZE, free)
    assert_room_was_all_that_it_lacked(target, history)
    assert target.world.query("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("how", [pytest.param("stop", marks=pytest.mark.long), "kill"])
def test_a_database_restarted_under_load_loses_nothing(on_postgresql: Place, how: str) -> None:
    target, server = on_postgresql.target, on_postgresql.server
    assert server is not None
    with sending(target, first=next(blocks)) as history:
        wait_for(lambda: history.statuses[201] > 100)
        getattr(server, how)()
        wait_for(lambda: history.statuses[503] > 10)
        server.start(settings=LIMITS)
        before = history.statuses[201]
        wait_for(lambda: history.statuses[201] > before + 100)
    print(how, dict(history.statuses))
    assert history.statuses[0] == 0  # web kept running and answered every request
    history.assert_refusals_say_when_to_come_back()
    history.assert_nothing_lost()
    history.retry_the_rest()


def test_without_a_database_everything_answers_503_and_recovers(on_postgresql: Place) -> None:
    target, server = on_postgresql.target, on_postgresql.server
    assert server is not None
    body = target.body(next(blocks))
    respondent = f"/s/{target.world.query('SELECT slug FROM surveys_survey')[0][0]}"
    pages = ("/", "/accounts/login/", respondent, "/surveys/new", "/api/surveys")
    with target.world.signed_in() as client:
        server.stop()
        refused = post(target, body)
        assert refused.status_code == 503
        assert refused.headers["content-type"] == "application/problem+json"
        assert int(refused.headers["retry-after"]) > 0
        # A visitor's start page needs no database; every other page does, and says so.
        statuses = {path: client.get(path).status_code for path in pages}
        assert all(status in (200, 503) for status in statuses.values()), statuses
        assert statuses[respondent] == statuses["/surveys/new"] == 503
        server.start(settings=LIMITS)
        wait_for(lambda: post(target, body).status_code == 201, seconds=30)
        assert post(target, body).status_code == 200
        assert client.get(respondent).status_code == 200


def test_without_the_limiter_sign_in_says_so_and_reports_are_accepted(on_sqlite: Place) -> None:
    target = on_sqlite.target
    target.stack.kill("limiter")
    with pytest.raises(AssertionError, match="503"), target.world.signed_in():
        pass
    assert post(target, target.body(next(blocks))).status_code == 201
    target.stack.start("limiter")
    with target.world.signed_in() as client:
        assert client.get("/surveys/new").status_code == 200


@pytest.mark.parametrize("place", ["on_sqlite", "on_postgresql"])
def test_one_report_sent_many_times_at_once_counts_once(
    place: str, request: pytest.FixtureRequest
) -> None:
    target: Target = request.getfixturevalue(place).target
    before, number = target.world.tally(), next(blocks)
    same = target.body(number)
    other = write(Sent(target.survey.manifest_hash, number.to_bytes(32, "big"), bytes([1] * 12)))

    async def send_all() -> list[int]:
        async with httpx.AsyncClient(base_url=target.stack.url, trust_env=False) as client:
            posts = [
                client.post("/api/reports", content=body, headers=JSON)
                for body in (same, other) * 32
            ]
            return [reply.status_code for reply in await asyncio.gather(*posts)]

    statuses = Counter(asyncio.run(send_all()))
    # The first report was recorded; its copies are recognized, and other content is refused.
    assert statuses == {201: 1, 200: 31, 409: 32}
    assert target.world.tally() == replace(
        before, acknowledged=before.acknowledged + 1, raw=before.raw + 1
    )


@contextmanager
def all_connections_taken(url: str) -> Iterator[None]:
    """Take every free connection, then cut Murmur's connections and take those, too."""
    mine: list[psycopg.Connection] = []

    def take() -> None:
        with suppress(psycopg.OperationalError):
            while True:
                mine.append(psycopg.connect(url, autocommit=True, connect_timeout=5))

    take()
    pids = [connection.info.backend_pid for connection in mine]
    mine[0].execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' AND pid <> ALL(%s)",
        [pids],
    )
    time.sleep(0.2)
    take()
    try:
        yield
    finally:
        for connection in mine:
            connection.close()


def test_without_a_free_connection_reports_wait_and_are_accepted_later(
    on_postgresql: Place,
) -> None:
    target = on_postgresql.target
    history = History(target, next(blocks))
    with all_connections_taken(target.world.database_url), target.client() as client:
        for number in range(history.first, history.first + 10):
            history.replies[number] = client.post("/api/reports", content=target.body(number))
        assert client.get("/accounts/login/").status_code in (200, 503)
    assert history.statuses == {503: 10}
    history.assert_refusals_say_when_to_come_back()
    wait_until_taken(target, next(blocks))
    history.retry_the_rest()


def test_jumping_clocks_lead_to_clear_refusals_and_lose_nothing(on_sqlite: Place) -> None:
    target = on_sqlite.target
    clock = target.stack.var / "clock"
    today = datetime.now(UTC)
    survey = target.open_survey(
        minimum_batch=10,
        display_minimum=10,
        opens_at=today - timedelta(hours=12),
        closes_at=today + timedelta(hours=12),
    )
    first = next(blocks)
    taken: list[bytes] = []

    def send(number: int) -> tuple[int, str]:
        body = target.body(first + number, survey=survey)
        reply = post(target, body)
        if reply.status_code == 201:
            taken.append(body)
        return reply.status_code, reply.json().get("type", "")

    for number in range(15):
        assert send(number) == (201, "")
    for hours, refusal in (
        ("24", (410, "/problems/wave-closed")),
        ("-24", (425, "/problems/wave-not-open-yet")),
    ):
        clock.write_text(hours)
        assert send(100) == refusal
        assert {post(target, body).status_code for body in taken} == {200}
        clock.write_text("0")
        assert send(200 + int(hours)) == (201, "")
    clock.write_text("24")
    target.stack.manage("shell", "-v", "0", "-c", SWEEP)
    clock.write_text("0")  # the clock is right again; a wave that closed stays closed
    assert send(300) == (410, "/problems/wave-closed")
    assert {post(target, body).status_code for body in taken} == {200}
    query = """
        SELECT size FROM aggregator_batch AS batch JOIN surveys_wave AS wave
        ON wave.id = batch.wave_id WHERE ending = 'date'
    """
    assert target.world.query(query) == [(len(taken),)]


def test_a_graceful_stop_under_load_answers_or_closes_connections_and_loses_nothing(
    on_postgresql: Place,
) -> None:
    target = on_postgresql.target
    web = target.stack.processes["web"]
    with sending(target, first=next(blocks)) as history:
        wait_for(lambda: history.statuses[201] > 100)
        target.stack.signal("web", signal.SIGTERM)
        assert web.wait(timeout=10) in (0, -signal.SIGTERM)
        wait_for(lambda: history.statuses[0] > 0)
    history.assert_refusals_say_when_to_come_back()
    history.assert_nothing_lost()
    target.stack.start("web")
    target.stack.wait_until_ready()
    history.retry_the_rest()
    assert "Traceback" not in target.log
