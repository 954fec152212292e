"""The settings that a SQLite database must have, and who can read its files."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from django.core.checks import CheckMessage
from django.db import connection

from aggregator.upkeep.checks import messages
from aggregator.upkeep.checks.messages import judge

OTHERS = stat.S_IRWXG | stat.S_IRWXO
# The safe values, and the effect of any other value.
PRAGMAS = {
    "journal_mode": (("wal",), "readers and writers block each other."),
    "synchronous": (("2", "3"), "a crash loses acknowledged reports."),
    "secure_delete": (("1",), "the file keeps the bytes of deleted reports."),
    "temp_store": (("2",), "temporary files show which ids were sealed together."),
}


def check_sqlite() -> Iterator[CheckMessage]:
    database = Path(str(connection.settings_dict["NAME"])).absolute()
    yield from judge_pragmas(_read_pragmas())
    yield from judge_open_paths(find_open_paths(database))
    yield from judge(
        messages.ONE_PROCESS,
        "one web process",
        good=None,
        meaning="SQLite supports one web process and one worker with concurrency 1. Murmur "
        "cannot count them.",
        remedy="pgrep -fc uvicorn; to run more, set DATABASE_URL to a PostgreSQL database.",
    )


def _read_pragmas() -> dict[str, str]:
    pragmas = {}
    with connection.cursor() as cursor:
        for name in PRAGMAS:
            cursor.execute(f"PRAGMA {name}")
            (value,) = cursor.fetchone()
            pragmas[name] = str(value)
    return pragmas


def judge_pragmas(pragmas: Mapping[str, str]) -> Iterator[CheckMessage]:
    for name, (accepted, meaning) in PRAGMAS.items():
        yield from judge(
            messages.PRAGMA,
            f"PRAGMA {name} = {pragmas[name]}",
            good=pragmas[name] in accepted,
            meaning=meaning,
            remedy="run Murmur with its own settings: config/settings.py sets this for every "
            "connection.",
        )


def judge_open_paths(open_paths: Sequence[tuple[str, int]]) -> Iterator[CheckMessage]:
    """Judge `open_paths`, the files that other users of this machine can read, with their modes."""
    for path, mode in open_paths:
        yield from judge(
            messages.FILE_MODE,
            f"{path} has mode {mode:o}",
            good=False,
            meaning="other users of this machine can read raw reports.",
            remedy=f"chmod go= '{path}'",
        )


def find_open_paths(database: Path) -> list[tuple[str, int]]:
    """Return the database's files that other users can read, with their modes."""
    files = sorted(database.parent.glob(f"{database.name}*"))
    return [(str(path), _mode(path)) for path in files if _is_open(path)]


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _is_open(path: Path) -> bool:
    """Return whether neither the file's mode nor a parent folder's mode keeps other users out."""
    return all(_mode(part) & OTHERS for part in (path, *path.parents))
