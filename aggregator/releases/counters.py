"""Files outside the database that record draws, so that a restored backup never draws again.

There is one file for each wave, named after its manifest's hash. Each line is the key of a release.
A key is written to the disk before its figure is drawn. For a wave with a sealed half, the file
also has the key of the half's test (aggregator.comparisons.opening). Nothing is ever removed. One
more file holds a random key that identifies the folder (aggregator.releases.folder).
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

KEY_BYTES = 16
_KEY = re.compile(rf"[0-9a-f]{{{2 * KEY_BYTES}}}")
_WAVE = re.compile(r"[0-9a-f]{64}")
_IDENTITY = "identity"
# No release has this key. It stands for any release that may have been drawn before the folder
# existed.
UNKNOWN_DRAWS = "0" * 2 * KEY_BYTES


class DamagedFile(Exception):
    """The file has content that this module did not write."""


def find_file(folder: Path, manifest_hash: bytes) -> Path:
    return folder / manifest_hash.hex()


def has_draws(folder: Path) -> bool:
    """Return whether the folder contains the file of any wave. May raise OSError."""
    return folder.exists() and any(_WAVE.fullmatch(path.name) for path in folder.iterdir())


def name_start(key: str) -> str:
    """Name the start of an alert, which is the draw of the threshold's noise."""
    return hashlib.sha256(f"start {key}".encode()).hexdigest()[: len(key)]


def read_keys(path: Path) -> frozenset[str]:
    """Return the keys of all releases drawn or about to be drawn; no file means no keys."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return frozenset()
    keys = [line.decode("ascii", errors="replace") for line in lines]
    # Every line ends with a line break, so the last piece is empty.
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


def append_new_keys(path: Path, keys: Iterable[str]) -> None:
    """Write the keys that the file lacks."""
    known = read_keys(path)
    for key in keys:
        if key not in known:
            append_key(path, key)


def read_identity(folder: Path) -> str:
    """Return the key that identifies a folder, or an empty string if it is missing or damaged."""
    try:
        keys = read_keys(folder / _IDENTITY)
    except DamagedFile:
        return ""
    return next(iter(keys)) if len(keys) == 1 else ""


def make_identity(folder: Path) -> str:
    """Return the folder's identity, making it if needed. Two callers get the same identity."""
    path = folder / _IDENTITY
    if not path.exists():
        # The file is first written under another name, so that no worker reads a partial file.
        key = secrets.token_hex(KEY_BYTES)
        unnamed = folder / f"{_IDENTITY}.{key}"
        try:
            append_key(unnamed, key)
            with suppress(FileExistsError):
                os.link(unnamed, path)
        finally:
            unnamed.unlink(missing_ok=True)
        _sync_folder(folder)
    identity = read_identity(folder)
    if not identity:
        raise OSError(f"{path} is damaged")
    return identity


def _write(file: int, line: bytes) -> None:
    before = os.fstat(file).st_size
    try:
        if os.write(file, line) != len(line):
            raise OSError("the disk is full")
        os.fsync(file)
    except OSError:
        with suppress(OSError):
            os.ftruncate(file, before)  # nothing is drawn before its line is complete
        raise


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
