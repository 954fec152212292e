"""Runs the `main` of a module; when stopped, also stops everything that it started.

`scripts/bench` runs benchmarks this way: python -m scripts.stack.stoppable scripts.benchmarks.page
"""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from types import FrameType


def main() -> int:
    module = sys.argv.pop(1)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    return import_module(module).main() or 0


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """Unwind so that every block stops its servers; a second signal must not interrupt this."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
