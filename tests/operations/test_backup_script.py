"""deploy/backup leaves a complete, private dump and deletes old dumps, or changes nothing."""

from __future__ import annotations

import os
import stat
import subprocess
import tarfile
import time
from pathlib import Path

import pytest

from scripts.stack.disks import small_disk
from scripts.stack.stack import ROOT

DAY = 86_400


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Make a folder of backups with one dump that is 15 days old, and return the dump."""
    old = tmp_path / "backups" / "murmur-2026-01-01T01-30-00Z.dump"
    old.parent.mkdir(mode=0o755)
    old.write_text("old")
    os.utime(old, (time.time() - 15 * DAY - 60,) * 2)
    return old


def back_up(folder: Path, dump: str, **environment: str) -> int:
    """Run the script with these shell commands instead of pg_dump."""
    program = folder.parent / "pg_dump"
    program.write_text(f"#!/bin/sh\n{dump}\n")
    program.chmod(0o755)
    command = [str(ROOT / "deploy" / "backup"), str(folder), "14"]
    variables = {"MURMUR_PG_DUMP": str(program), **environment}
    return subprocess.run(command, env={**os.environ, **variables}, check=False).returncode


def test_a_dump_is_private_and_replaces_old_ones(old: Path, tmp_path: Path) -> None:
    (releases := tmp_path / "releases").mkdir()
    (releases / "7").write_text("keys")
    assert back_up(old.parent, 'echo "$@"', MURMUR_RELEASES=str(releases)) == 0
    dump, copy = sorted(old.parent.iterdir())  # the old one is gone
    assert dump.read_text().split() == [
        *("--format=custom", "--exclude-table-data=django_session"),
        *("--exclude-table-data=aggregator_raw_report", "murmur"),
    ]
    assert [stat.S_IMODE(path.stat().st_mode) for path in (old.parent, dump, copy)] == [
        *(0o700, 0o600, 0o600)
    ]
    with tarfile.open(copy) as archive:
        assert "./7" in archive.getnames()


def test_a_dump_that_fails_changes_nothing(old: Path) -> None:
    assert back_up(old.parent, "echo half; exit 1") != 0
    assert list(old.parent.iterdir()) == [old]


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    (folder := tmp_path / "disk").mkdir()
    with small_disk(folder, megabytes=1) as disk:
        if disk is None:
            pytest.skip("this user may not mount a disk")
        (old := folder / "murmur-2026-01-01T01-30-00Z.dump").write_text("old")
        os.utime(old, (time.time() - 15 * DAY - 60,) * 2)
        assert back_up(folder, "head -c 4000000 /dev/zero") != 0
        assert list(folder.iterdir()) == [old]
