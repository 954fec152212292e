"""Remembers that the tests of privacy/ passed, so that unchanged code is not tested again.

    python -m scripts.testing.passes find MARKERS         prints when they passed, or fails
    python -m scripts.testing.passes note MARKERS REPORT  notes that a JUnit report shows a pass

`scripts/test` asks before a whole run and notes a successful one. A pass holds only for the same
sources, installed packages, interpreter, platform and markers.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path

from scripts.stack.stack import ROOT
from scripts.testing.durations import list_durations

FOLDER = ROOT / "var" / "passes"
# Files that the tests of privacy/ import or read.
SOURCES = (
    "privacy/**/*",
    "tests/privacy/**/*",
    "tests/support/**/*",
    "tests/vectors/**/*",
    "tests/conftest.py",
    "tests/slow.txt",
    "scripts/stack/*.py",
    "scripts/testing/passes.py",
    "config/settings.py",
    "pyproject.toml",
    "requirements-dev.txt",
)


def make_key(markers: str, *, root: Path = ROOT) -> str:
    """Hash everything that decides whether these tests pass."""
    digest = hashlib.sha256()
    for part in (*_describe_surroundings(), markers, *_describe_files(root)):
        digest.update(f"{len(part)} {part}\n".encode())
    return digest.hexdigest()


def _describe_surroundings() -> Iterable[str]:
    yield from (sys.version, sys.executable, platform.platform())
    yield os.environ.get("HYPOTHESIS_PROFILE", "")
    yield from sorted(f"{one.name} {one.version}" for one in distributions())


def _describe_files(root: Path) -> Iterable[str]:
    for path in sorted({path for pattern in SOURCES for path in root.glob(pattern)}):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{path.relative_to(root)} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def find_pass(markers: str) -> str:
    """Return a sentence about the last pass of the same content, or "" if there was none."""
    noted = FOLDER / make_key(markers)
    return noted.read_text("utf-8") if noted.is_file() else ""


def note_pass(markers: str, report: Path) -> None:
    count = sum(
        module.startswith(("privacy.", "tests.privacy.")) for module, *_ in list_durations(report)
    )
    FOLDER.mkdir(parents=True, exist_ok=True)
    day = datetime.now(UTC).date().isoformat()
    sentence = f"{count} tests of privacy/ did not run; the same content passed on {day}."
    (FOLDER / make_key(markers)).write_text(sentence, "utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["find", markers]:
            found = find_pass(markers)
            print(found)
            sys.exit(not found)
        case ["note", markers, report]:
            note_pass(markers, Path(report))
        case _:
            sys.exit(__doc__)
