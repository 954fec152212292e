"""Backups of both databases taken while reports arrive, restored elsewhere, verified and used."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from aggregator.simulation.demo_surveys import REDBOOK
from scripts.stack.opening import OpenWave, open_surveys
from scripts.stack.postgres import Postgres
from scripts.stack.stack import MIGRATE, Stack, StackError, free_port
from scripts.stack.world import OWNER, World


@pytest.fixture
def server(world: World, request: pytest.FixtureRequest) -> Postgres | None:
    return request.getfixturevalue("postgres") if world.database_url else None


def back_up(world: World, target: Path, *arguments: str, server: Postgres | None) -> None:
    """Run `manage.py backup`; with PostgreSQL, run the command that it prints."""
    if server is None:
        world.stack.manage("backup", str(target), *arguments)
        return
    with pytest.raises(StackError) as refused:
        world.stack.manage("backup", str(target), *arguments)
    program, *rest = shlex.split(str(refused.value).splitlines()[-1])
    run(server, program, *rest)


def run(server: Postgres, program: str, *arguments: str) -> None:
    done = subprocess.run(
        [server.program(program), *arguments],
        env={"PGPASSWORD": server.password},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def restore(world: World, backup: Path, var: Path, *, server: Postgres | None) -> World:
    """Restore a backup into a new database and migrate it while no process runs."""
    var.mkdir()
    url = ""
    if server is None:
        shutil.copy(backup, var / "murmur.sqlite3")
    else:
        url = server.create_database(template="template1")  # empty
        parts = urlsplit(url)
        run(
            server,
            *("pg_restore", "--exit-on-error", "--no-owner", f"--host={parts.hostname}"),
            *(f"--port={parts.port}", f"--username={parts.username}"),
            *(f"--dbname={parts.path[1:]}", str(backup)),
        )
    stack = Stack(
        var=var,
        port=free_port(),
        database_url=url,
        settings={"MURMUR_SWEEP_SECONDS": "1"},
    )
    stack.manage(*MIGRATE)
    return World(stack=stack, database_url=url, password=world.password)


@pytest.mark.long
def test_a_backup_taken_under_load_is_restored_verified_and_used(
    world: World, server: Postgres | None, tmp_path: Path
) -> None:
    demo = world.start_demo(connections=1)
    before = world.wait_for(lambda tally: tally.sealed > 0 and tally.raw > 50)
    full, without = tmp_path / "full.backup", tmp_path / "without.backup"
    back_up(world, full, server=server)
    back_up(world, without, "--without-raw-reports", server=server)
    assert demo.poll() is None, "the demo was over before the backups"
    after = world.wait_for(lambda tally: tally.acknowledged > before.acknowledged + 100)
    demo.kill()
    demo.communicate()
    world.stack.stop()

    restored = restore(world, full, tmp_path / "full", server=server)
    kept = restored.tally()  # every acknowledged report is raw or sealed
    assert before.acknowledged <= kept.acknowledged < after.acknowledged < len(REDBOOK.people())
    assert kept.raw > 0
    assert "agree" in restored.stack.manage("verify")
    assert restored.query("SELECT count(*) FROM django_session") == [(0,)]

    assert_what_was_left_out_is_named(
        restore(world, without, tmp_path / "without", server=server), kept.acknowledged
    )
    go_on_in(restored, world)
    assert "agree" in restored.stack.manage("verify")


_CLOSE = """
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
close_wave(wave_id={wave}, ending=Wave.Ending.OWNER)
"""
_RESERVE = """
from aggregator.releases.ledger import reserve_release
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Wave
request = ReleaseRequest(kind=ReleaseKind.TABLE, questions=("{question}",), epsilon_hundredths=20)
print(reserve_release(wave=Wave.objects.get(pk={wave}), request=request).pk)
"""


def make_release(world: World, wave: OpenWave, question: str) -> tuple[str, str]:
    """Reserve a release and wait for a worker; return its state and its figure."""
    code = _RESERVE.format(wave=wave.pk, question=question)
    pk = int(world.stack.manage("shell", "-v", "0", "-c", code))
    query = f"SELECT state, result FROM aggregator_release WHERE id = {pk}"
    deadline = time.monotonic() + 60
    while True:
        [(state, result)] = world.query(query)
        if state != "reserved":
            return state, str(result)
        assert time.monotonic() < deadline, "no worker drew the release"
        time.sleep(0.2)


@pytest.mark.long
def test_after_a_restore_nothing_is_drawn_that_was_drawn_before(
    world: World, server: Postgres | None, tmp_path: Path
) -> None:
    survey = {"publication": "protected", "rehearsal": True, "minimum_batch": 10}
    [wave] = open_surveys(world.stack, [{**survey, "display_minimum": 10}], questions=3)
    with httpx.Client(base_url=world.stack.url) as client:
        for number in range(40):
            body = wave.body(bytes([number % 2, 1, 0]))
            headers = {"Content-Type": "application/json"}
            assert client.post("/api/reports", content=body, headers=headers).status_code == 201
    world.stack.manage("shell", "-v", "0", "-c", _CLOSE.format(wave=wave.pk))
    world.wait_for(lambda tally: tally.sealed == 40)
    final = "SELECT count(*) FROM aggregator_snapshot WHERE final"
    world.wait_for(lambda _: world.query(final) == [(1,)])
    first = make_release(world, wave, "q1")
    backup = tmp_path / "old.backup"
    back_up(world, backup, server=server)
    assert first[0] == make_release(world, wave, "q2")[0] == "drawn"
    world.stack.stop()

    restored = restore(world, backup, tmp_path / "restored", server=server)
    shutil.copytree(world.stack.var / "static", restored.stack.var / "static")
    # The folder of releases is not part of the backup. It is unchanged and knows both draws.
    shutil.copytree(world.stack.var / "releases", restored.stack.var / "releases")
    with pytest.raises(StackError, match="releases were drawn that this database does not know"):
        restored.stack.manage("verify")
    try:
        restored.stack.start_all()
        assert make_release(restored, wave, "q1") == first  # this release is in the backup
        assert make_release(restored, wave, "q2") == ("lost", "None")
    finally:
        restored.stack.stop()
    ledger = "SELECT spent_hundredths, suspended FROM aggregator_release_ledger"
    assert restored.query(ledger) == [(100, "restored")]
    assert "agree" in restored.stack.manage("verify")


def assert_what_was_left_out_is_named(restored: World, at_least: int) -> None:
    [(acknowledged, sealed)] = restored.query(
        "SELECT (SELECT count(*) FROM aggregator_spent_id), "
        "(SELECT sum(size) FROM aggregator_batch)"
    )
    assert restored.query("SELECT count(*) FROM aggregator_raw_report") == [(0,)]
    assert acknowledged >= at_least
    # At least K reports are always left out, because K stay unsealed in an open wave.
    missing = acknowledged - int(sealed)
    assert missing >= 50
    with pytest.raises(StackError) as found:
        restored.stack.manage("verify")
    assert re.search(rf"\b{missing:,} (are )?missing", str(found.value))
    assert re.search(r"^CommandError: Differences found: 1\.$", str(found.value), re.MULTILINE)


def go_on_in(restored: World, old: World) -> None:
    """Let the restored copy take over: it recognizes the reports it has and counts the others."""
    shutil.copytree(old.stack.var / "static", restored.stack.var / "static")
    shutil.copy(old.envelopes, restored.envelopes)
    try:
        restored.stack.start_all()
        restored.stack.manage(
            *("demo", "--only", REDBOOK.key, "--url", restored.stack.url, "--owner", OWNER),
            *("--envelopes", str(restored.envelopes), "--seconds", "120"),
        )
        restored.assert_counted_exactly_once()
        with restored.signed_in() as client:
            assert client.get("/surveys/new").status_code == 200
    finally:
        restored.stack.stop()
