"""Read an uploaded file in a separate process with limits on its time and memory.

Files come from anywhere, and third-party libraries unpack and parse them. The process has no
settings, no secrets and no database. It reads the file from standard input and writes the result as
JSON.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

MEMORY_BYTES = 300_000_000
CPU_SECONDS = 10
# This is long enough on a busy machine, and shorter than the lease of an import.
WALL_SECONDS = 40
MOST_WRITTEN = 30_000_000
COMMAND = ("-B", "-m", "surveys.exchange.child")
_ROOT = Path(__file__).resolve().parents[2]
TOO_MUCH = (
    "Reading the file took too much memory or time, so it was stopped. Delete sheets, rows and "
    "pictures that do not belong to the questionnaire."
)


def read_in_child(content: bytes, *, name: str) -> dict[str, Any]:
    """Return what the child process wrote: `parsed`, or the `problem` with the file."""
    try:
        ended = subprocess.run(  # noqa: S603 # a fixed command
            [sys.executable, *COMMAND],
            input=name.encode(errors="replace") + b"\0" + content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=WALL_SECONDS,
            check=False,
            cwd=_ROOT,
            env={"PYTHONPATH": str(_ROOT)},
        )
    except subprocess.TimeoutExpired:
        return {"problem": TOO_MUCH}
    if ended.returncode != 0:
        return {"problem": TOO_MUCH}
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def _limit() -> None:
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


def main() -> None:
    _limit()
    # Imported after the limits are set, because these modules load the parsers.
    from surveys.exchange.reading.files import Unreadable
    from surveys.exchange.reading.reader import read_questionnaire

    name, _, content = sys.stdin.buffer.read().partition(b"\0")
    try:
        written = json.dumps({"parsed": read_questionnaire(content, name=name.decode()).write()})
    except Unreadable as problem:
        written = json.dumps({"problem": str(problem)})
    except MemoryError:
        written = ""
    # The result is measured here, so that the parent never holds too much. A thousand cells can
    # share one long text.
    too_much = not written or len(written) > MOST_WRITTEN
    sys.stdout.write(json.dumps({"problem": TOO_MUCH}) if too_much else written)


if __name__ == "__main__":
    main()
