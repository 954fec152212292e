"""Real processes that share a database: some are killed, and some run at the same moment."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from multiprocessing.synchronize import Barrier
from typing import Any

from django.db import connections

_fork = multiprocessing.get_context("fork")
PATIENCE_SECONDS = 60


def kill_me(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def run_and_die(work: Callable[[], Any]) -> None:
    """Run this work in another process, which must kill itself."""
    connections.close_all()
    process = _fork.Process(target=work)
    process.start()
    process.join(PATIENCE_SECONDS)
    assert process.exitcode == -signal.SIGKILL


def run_at_once(works: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run each work in another process, all at the same moment, and return their results."""
    connections.close_all()
    barrier = _fork.Barrier(len(works))
    pipes, processes = [], []
    for work in works:
        ours, theirs = _fork.Pipe(duplex=False)
        process = _fork.Process(target=_report, args=(work, barrier, theirs))
        process.start()
        theirs.close()
        pipes.append(ours)
        processes.append(process)
    found = [pipe.recv() if pipe.poll(PATIENCE_SECONDS) else None for pipe in pipes]
    for process in processes:
        process.join(PATIENCE_SECONDS)
    assert [process.exitcode for process in processes] == [0] * len(works)
    return found


def _report(work: Callable[[], Any], barrier: Barrier, pipe: Any) -> None:
    barrier.wait(PATIENCE_SECONDS)
    pipe.send(work())
    pipe.close()
    connections.close_all()
