"""Backups of both databases taken while reports arrive, restored elsewhere, verified and used."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from aggregator.simulation.demo_surveys import REDBOOK
from scripts.stack.postgres import Postgres
from scripts.stack.stack import Stack, StackError, free_port
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
    """Restore a backup into a new database and migrate it, with nothing running."""
    var.mkdir()
    url = ""
    if server is None:
        shutil.copy(backup, var / "murmur.sqlite3")
    else:
        url = server.create_database()
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
    stack.manage("migrate", "--no-input", "--verbosity", "0")
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


def assert_what_was_left_out_is_named(restored: World, at_least: int) -> None:
    [(acknowledged, sealed)] = restored.query(
        "SELECT (SELECT count(*) FROM aggregator_spent_id), "
        "(SELECT sum(size) FROM aggregator_batch)"
    )
    assert restored.query("SELECT count(*) FROM aggregator_raw_report") == [(0,)]
    assert acknowledged >= at_least
    # At least K are always left out, because K stay behind in an open wave.
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
