"""`scripts/run` survives a full disk: reports get replies, and all processes come back."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from scripts.attacks.fuzz.target import wait_for
from scripts.stack.disks import SmallDisk, small_disk
from scripts.stack.opening import OpenWave, open_surveys
from scripts.stack.prepared import prepare
from scripts.stack.stack import ROOT, SQLITE_FILE, Stack, free_port

QUESTIONS = 4
DEATHS = 8  # pauses of 63 seconds in all
QUEUE = b"\0--queues\0celery\0"  # the leisure worker stays alive


class Murmur:
    """`scripts/run` on a disk that can be filled, with one open survey."""

    def __init__(self, disk: SmallDisk) -> None:
        self.disk = disk
        self.stack = Stack(var=disk.folder, port=free_port())
        prepare(self.stack)
        self._output = disk.folder.with_name("output")
        with self._output.open("wb") as output:
            self.supervisor = subprocess.Popen(
                [sys.executable, "-m", "scripts.stack.supervisor"],
                cwd=ROOT,
                env={**self.stack.environment, "PORT": str(self.stack.port)}
                | {"REDIS_URL": "", "LIMITER_URL": ""},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        wait_for(lambda: "Ctrl-C stops everything" in self.printed, seconds=120)
        [self.wave] = open_surveys(
            self.stack, [{"minimum_batch": 10, "display_minimum": 10}], questions=QUESTIONS
        )

    @property
    def printed(self) -> str:
        return self._output.read_text()

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.stack.url + path, timeout=30, trust_env=False, verify=False)

    def workers(self) -> list[int]:
        """Find the worker and its child by the folder for which they were started."""
        needle = f"MURMUR_VAR={self.disk.folder}".encode()
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal():
                with suppress(OSError):
                    named = needle in (folder / "environ").read_bytes().split(b"\0")
                    if named and QUEUE in (folder / "cmdline").read_bytes():
                        found.append(int(folder.name))
        return found

    def kill_worker(self) -> None:
        wait_for(lambda: bool(self.workers()), seconds=90)
        for pid in self.workers():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def sealed_and_spent(self) -> tuple[int, set[bytes]]:
        with closing(sqlite3.connect(self.disk.folder / SQLITE_FILE, timeout=20)) as file:
            (sealed,) = file.execute(
                "SELECT coalesce(sum(size), 0) FROM aggregator_batch WHERE wave_id = ?",
                [self.wave.pk],
            ).fetchone()
            spent = {bytes(row[0]) for row in file.execute("SELECT id FROM aggregator_spent_id")}
        return int(sealed), spent

    def stop(self) -> None:
        self.supervisor.send_signal(signal.SIGINT)
        self.supervisor.wait(timeout=60)


@pytest.fixture
def murmur(tmp_path: Path) -> Iterator[Murmur]:
    folder = tmp_path / "disk"
    folder.mkdir()
    with small_disk(folder, megabytes=96) as disk:
        if disk is None:
            assert os.geteuid() != 0, "root may not mount here; run with CAP_SYS_ADMIN"
            pytest.skip("not tested: a full disk, because only root may mount a small one")
        started = Murmur(disk)
        try:
            yield started
        finally:
            started.stop()


def wait_for_deaths(murmur: Murmur, deaths: int) -> None:
    wait_for(lambda: murmur.printed.count("worker died") >= deaths, seconds=30)


def send(murmur: Murmur, wave: OpenWave, count: int, *, first: int) -> dict[bytes, int]:
    """Send reports; return the status of each by its id."""
    statuses = {}
    with httpx.Client(base_url=murmur.stack.url, timeout=30, trust_env=False) as client:
        for number in range(first, first + count):
            report_id = number.to_bytes(32, "big")
            body = wave.body(bytes(number >> bit & 1 for bit in range(4)), report_id=report_id)
            headers = {"content-type": "application/json"}
            reply = client.post("/api/reports", content=body, headers=headers)
            statuses[report_id] = reply.status_code
    return statuses


@pytest.mark.long  # tests/scripts/test_supervisor.py has the short version
def test_a_worker_that_keeps_dying_while_the_disk_is_full_comes_back(murmur: Murmur) -> None:
    statuses = send(murmur, murmur.wave, 25, first=1)
    assert set(statuses.values()) == {201}
    murmur.disk.fill()
    for number in range(DEATHS):
        murmur.kill_worker()
        wait_for_deaths(murmur, number + 1)
        assert murmur.get("/healthz").status_code == 200
        statuses |= send(murmur, murmur.wave, 20, first=1000 * (number + 1))
    assert murmur.supervisor.poll() is None
    assert "web died" not in murmur.printed
    last = murmur.printed.rpartition("worker died")[2].partition("\n")[0]
    assert f"The disk that holds {murmur.disk.folder} is full." in last
    murmur.disk.free()
    wait_for(lambda: bool(murmur.workers()), seconds=90)

    statuses |= send(murmur, murmur.wave, 25, first=100_000)
    acknowledged = {name for name, status in statuses.items() if status == 201}
    assert set(statuses.values()) <= {201, 503}
    wait_for(lambda: murmur.sealed_and_spent()[0] >= len(acknowledged) - 20, seconds=60)
    assert acknowledged <= murmur.sealed_and_spent()[1]
    wait_for(lambda: murmur.get("/readyz?late=503").status_code == 200, seconds=90)
