"""Starts Murmur for `scripts/run`, restarts what dies, says if the disk is full, and stops it."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import IO

from scripts.stack.stack import ROOT, Stack, StackError

FIRST_ACCOUNT = "researcher@localhost"
LOOK_EVERY_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 60.0
# After a process has run this long, its next death counts as its first.
STEADY_SECONDS = 60.0
FULL_BYTES = 1_000_000


class Stopped(Exception):
    """Raised on Ctrl-C, or when the system asks to stop."""


class StopRequest:
    """Remembers the first request to stop until a safe point; a second one takes effect at once.

    If a signal handler raised an exception while a process was being started, nothing would stop
    that process later.
    """

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise Stopped
        self.asked = True

    def check(self) -> None:
        if self.asked:
            raise Stopped


def main() -> int:
    request = StopRequest()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, request)
    # Other users of this machine must not read reports, keys and logs.
    os.umask(0o077)
    try:
        var = Path(os.environ.get("MURMUR_VAR", ROOT / "var")).resolve()
        with _claim(var):
            stack = _make_stack(var)
            try:
                _run(stack, request)
            finally:
                # A second Ctrl-C must not leave processes behind.
                for number in (signal.SIGINT, signal.SIGTERM):
                    signal.signal(number, signal.SIG_IGN)
                stack.stop()
    except StackError as error:
        if not request.asked:  # a Ctrl-C also ends the command that was running
            print(error, file=sys.stderr)
            return 1
    except Stopped:
        pass
    _say("\nStopped.")
    return 0


def _claim(var: Path) -> IO[str]:
    """Hold a lock on the data folder, because two Murmurs on one SQLite file would conflict."""
    try:
        var.mkdir(parents=True, exist_ok=True)
        lock = (var / "lock").open("w")
    except OSError as error:
        raise StackError(f"Murmur cannot write to {var}: {error.strerror}.") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise StackError(f"Murmur is already running with the data in {var}.") from error
    return lock


def _make_stack(var: Path) -> Stack:
    host, port = os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8000")
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise StackError(f"PORT must be a number from 1 to 65535, got {port!r}.")
    _check_port(host, int(port))
    return Stack(
        var=var,
        host=host,
        port=int(port),
        redis_url=os.environ.get("REDIS_URL", ""),
        limiter_url=os.environ.get("LIMITER_URL", ""),
    )


def _check_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise StackError(
                f"Port {port} cannot be used ({error.strerror}). "
                f"Choose a different one: PORT={port + 1} scripts/run"
            ) from error


def _run(stack: Stack, request: StopRequest) -> None:
    started = time.monotonic()
    print("Preparing the database and static files …", flush=True)
    account = stack.prepare(("create_first_account", "--email", FIRST_ACCOUNT))
    request.check()
    stack.start_all()
    print(f"\nMurmur is running: http://localhost:{stack.port}", flush=True)
    print(account, end="", flush=True)
    print(f"Ready after {time.monotonic() - started:.0f} s. Ctrl-C stops everything.\n", flush=True)
    demo = subprocess.Popen(
        [sys.executable, "manage.py", "demo", "--url", stack.url, "--owner", FIRST_ACCOUNT],
        cwd=ROOT,
        env=stack.environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _keep_up(stack, request)
    finally:
        demo.kill()  # the demo continues with the same reports next time
        demo.wait()


class Restarts:
    """Decides when dead processes start again: at once, then after pauses that grow to a minute.

    It never gives up. While a disk is full, workers die again and again, but reports are still
    answered, and all processes must run once there is room again.
    """

    def __init__(self) -> None:
        self._deaths: dict[str, int] = {}
        self._started: dict[str, float] = {}
        self._due: dict[str, float] = {}

    def note_death(self, name: str, *, now: float) -> float | None:
        """Return the pause before the next start, or None if this death was already noted."""
        if name in self._due:
            return None
        if now - self._started.get(name, -STEADY_SECONDS) >= STEADY_SECONDS:
            self._deaths[name] = 0
        self._deaths[name] += 1
        pause = 0.0 if self._deaths[name] == 1 else 2.0 ** min(self._deaths[name] - 2, 6)
        self._due[name] = now + min(pause, LONGEST_PAUSE_SECONDS)
        return self._due[name] - now

    def is_due(self, name: str, *, now: float) -> bool:
        return now >= self._due[name]

    def note_start(self, name: str, *, now: float) -> None:
        self._started[name] = now
        del self._due[name]


def _keep_up(stack: Stack, request: StopRequest) -> None:
    restarts = Restarts()
    while True:
        time.sleep(LOOK_EVERY_SECONDS)
        request.check()
        for name in stack.names:
            if stack.is_running(name):
                continue
            now = time.monotonic()
            pause = restarts.note_death(name, now=now)
            if pause is not None:
                _say(_describe_death(stack, name, pause=pause))
            if restarts.is_due(name, now=now):
                restarts.note_start(name, now=now)
                try:
                    stack.start(name)
                except OSError as error:  # counts as one more death
                    _say(f"{name} could not be started: {error.strerror}.")


def _describe_death(stack: Stack, name: str, *, pause: float) -> str:
    when = f"in {pause:.0f} s" if pause else "now"
    text = f"{name} died and will be restarted {when}; its log is {stack.var / 'log' / name}.log."
    # The process cannot write to its log that the disk is full.
    full = shutil.disk_usage(stack.var).free < FULL_BYTES
    return f"{text} The disk that holds {stack.var} is full." if full else text


def _say(text: str) -> None:
    # The output may go to a file on the disk that is full.
    with suppress(OSError):
        print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
