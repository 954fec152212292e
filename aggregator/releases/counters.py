"""Files outside the database that record draws, so that restoring it never draws twice.

There is one file for each wave, named by its manifest's hash, with the key of a release on each
line. A key is written to the disk before its figure is drawn. Nothing here is ever removed.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

_KEY = re.compile(r"[0-9a-f]{32}")


class DamagedFile(Exception):
    """The file holds something that this module did not write."""


def find_file(folder: Path, manifest_hash: bytes) -> Path:
    return folder / manifest_hash.hex()


def read_keys(path: Path) -> frozenset[str]:
    """Return the keys of all releases that were drawn, or about to be; none without a file."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return frozenset()
    keys = [line.decode("ascii", errors="replace") for line in lines]
    # Every line ends, so the last piece is empty.
    if keys.pop() or not all(_KEY.fullmatch(key) for key in keys):
        raise DamagedFile(str(path))
    return frozenset(keys)


def append_key(path: Path, key: str) -> None:
    """Write a key to the disk. If that fails, restore the file as far as possible."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    is_new = not path.exists()
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        _write(file, f"{key}\n".encode())
    finally:
        os.close(file)
    if is_new:
        _sync_folder(path.parent)


def _write(file: int, line: bytes) -> None:
    before = os.fstat(file).st_size
    try:
        if os.write(file, line) != len(line):
            raise OSError("the disk is full")
        os.fsync(file)
    except OSError:
        with suppress(OSError):
            os.ftruncate(file, before)  # nothing was drawn for half a line
        raise


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
