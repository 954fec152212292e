"""The count of draws is on disk before anything is drawn."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

from aggregator.releases.counters import append_key, read_keys


def test_each_key_reaches_the_disk_and_so_does_the_name_of_a_new_file(tmp_path: Path) -> None:
    file = tmp_path / "wave"
    synced: list[int] = []
    with mock.patch("os.fsync", lambda opened: synced.append(os.fstat(opened).st_ino)):
        append_key(file, "a" * 32)
        append_key(file, "b" * 32)
    inode = file.stat().st_ino
    assert synced == [inode, tmp_path.stat().st_ino, inode]
    assert read_keys(file) == {"a" * 32, "b" * 32}
