"""Checks that, after a storm, acknowledged reports count once and all others at most once.

`check` is a pure function of the history that the crowd recorded and the batches that were sealed.
Each report's symbols encode its number, so the batches show which reports they hold.
"""

from __future__ import annotations

import binascii
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

import numpy as np

from aggregator.batches.packing import count_codes, unpack_reports

NUMBER_BITS, CHECK_BITS = 24, 16
QUESTIONS = NUMBER_BITS + CHECK_BITS


def spell(number: int) -> bytes:
    """Encode a number as yes/no codes with a checksum, so that altered bits are noticed."""
    content = number.to_bytes(NUMBER_BITS // 8, "big")
    content += binascii.crc_hqx(content, 0xFFFF).to_bytes(CHECK_BITS // 8, "big")
    return np.unpackbits(np.frombuffer(content, dtype=np.uint8)).tobytes()


def read_number(symbols: bytes) -> int | None:
    """Return the encoded number, or None."""
    content = np.packbits(np.frombuffer(symbols, dtype=np.uint8)).tobytes()
    number = int.from_bytes(content[: NUMBER_BITS // 8], "big")
    return number if spell(number) == symbols else None


class Event(StrEnum):
    ATTEMPTED = "attempted"  # its bytes may reach a server from now on
    ACKNOWLEDGED = "acknowledged"
    ABANDONED = "abandoned"  # given up; it may or may not have been recorded


@dataclass
class History:
    """The crowd's actions, in memory and, with a path, in a file that outlives the test."""

    waves: dict[int, int] = field(default_factory=dict)  # the wave that each number was sent to
    acknowledged: set[int] = field(default_factory=set)
    abandoned: set[int] = field(default_factory=set)
    path: Path | None = None
    _file: TextIO | None = None

    def __enter__(self) -> Self:
        if self.path is not None:
            self._file = self.path.open("a", buffering=1)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, event: Event, *, number: int, wave: int) -> None:
        if event is Event.ATTEMPTED:
            self.waves[number] = wave
        elif event is Event.ACKNOWLEDGED:
            self.acknowledged.add(number)
        else:
            self.abandoned.add(number)
        if self._file is not None:
            self._file.write(f"{event} {number} {wave}\n")

    @classmethod
    def read(cls, path: Path) -> History:
        history = cls()
        for line in path.read_text().splitlines():
            event, number, wave = line.split()
            history.add(Event(event), number=int(number), wave=int(wave))
        return history


@dataclass(frozen=True, kw_only=True)
class Sealed:
    """A batch as the database stores it."""

    wave: int
    number: int
    size: int
    packed: bytes
    content_hash: bytes
    counts: list[list[int]]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    acknowledged: int
    abandoned: int
    counted: int
    lost: tuple[int, ...]  # acknowledged, in no batch
    doubled: tuple[int, ...]  # in batches more than once, acknowledged or not
    forged: tuple[str, ...]  # in a batch, but never sent, or not to this wave
    flaws: tuple[str, ...]  # batches that contradict themselves, and totals that disagree

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.doubled or self.forged or self.flaws)

    def __str__(self) -> str:
        wrong = (self.lost, self.doubled, self.forged, self.flaws)
        names = ("lost", "doubled", "forged", "flaws")
        told = [
            f"{name}: {', '.join(map(str, items[:10]))}{' …' * (len(items) > 10)}"
            for name, items in zip(names, wrong, strict=True)
            if items
        ]
        figures = (
            f"{self.acknowledged} acknowledged, {self.abandoned} abandoned, "
            f"{self.counted} counted, {len(self.lost)} lost, {len(self.doubled)} doubled, "
            f"{len(self.forged)} forged"
        )
        return "\n".join([figures, *told])


def check(
    history: History, batches: Sequence[Sealed], *, minimum_batch: int, spent: int | None = None
) -> Verdict:
    """Compare the counted reports with the sent ones; `spent` is the number of spent ids."""
    counted: Counter[int] = Counter()
    forged: list[str] = []
    flaws = _find_gaps(batches)
    for batch in batches:
        flaws += _find_flaws(batch, minimum_batch=minimum_batch)
        for number in _read_numbers(batch):
            if number is None or history.waves.get(number) != batch.wave:
                forged.append(f"{number} in wave {batch.wave} batch {batch.number}")
            else:
                counted[number] += 1
    total = sum(counted.values()) + len(forged)
    if spent is not None and spent != total:
        flaws.append(f"{spent} ids are spent but {total} reports are counted")
    return Verdict(
        acknowledged=len(history.acknowledged),
        abandoned=len(history.abandoned),
        counted=total,
        lost=tuple(sorted(history.acknowledged - counted.keys())),
        doubled=tuple(sorted(number for number, times in counted.items() if times > 1)),
        forged=tuple(forged),
        flaws=tuple(flaws),
    )


def _read_numbers(batch: Sealed) -> Iterable[int | None]:
    try:
        rows = unpack_reports(batch.packed, size=batch.size, ks=[2] * QUESTIONS)
    except ValueError:  # reported as a flaw
        return []
    return [read_number(row.tobytes()) for row in rows]


def _find_gaps(batches: Sequence[Sealed]) -> list[str]:
    numbers: dict[int, list[int]] = {}
    for batch in batches:
        numbers.setdefault(batch.wave, []).append(batch.number)
    return [
        f"wave {wave} has batches {sorted(found)}, not 1 to {len(found)}"
        for wave, found in numbers.items()
        if sorted(found) != list(range(1, len(found) + 1))
    ]


def _find_flaws(batch: Sealed, *, minimum_batch: int) -> list[str]:
    ks = [2] * QUESTIONS
    name = f"wave {batch.wave} batch {batch.number}"
    flaws = []
    if batch.size < minimum_batch:
        flaws.append(f"{name} holds {batch.size} reports, fewer than {minimum_batch}")
    if hashlib.sha256(batch.packed).digest() != batch.content_hash:
        flaws.append(f"{name} does not match its hash")
    try:
        counts = count_codes(batch.packed, size=batch.size, ks=ks)
    except ValueError as error:
        return [*flaws, f"{name}: {error}"]
    if counts != batch.counts:
        flaws.append(f"{name} does not match its counts")
    rows = unpack_reports(batch.packed, size=batch.size, ks=ks).tolist()
    if rows != sorted(rows):
        flaws.append(f"{name} is not sorted: its order may be that of arrival")
    return flaws
