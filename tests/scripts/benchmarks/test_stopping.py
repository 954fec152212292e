"""A benchmark that is stopped leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.attacks.fuzz.target import wait_for
from scripts.stack.stack import ROOT

SECONDS = 300  # far more than is needed, even on a busy machine


def list_processes(mark: str) -> list[str]:
    """List the commands of all processes that inherited the mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text())
        except OSError:  # the process has ended or belongs to another user
            continue
    return found


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
        wait_for(
            lambda: any("uvicorn" in process for process in list_processes(mark)), seconds=SECONDS
        )
        benchmark.send_signal(number)
        assert benchmark.wait(timeout=SECONDS) == 128 + number
        assert list_processes(mark) == []
    finally:
        benchmark.terminate()
        benchmark.wait()
