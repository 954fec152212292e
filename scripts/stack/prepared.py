"""Static files and an empty database, made once for all stacks and test processes.

Both take seconds to make and depend only on project files, so they are kept in a folder named after
a hash of those files. If several processes need them at the same time, the first one makes them,
and the others wait.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from scripts.stack.stack import COLLECT, MIGRATE, ROOT, SQLITE_FILE, Stack, free_port

FOLDER = ROOT / "var" / "prepared"
# No run lasts this long, so a folder unused for longer belongs to older sources.
UNUSED_SECONDS = 3 * 24 * 3600
_STATIC_SOURCES = (
    "requirements-dev.txt",
    "config/*.py",
    "*/static/**/*",
    "surveys/respondent/client/**/*",
    "surveys/respondent/*.py",
)
_DATABASE_SOURCES = ("requirements-dev.txt", "config/settings.py", "*/migrations/*.py")


def copy_static_files(var: Path) -> None:
    """Put the collected static files into `var`."""
    made = _once("static", _STATIC_SOURCES, _collect_static_files)
    shutil.copytree(made / "static", var / "static", dirs_exist_ok=True)


def copy_empty_database(target: Path) -> None:
    """Write an SQLite file with all migrations applied and no data."""
    made = _once("database", _DATABASE_SOURCES, _migrate)
    shutil.copy(made / SQLITE_FILE, target)


def prepare(stack: Stack, *others: Sequence[str]) -> str:
    """Do what `stack.prepare()` does, but start from the prepared files."""
    stack.var.mkdir(parents=True, exist_ok=True)
    copy_static_files(stack.var)
    if stack.environment.get("DATABASE_URL", "sqlite:").partition(":")[0] != "sqlite":
        return stack.manage_all([MIGRATE, *others])
    copy_empty_database(stack.var / SQLITE_FILE)
    return stack.manage_all(others) if others else ""


def prepare_with_account(stack: Stack, email: str) -> str:
    """Prepare the stack in the same way, make the first account, and return its password."""
    printed = prepare(stack, ("create_first_account", "--email", email))
    return printed.partition("with the password ")[2].split()[0]


def _collect_static_files(stack: Stack) -> None:
    stack.manage(*COLLECT)


def _migrate(stack: Stack) -> None:
    stack.manage(*MIGRATE)


def _once(name: str, sources: Iterable[str], make: Callable[[Stack], None]) -> Path:
    """Return the folder that `make` fills from the current sources; fill it first if necessary."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    target = FOLDER / f"{name}-{_hash(sources)}"
    with (FOLDER / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.is_dir():
            target.touch()
            return target
        _remove_unused(name)
        # Rename the folder when it is complete, so that an interrupted run leaves nothing that
        # looks finished.
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
            partial = Path(folder) / name
            partial.mkdir()
            make(_stack_without_database_url(partial))
            partial.rename(target)
    return target


def _stack_without_database_url(var: Path) -> Stack:
    stack = Stack(var=var, port=free_port())
    stack.environment.pop("DATABASE_URL", None)
    return stack


def _hash(patterns: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in ROOT.glob(pattern)}):
        if path.is_file() and "__pycache__" not in path.parts:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(ROOT)} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def _remove_unused(name: str) -> None:
    for old in FOLDER.glob(f"{name}-*"):
        if old.stat().st_mtime < time.time() - UNUSED_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
