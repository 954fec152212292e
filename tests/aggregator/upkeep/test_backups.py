"""`manage.py backup`: a consistent copy of the SQLite file, omitted data, and refusals."""

from __future__ import annotations

import io
import shlex
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import CommandError, call_command
from django.db import connection, connections

from aggregator.batches.sealing import seal_next_batch
from aggregator.management.commands import backup as command
from aggregator.models import RawReport
from aggregator.upkeep import backups
from aggregator.upkeep.backups import BackupError, copy_database
from scripts.attacks.linker.server import django_on
from surveys.lifecycle.services import close_wave
from surveys.models import Wave
from tests.support.fielding import process
from tests.support.waves import make_wave, send

# The rows must be committed, because the copy is made through a separate connection.
pytestmark = pytest.mark.django_db(transaction=True)


def rows(path: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as file:
        return file.execute(sql).fetchall()


def fill() -> list[bytes]:
    """Seal 10 reports, leave 10 waiting, and store a session; return the waiting reports' ids."""
    wave = make_wave()
    for _ in range(20):
        send(wave, b"\1\0\1")
    assert seal_next_batch(wave_id=wave.pk) is not None
    SessionStore().save()
    return [bytes(report.pk) for report in RawReport.objects.all()]


def back_up(target: Path, *arguments: str) -> str:
    printed = io.StringIO()
    call_command("backup", str(target), *arguments, stdout=printed)
    return printed.getvalue()


def test_a_backup_is_the_whole_database_except_its_sessions(tmp_path: Path) -> None:
    waiting = fill()
    target = tmp_path / "backup.sqlite3"
    printed = back_up(target)
    assert "1 batches with 10 reports" in printed
    assert "It includes reports that were not sealed yet, with their ids" in printed
    assert rows(target, "SELECT size FROM aggregator_batch") == [(10,)]
    assert sorted(pk for (pk,) in rows(target, "SELECT id FROM aggregator_raw_report")) == waiting
    assert rows(target, "SELECT count(*) FROM aggregator_spent_id") == [(20,)]
    assert rows(target, "SELECT count(*) FROM django_session") == [(0,)]
    # The copy is complete without a write-ahead log.
    assert rows(target, "PRAGMA journal_mode") == [("delete",)]
    triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    assert rows(target, triggers) == rows_of_the_live_one(triggers) != []


def read_final_counts(wave: Wave) -> list[list[int]]:
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    process(wave)
    counts: list[list[int]] = wave.snapshots.get(final=True).counts
    return counts


def test_results_before_and_after_a_restore_may_differ_by_one_report(tmp_path: Path) -> None:
    """The documents warn of this: a restored database does not know which results were seen."""
    wave = make_wave()
    for _ in range(40):
        send(wave, b"\1\0\1")
    back_up(tmp_path / "with")
    send(wave, b"\0\0\0")
    seen = read_final_counts(wave)
    with django_on(f"sqlite:///{tmp_path / 'with'}"):
        assert read_final_counts(wave) == [[0, 40], [40, 0], [0, 40]]
    assert seen == [[1, 40], [41, 0], [1, 40]]


def rows_of_the_live_one(sql: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def test_raw_reports_can_be_left_out_and_leave_nothing_in_the_file(tmp_path: Path) -> None:
    waiting = fill()
    [session] = rows_of_the_live_one("SELECT session_key FROM django_session")[0]
    with_raw, without = tmp_path / "with", tmp_path / "without"
    back_up(with_raw)
    assert "are left out" in back_up(without, "--without-raw-reports")
    assert rows(without, "SELECT count(*) FROM aggregator_raw_report") == [(0,)]
    assert rows(without, "SELECT count(*) FROM aggregator_spent_id") == [(20,)]
    # Each of two tables contains an id twice, the second time in its index by wave. A spent id is
    # kept permanently.
    assert [with_raw.read_bytes().count(pk) for pk in waiting] == [4] * 10
    assert [without.read_bytes().count(pk) for pk in waiting] == [2] * 10
    assert session.encode() not in with_raw.read_bytes() + without.read_bytes()


def test_only_the_owner_can_read_a_backup_and_no_other_file_is_left(tmp_path: Path) -> None:
    target = tmp_path / "backup.sqlite3"
    back_up(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [target]


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "backup.sqlite3"
    target.write_text("precious")
    with pytest.raises(CommandError, match="already exists; choose another name"):
        back_up(target)
    assert target.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [target]


def test_a_backup_that_fails_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(backups, "_leave_out", fail)
    with pytest.raises(CommandError, match="disk is full"):
        back_up(tmp_path / "backup.sqlite3")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CommandError, match="No such file or directory"):
        back_up(tmp_path / "missing" / "backup.sqlite3")


def test_a_damaged_database_is_not_backed_up(tmp_path: Path) -> None:
    fill()
    source = tmp_path / "source.sqlite3"
    back_up(source)
    copy_database(source=source, target=tmp_path / "sound.sqlite3", raw_reports=True)
    [(page,)] = rows(source, "SELECT rootpage FROM sqlite_master WHERE name = 'aggregator_batch'")
    [(page_size,)] = rows(source, "PRAGMA page_size")
    with source.open("r+b") as file:
        file.seek((page - 1) * page_size)
        file.write(b"\xff" * page_size)
    with pytest.raises(BackupError, match=r"malformed|damaged"):
        copy_database(source=source, target=tmp_path / "copy.sqlite3", raw_reports=True)
    assert not (tmp_path / "copy.sqlite3").exists()


def test_a_backup_taken_during_writes_shows_one_moment(tmp_path: Path) -> None:
    wave = make_wave()
    stop = threading.Event()

    def write() -> None:
        try:
            while not stop.is_set():
                send(wave, b"\1\0\1")
                seal_next_batch(wave_id=wave.pk)
        finally:
            connections.close_all()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        counts = []
        for number in range(12):
            target = tmp_path / f"{number}.sqlite3"
            back_up(target)
            counts.append(
                rows(
                    target,
                    "SELECT (SELECT count(*) FROM aggregator_spent_id), "
                    "(SELECT count(*) FROM aggregator_raw_report) + "
                    "(SELECT coalesce(sum(size), 0) FROM aggregator_batch)",
                )[0]
            )
    finally:
        stop.set()
        writer.join()
    assert all(spent == kept for spent, kept in counts), counts
    assert counts[-1][0] > counts[0][0], "nothing was written meanwhile"


def test_with_postgresql_the_command_says_how_to_back_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Elsewhere:
        vendor = "postgresql"
        settings_dict = {
            "HOST": "db.example",
            "PORT": "",
            "USER": "murmur",
            "NAME": "murmur",
            "PASSWORD": "secret",
        }

    monkeypatch.setattr(command, "connection", Elsewhere)
    with pytest.raises(CommandError) as refused:
        back_up(tmp_path / "my backup", "--without-raw-reports")
    line = str(refused.value).splitlines()[-1]
    assert shlex.split(line) == [
        *("pg_dump", "--format=custom", "--exclude-table-data=django_session"),
        *("--exclude-table-data=aggregator_raw_report", "--host=db.example", "--username=murmur"),
        *(f"--file={tmp_path / 'my backup'}", "murmur"),
    ]
    assert "secret" not in str(refused.value)
    with pytest.raises(CommandError) as refused:
        back_up(tmp_path / "all")
    assert "aggregator_raw_report" not in str(refused.value)


def test_a_database_that_is_not_running_can_be_backed_up(tmp_path: Path) -> None:
    source = tmp_path / "stopped.sqlite3"
    with closing(sqlite3.connect(source)) as file:
        connection.ensure_connection()
        connection.connection.backup(file)
    assert rows(source, "PRAGMA journal_mode") == [("wal",)]
    made = copy_database(source=source, target=tmp_path / "copy.sqlite3", raw_reports=True)
    assert (made.batches, made.sealed_reports) == (0, 0)
    with pytest.raises(BackupError, match="There is no database at"):
        copy_database(source=tmp_path / "none", target=tmp_path / "of-none", raw_reports=True)
    assert not (tmp_path / "of-none").exists()
