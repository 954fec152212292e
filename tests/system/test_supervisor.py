"""`scripts/run` as people use it: it fails with one clear sentence, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.attacks.fuzz.target import wait_for
from scripts.stack.stack import ROOT, free_port


def environment(var: Path, port: int) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "MURMUR_HTTPS")}
    return {
        **kept,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "MURMUR_VAR": str(var),
        "PORT": str(port),
        "PYTHONUNBUFFERED": "1",
    }


def start(var: Path, port: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "scripts.stack.supervisor"],
        cwd=ROOT,
        env=environment(var, port),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def read_until_ready(process: subprocess.Popen[str]) -> str:
    """Read the output up to the line that says how to stop."""
    assert process.stdout is not None
    printed = ""
    for line in process.stdout:
        printed += line
        if "Ctrl-C stops everything" in line:
            return printed
    raise AssertionError(printed)


def processes_of(var: Path) -> list[int]:
    """List the ids of all processes on this machine that were started for this folder."""
    needle = f"MURMUR_VAR={var}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                mine = needle in (folder / "environ").read_bytes().split(b"\0")
                # Redis overwrites its environment with its title, but can be identified by its
                # working folder.
                if mine or (folder / "cwd").readlink().is_relative_to(var):
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str, Path, int]]:
    port = free_port()
    process = start(tmp_path, port)
    try:
        yield process, read_until_ready(process), tmp_path, port
    finally:
        interrupt(process)


def interrupt(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@pytest.mark.long
def test_the_first_start_shows_a_password_once_and_ctrl_c_stops_everything(
    running: tuple[subprocess.Popen[str], str, Path, int],
) -> None:
    process, printed, var, port = running
    assert f"http://localhost:{port}" in printed
    match = re.search(r"Sign in as (\S+) with the password (\S+)", printed)
    assert match is not None
    password = match[2].encode()
    # The supervisor, two Redis servers, web, the worker and its child, and beat.
    wait_for(lambda: len(processes_of(var)) >= 7)
    interrupt(process)
    assert process.returncode == 0
    wait_for(lambda: not processes_of(var))
    for path in var.rglob("*"):
        if path.is_file():
            assert password not in path.read_bytes(), path

    again = start(var, port)
    try:
        second = read_until_ready(again)
    finally:
        interrupt(again)
    assert "password" not in second
    assert "Sign in as researcher@localhost." in second


@pytest.mark.long
def test_a_dead_process_is_restarted(
    running: tuple[subprocess.Popen[str], str, Path, int],
) -> None:
    process, _, var, _ = running
    beat = next(
        pid for pid in processes_of(var) if b"\0beat\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )
    os.kill(beat, signal.SIGKILL)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("beat died and will be restarted"):
            break
    else:
        raise AssertionError("the supervisor did not notice")


def run_to_end(var: Path, port: int | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scripts.stack.supervisor"],
        cwd=ROOT,
        env={**environment(var, 0), "PORT": str(port)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_port_in_use_is_explained_in_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_to_end(tmp_path, port)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"Port {port} cannot be used" in done.stderr
    assert f"PORT={port + 1} scripts/run" in done.stderr


@pytest.mark.parametrize("port", ["http", "0", "65536"])
def test_an_invalid_port_is_explained_in_one_sentence(tmp_path: Path, port: str) -> None:
    done = run_to_end(tmp_path, port)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"got '{port}'" in done.stderr


def test_a_data_folder_that_cannot_be_created_is_explained_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = run_to_end(tmp_path / "file" / "var", free_port())
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "cannot write to" in done.stderr


def run_script(folder: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run scripts/run from a copy of the scripts, with parts of the machine missing."""
    scripts = folder / "scripts"
    scripts.mkdir()
    for name in ("run", "_environment.sh"):
        (scripts / name).write_bytes((ROOT / "scripts" / name).read_bytes())
    for name in ("requirements.txt", "requirements-embedded.txt"):
        (folder / name).write_text("")
    return subprocess.run(
        ["bash", "scripts/run"],
        cwd=folder,
        env={**os.environ, **changes},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_missing_python_is_explained_in_one_sentence(tmp_path: Path) -> None:
    done = run_script(tmp_path, PYTHON="no-such-python")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "needs Python 3.11 or newer" in done.stderr


def test_a_missing_venv_module_is_explained_in_one_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text(
        f'#!/bin/sh\ncase "$*" in *ensurepip*) exit 1;; esac\nexec {sys.executable} "$@"\n'
    )
    broken.chmod(0o755)
    done = run_script(tmp_path, PYTHON=str(broken))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "install the package python3-venv" in done.stderr
