"""A disk of a few megabytes that a test can fill: a tmpfs, if mounting is allowed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass
class SmallDisk:
    folder: Path

    @property
    def _ballast(self) -> Path:
        return self.folder / "ballast"

    def fill(self) -> None:
        """Fill the disk to the last byte."""
        with suppress(OSError), self._ballast.open("ab", buffering=0) as file:
            while True:
                file.write(bytes(65_536))

    def free(self) -> None:
        self._ballast.unlink()


@contextmanager
def small_disk(folder: Path, *, megabytes: int, owner: int = 0) -> Iterator[SmallDisk | None]:
    """Mount a small disk at a folder; yield None if this user may not mount."""
    options = f"size={megabytes}m,uid={owner},mode=0700"
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    allowed = os.geteuid() == 0 and subprocess.run(mount, check=False).returncode == 0
    try:
        yield SmallDisk(folder) if allowed else None
    finally:
        if allowed:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
