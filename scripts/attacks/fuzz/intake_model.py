"""A model of correct intake and sealing, in dictionaries, without SQL or product code.

It has its own code to parse and write a report's JSON, so tests do not rely on the reader that they
test.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

K = 10
# The last letter marks a question that was not drawn; these surveys ask everyone everything.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_~"
KEYS = ["format", "manifest", "id", "symbols"]


@dataclass(frozen=True)
class Sent:
    """The content of a report."""

    manifest_hash: bytes
    report_id: bytes
    symbols: bytes


def read_strictly(body: bytes) -> Sent | None:
    """Return the content of a well-formed report, or None for anything else."""
    try:
        pairs = json.loads(body.decode("ascii"), object_pairs_hook=list)
        if [key for key, _ in pairs] != KEYS or pairs[0][1] != 1:
            return None
        manifest, report_id = (_decode(text) for _, text in pairs[1:3])
        symbols = bytes(LETTERS.index(letter) for letter in pairs[3][1])
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    sent = Sent(manifest_hash=manifest, report_id=report_id, symbols=symbols)
    return sent if symbols and write(sent) == body else None


def _decode(text: str) -> bytes:
    try:
        value = base64.b64decode(text + "=", altchars="-_", validate=True)
    except binascii.Error as error:
        raise ValueError(text) from error
    if len(value) != 32:
        raise ValueError(text)
    return value


def write(sent: Sent) -> bytes:
    def encode(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).decode().rstrip("=")

    letters = "".join(LETTERS[code] for code in sent.symbols)
    return (
        f'{{"format":1,"manifest":"{encode(sent.manifest_hash)}",'
        f'"id":"{encode(sent.report_id)}","symbols":"{letters}"}}'
    ).encode()


@dataclass(eq=False)
class ModelWave:
    """A wave of yes/no questions."""

    manifest_hash: bytes
    questions: int
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    cap: int | None = None
    ending: str = ""  # empty while open
    raw: dict[bytes, bytes] = field(default_factory=dict)  # id → symbols
    batches: list[Counter[bytes]] = field(default_factory=list)
    discarded: int = 0

    @property
    def acknowledged(self) -> int:
        return len(self.raw) + sum(batch.total() for batch in self.batches) + self.discarded

    def is_past(self, now: datetime) -> bool:
        return self.closes_at is not None and now >= self.closes_at

    def size_to_seal(self, *, largest: int) -> int:
        waiting = len(self.raw)
        if self.ending and K <= waiting <= largest:
            return waiting
        return min(waiting - K, largest) if waiting >= 2 * K else 0

    def close(self, *, ending: str, now: datetime) -> None:
        self.ending = "date" if self.is_past(now) else ending

    def seal(self, ids: set[bytes]) -> Counter[bytes]:
        """Move these reports into the next batch and return what it must hold."""
        batch = Counter(self.raw.pop(report_id) for report_id in ids)
        self.batches.append(batch)
        return batch

    def discard(self) -> None:
        self.discarded += len(self.raw)
        self.raw.clear()


class Model:
    def __init__(self, waves: Sequence[ModelWave]) -> None:
        self.waves = list(waves)
        self.spent: dict[bytes, ModelWave] = {}

    def find(self, manifest_hash: bytes) -> ModelWave | None:
        return next((w for w in self.waves if w.manifest_hash == manifest_hash), None)

    def take(self, bodies: Sequence[bytes], *, now: datetime) -> list[set[int]]:
        """Return the correct replies to reports that arrive together, recorded ones first.

        If two reasons to refuse a report apply, both replies are correct.
        """
        recorded = [self._record(body, now=now) for body in bodies]
        return [
            {201} if done else self._judge(body, now=now)
            for body, done in zip(bodies, recorded, strict=True)
        ]

    def _record(self, body: bytes, *, now: datetime) -> bool:
        sent = read_strictly(body)
        if sent is None or sent.report_id in self.spent:
            return False
        wave = self.find(sent.manifest_hash)
        if wave is None or self._refusal(sent, wave, now=now):
            return False
        self.spent[sent.report_id] = wave
        wave.raw[sent.report_id] = sent.symbols
        return True

    def _judge(self, body: bytes, *, now: datetime) -> set[int]:
        sent = read_strictly(body)
        wave = None if sent is None else self.find(sent.manifest_hash)
        if sent is None or wave is None:
            return {422}
        owner = self.spent.get(sent.report_id)
        if owner is None:
            return self._refusal(sent, wave, now=now)
        # Only the id of a sealed report is left to compare.
        same = wave.raw.get(sent.report_id, sent.symbols) == sent.symbols
        return {200} if owner is wave and same else {409}

    @staticmethod
    def _refusal(sent: Sent, wave: ModelWave, *, now: datetime) -> set[int]:
        """Return the statuses with which a new report may be refused, if any."""
        fits = len(sent.symbols) == wave.questions and max(sent.symbols) <= 1
        misfit = set() if fits else {422}
        if wave.ending or wave.is_past(now):
            return {410} | misfit  # never 425: the wave does not open again
        if wave.opens_at is not None and now < wave.opens_at:
            return {425} | misfit
        return misfit
