"""Copy the SQLite database while Murmur runs; PostgreSQL has its own tools.

The copy shows the database at one moment. It never contains sessions, because anyone who finds an
old backup could use them to sign in.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from django.contrib.sessions.models import Session

from aggregator.models import Batch, RawReport

BUSY_SECONDS = 20.0


class BackupError(Exception):
    """No backup was made; the message is for the operator."""


@dataclass(frozen=True, kw_only=True)
class Backup:
    batches: int
    sealed_reports: int
    file_bytes: int


def copy_database(*, source: Path, target: Path, raw_reports: bool) -> Backup:
    """Copy a live SQLite database to a new file that only its owner can read.

    Data that is left out is also erased from free pages, before the copy gets its final name.
    """
    if not source.is_file():
        raise BackupError(f"There is no database at {source}.")
    with _new_file(target) as partial:
        with (
            closing(sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)) as live,
            closing(sqlite3.connect(partial, timeout=BUSY_SECONDS)) as copy,
        ):
            # One step copies all pages, so the copy is consistent. In WAL mode, no writer waits.
            live.backup(copy, pages=-1)
            _leave_out(copy, [Session, *([] if raw_reports else [RawReport])])
            [(verdict,)] = copy.execute("PRAGMA integrity_check(1)")
            if verdict != "ok":
                raise BackupError(f"The copy is damaged, and the database may be too: {verdict}")
            [(batches, reports)] = copy.execute(
                f"SELECT count(*), coalesce(sum(size), 0) FROM {Batch._meta.db_table}"  # noqa: S608
            )
        return Backup(batches=batches, sealed_reports=reports, file_bytes=partial.stat().st_size)


def _leave_out(copy: sqlite3.Connection, models: list[type[Session] | type[RawReport]]) -> None:
    # Keep the journal in memory, because on the disk it would keep the deleted rows.
    copy.execute("PRAGMA journal_mode=MEMORY")
    copy.execute("PRAGMA secure_delete=ON")
    for model in models:
        copy.execute(f"DELETE FROM {model._meta.db_table}")  # noqa: S608
    copy.commit()
    copy.execute("VACUUM")


@contextmanager
def _new_file(target: Path) -> Iterator[Path]:
    """Yield a file to write, which becomes `target` once it has been completely written to disk.

    An empty `target` is created at once, so that nothing is ever overwritten.
    """
    partial = target.with_name(f"{target.name}.partial")
    made: list[Path] = []
    try:
        for path in (target, partial):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            made.append(path)
        yield partial
        _flush(partial)
        partial.replace(target)
        _flush(target.parent)
    except FileExistsError as error:
        raise BackupError(f"{error.filename} already exists; choose another name.") from None
    except (OSError, sqlite3.Error) as error:
        raise BackupError(f"No backup was made at {target}: {error}") from error
    else:
        made.clear()
    finally:
        for path in made:
            with suppress(FileNotFoundError):
                path.unlink()


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
