"""A database with a launched survey, Murmur's own processes, and everything sent to them."""

from __future__ import annotations

import base64
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from scripts.stack.opening import open_surveys
from scripts.stack.postgres import running_postgres
from scripts.stack.stack import ROOT, SQLITE_FILE, Stack, free_port
from scripts.stack.world import TALLY

QUESTIONS = 10
READY_SECONDS = 60.0
REPORTS_PATH = "/api/reports"
# Reports are counted per address as usual, but none is refused: refusing would save work.
SETTINGS = {
    "MURMUR_BEHIND_PROXY": "true",
    "MURMUR_REPORTS_PER_MINUTE": "1000000",
    "MURMUR_SWEEP_SECONDS": "1",
}


@dataclass
class Ground:
    """`acknowledged` holds the ids of all reports that were acknowledged here."""

    name: str
    stack: Stack
    wave: int = 0
    manifest: str = ""
    acknowledged: list[bytes] = field(default_factory=list)
    unanswered: int = 0  # may or may not have been recorded
    errors: int = 0  # in our own processes

    @property
    def database(self) -> str:
        if self.name == "postgresql":
            return self.stack.environment["DATABASE_URL"]
        return str(self.stack.var / SQLITE_FILE)

    @property
    def web(self) -> list[str]:
        return list(self.stack.web_ports)

    @property
    def urls(self) -> list[str]:
        return [self.stack.web_url(name) for name in self.web]

    def execute(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements, each in its own transaction; return the rows of the last one."""
        if self.name == "postgresql":
            with psycopg.connect(self.database, autocommit=True) as connection:
                cursors = [connection.execute(statement.encode()) for statement in statements]
                return cursors[-1].fetchall() if cursors[-1].description else []
        with closing(sqlite3.connect(self.database, timeout=30, isolation_level=None)) as file:
            return [file.execute(statement).fetchall() for statement in statements][-1]

    def tally(self) -> tuple[int, int, int]:
        """Return the numbers of spent ids, raw reports and sealed reports at one moment."""
        spent, raw, sealed = self.execute(TALLY)[0]
        return int(spent), int(raw), int(sealed)

    def load(
        self, urls: Sequence[str], *, path: str = REPORTS_PATH, **options: Any
    ) -> dict[str, Any]:
        """Send reports from a separate process, to our own intake unless `path` names another."""
        file = self.stack.var / "acknowledged"
        before = self._cpu_seconds()
        printed = subprocess.run(
            [
                *(sys.executable, "-m", "scripts.load.command", *urls),
                # A hash may begin with a hyphen.
                *(f"--path={path}", f"--manifest={self.manifest}", f"--questions={QUESTIONS}"),
                f"--acknowledged={file}",
                *(f"--{name.replace('_', '-')}={value}" for name, value in options.items()),
            ],
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
        result: dict[str, Any] = json.loads(printed)
        self.acknowledged += file.read_bytes().split()
        self.unanswered += result["sent"] - sum(result["statuses"].values())
        if path == REPORTS_PATH:
            self.errors += result["errors"]
            used = self._cpu_seconds() - before
            result["web_us"] = round(1e6 * used / max(1, result["sent"]))
        return result

    def _cpu_seconds(self) -> float:
        """Return the CPU time of our web processes, which varies less than elapsed time."""
        pids = [self.stack.processes[name].pid for name in self.web]
        fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
        return sum(int(f[11]) + int(f[12]) for f in fields) / os.sysconf("SC_CLK_TCK")

    @contextmanager
    def watched_memory(self) -> Iterator[list[int]]:
        """Record the resident memory of our web processes in kB, every quarter of a second."""
        sizes: list[int] = []
        done = threading.Event()
        pids = [self.stack.processes[name].pid for name in self.web]

        def watch() -> None:
            while True:
                sizes.append(sum(map(_resident, pids)))
                if done.wait(0.25):
                    return

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield sizes
        finally:
            done.set()
            thread.join()

    def check_books(self) -> tuple[int, int]:
        """Check for acknowledged reports that are missing, and for reports stored twice."""
        acknowledged = set(self.acknowledged)
        spent, raw, sealed = self.tally()
        rows = self.execute("SELECT id FROM aggregator_spent_id")
        missing = acknowledged - {base64.urlsafe_b64encode(name)[:43] for (name,) in rows}
        unknown = spent - (len(acknowledged) - len(missing))
        # A report without a reply may or may not be stored; every other stored report got a reply.
        if unknown > self.unanswered:
            raise SystemExit(f"{unknown} reports were recorded but never acknowledged.")
        lost = len(missing) + max(0, spent - raw - sealed)
        doubled = len(self.acknowledged) - len(acknowledged) + max(0, raw + sealed - spent)
        print(
            f"  {len(acknowledged):,} acknowledged; in the database {spent:,} ids, {sealed:,} "
            f"sealed and {raw:,} raw reports: {lost} lost, {doubled} doubled"
        )
        return lost, doubled


def _resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


@contextmanager
def open_ground(name: str, *, var: Path) -> Iterator[Ground]:
    """Prepare SQLite with one web process, or PostgreSQL with two; nothing is running yet."""
    with ExitStack() as cleanup:
        database_url = ""
        if name == "postgresql":
            database_url = cleanup.enter_context(running_postgres()).create_database()
        stack = Stack(
            var=var,
            port=free_port(),
            database_url=database_url,
            settings=SETTINGS,
            copies=2 if database_url else 1,
        )
        cleanup.callback(stack.stop)
        (var / "static").mkdir(parents=True, exist_ok=True)  # no page is requested
        stack.manage("migrate", "--no-input", "--verbosity", "0")
        [wave] = open_surveys(stack, [{}], questions=QUESTIONS)
        yield Ground(name=name, stack=stack, wave=wave.pk, manifest=wave.manifest)


@contextmanager
def running(command: Sequence[str], *, environment: Mapping[str, str], log: Path) -> Iterator[None]:
    """Run a process with all its children until the end of the block."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(condition: Callable[[], bool], *, seconds: float, what: str) -> float:
    """Wait until the condition is true; return how long that took."""
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > seconds:
            raise SystemExit(f"Gave up waiting {seconds:.0f} s for {what}.")
        time.sleep(0.05)
    return time.monotonic() - start


def wait_until_answered(urls: Sequence[str], *, path: str = REPORTS_PATH) -> None:
    """Wait until every process has loaded the intake and refuses GET."""
    for url in urls:
        wait_for(lambda url=url: _status(url + path) == 405, seconds=READY_SECONDS, what=url)  # type: ignore[misc]


def _status(url: str) -> int | None:
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:  # no process is listening yet
        return None
