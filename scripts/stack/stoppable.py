"""Runs the `main` of a module; when stopped, also stops everything that it started.

`scripts/bench` runs benchmarks this way: python -m scripts.stack.stoppable scripts.benchmarks.page
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType

STOPPING = (signal.SIGINT, signal.SIGTERM)


def main() -> int:
    module = sys.argv.pop(1)
    for number in STOPPING:
        signal.signal(number, _stop)
    return import_module(module).main() or 0


@contextmanager
def hold_signals() -> Iterator[None]:
    """Delay signals until the end of this block.

    If a signal arrived while a process was being started, nothing would stop that process later.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        held.append(number)

    usual = {number: signal.signal(number, hold) for number in STOPPING}
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
        if held:
            signal.raise_signal(held[0])


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """Exit so that every open block stops its servers; a second signal must not interrupt this."""
    for each in STOPPING:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
