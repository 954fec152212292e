"""A benchmark that is stopped leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.stack.stack import ROOT

SECONDS = 300  # far more than needed, even on a busy machine


def list_processes(mark: str) -> list[str]:
    """List the commands of all processes that inherited the mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text())
        except OSError:  # it has ended, or belongs to somebody else
            continue
    return found


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.redis
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_a_stopped_benchmark_leaves_no_process(number: signal.Signals, tmp_path: Path) -> None:
    mark = f"MURMUR_TEST={tmp_path}"
    environment = {**os.environ, "MURMUR_TEST": str(tmp_path), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "scripts.stack.stoppable", "scripts.benchmarks.page"]
    benchmark = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: any("uvicorn" in process for process in list_processes(mark)))
        benchmark.send_signal(number)
        assert benchmark.wait(timeout=SECONDS) == 128 + number
        assert list_processes(mark) == []
    finally:
        benchmark.terminate()
        benchmark.wait()
