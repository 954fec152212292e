"""Searches a full dump of Murmur for the sender of each report and the order of the reports.

    python -m scripts.attacks.linker.linker FOLDER

FOLDER holds what an intruder with full access can copy (see dump.py). Only `canaries.json` comes
from the senders. It lists strings to look for: some were sent with the reports, others were never
sent.

There are three attacks. The linker searches every file for canaries in many spellings. It searches
every file, including the broker's and PostgreSQL's log, for traces that show when a batch was
sealed: a task's message, or the checkpoint that Murmur requests to erase reports after each
sealing. It also guesses when each sealed report arrived within its batch: by the position of its
bytes in each file, by the order of rows in the batch, and by the order in which ids were spent,
joined to the rows as if a batch took the lowest waiting ids.
"""

from __future__ import annotations

import base64
import csv
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.packing import unpack_reports
from surveys.manifest.serialization import parse_manifest

csv.field_size_limit(sys.maxsize)
CHUNK_BYTES = 4_000_000
ID_BYTES = 32
BEGINNING = 9
# Codes 0 and 1 as bytes, digits or wire letters, adjacent or with other bytes in between.
ENCODINGS = {
    "bytes": (0, 1),
    "digits": (ord("0"), 1),
    "digits, every second": (ord("0"), 2),  # hex, UTF-16, a list with commas
    "digits, every third": (ord("0"), 3),
    "letters": (ord("A"), 1),
    "letters, every second": (ord("A"), 2),
}
# Each of these strings stands next to a time in the file that contains it.
DATES = {"a task's message": b"aggregator.tasks.", "a checkpoint in a log": b"LOG:  checkpoint "}
# A window of nearly all zeros is padding; no report of 40 or more weak coins looks like that.
FEWEST_ONES = 3
# One guess for each row of a batch: a number that grows with the guessed moment, or NaN.
Guess = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class SealedBatch:
    wave: int
    number: int
    rows: list[bytes]  # one code per byte, in the order of storage


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A canary that was found, although it should exist nowhere."""

    canary: str
    spelling: str
    file: str


@dataclass
class Findings:
    hits: list[Hit] = field(default_factory=list)
    dates: set[tuple[str, str]] = field(default_factory=set)  # (trace that dates batches, file)
    # A guess for each batch, by strategy; only strategies that found something are listed.
    guesses: dict[str, list[Guess]] = field(default_factory=dict)
    files: int = 0
    size: int = 0


class Dump:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        known = json.loads((folder / "canaries.json").read_text())
        self.canaries: dict[str, str] = known["texts"]
        self.answers = [bytes(int(code) for code in answer) for answer in known["answers"]]

    def read_files(self) -> Iterator[tuple[str, bytes]]:
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and path.name != "canaries.json":
                yield str(path.relative_to(self.folder)), path.read_bytes()

    def read_table(self, name: str) -> list[dict[str, str]]:
        with (self.folder / "tables" / f"{name}.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    @cached_property
    def batches(self) -> list[SealedBatch]:
        manifests = {row["id"]: row["manifest"] for row in self.read_table("surveys_wave")}
        found = []
        for row in self.read_table("aggregator_batch"):
            manifest = parse_manifest(_unhex(manifests[row["wave_id"]]))
            matrix = unpack_reports(
                _unhex(row["packed"]),
                size=int(row["size"]),
                ks=[question.k for question in manifest.questions],
            )
            rows = [bytes(codes) for codes in matrix]
            found.append(
                SealedBatch(wave=int(row["wave_id"]), number=int(row["number"]), rows=rows)
            )
        return sorted(found, key=lambda batch: (batch.wave, batch.number))

    @cached_property
    def minimum_batches(self) -> dict[int, int]:
        rows = self.read_table("surveys_wave")
        return {int(row["id"]): int(row["minimum_batch"]) for row in rows}

    @cached_property
    def spent_ids(self) -> dict[int, list[dict[str, Any]]]:
        """Return the spent ids of each wave, in the physical order of the table."""
        rows = self.read_table("aggregator_spent_id")
        waves: dict[int, list[dict[str, Any]]] = {}
        if rows and "ctid" in rows[0]:
            rows.sort(key=lambda row: [int(part) for part in row["ctid"].strip("()").split(",")])
        for position, row in enumerate(rows):
            waves.setdefault(int(row["wave_id"]), []).append(
                {
                    "id": _unhex(row["id"]),
                    "position": position,
                    "xmin": int(row.get("xmin", 0)),
                }
            )
        return waves


def _unhex(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("\\x"))  # as PostgreSQL writes it


def spell(text: str) -> dict[str, bytes]:
    """Return the spellings in which software may store a string."""
    plain = text.encode()
    spellings = {
        "plain": plain,
        "lower case": plain.lower(),
        "upper case": plain.upper(),
        "hex": plain.hex().encode(),
        "HEX": plain.hex().upper().encode(),
        "URL": quote(text, safe="").encode(),
        "URL, every letter": "".join(f"%{byte:02x}" for byte in plain).encode(),
        "UTF-16, little end": text.encode("utf-16-le"),
        "UTF-16, big end": text.encode("utf-16-be"),
        "escaped": json.dumps(text)[1:-1].encode(),
        "backwards": plain[::-1],
        "read as Latin-1": plain.decode("latin-1").encode(),
    }
    for shift in range(3):
        # Bytes before the text shift its encoding; its first and last letters depend on neighbours.
        padded = base64.b64encode(bytes(shift) + plain + bytes(3))
        inner = padded[4 if shift else 0 : 4 * ((shift + len(plain)) // 3)]
        spellings[f"base64, shifted by {shift}"] = inner
        spellings[f"base64url, shifted by {shift}"] = inner.translate(bytes.maketrans(b"+/", b"-_"))
    return spellings


class CanaryFinder:
    def __init__(self, canaries: Mapping[str, str]) -> None:
        # Texts with the same beginning are told apart only where a file has that beginning.
        self._needles: dict[str, dict[tuple[str, str], bytes]] = {}
        for canary, text in canaries.items():
            needles = self._needles.setdefault(text[:BEGINNING], {})
            if text.startswith("0x"):  # bytes, such as an address in binary form
                needles[canary, "bytes"] = bytes.fromhex(text[2:])
            else:
                needles |= {(canary, spelling): needle for spelling, needle in spell(text).items()}
        self._beginnings = {
            beginning: [*spell(beginning).values(), *self._bytes_of(beginning)]
            for beginning in self._needles
        }

    def _bytes_of(self, beginning: str) -> list[bytes]:
        return list(self._needles[beginning].values()) if beginning.startswith("0x") else []

    def find(self, name: str, content: bytes) -> Iterator[Hit]:
        for beginning, needles in self._beginnings.items():
            if not any(needle in content for needle in needles):
                continue
            whole = [key for key, needle in self._needles[beginning].items() if needle in content]
            for canary, spelling in whole or [(beginning, "in part")]:
                yield Hit(canary=canary, spelling=spelling, file=name)


class Finder:
    """Finds many strings of 0 and 1, all of one length up to 63, in one pass over a file."""

    def __init__(self, reports: list[bytes]) -> None:
        self._width = len(reports[0])
        keys = self._to_keys(np.frombuffer(b"".join(reports), np.uint8).reshape(-1, self._width))
        order = np.argsort(keys)
        self._keys, self._reports = keys[order], [reports[index] for index in order]

    def _to_keys(self, windows: NDArray[np.uint8]) -> NDArray[np.uint64]:
        keys = np.zeros(len(windows), np.uint64)
        for column in range(self._width):
            keys = (keys << np.uint64(1)) | windows[:, column]
        return keys

    def find(self, content: bytes, *, base: int, stride: int) -> dict[bytes, int]:
        """Return the first position of each report that occurs."""
        found: dict[bytes, int] = {}
        span = self._width * stride
        data = np.frombuffer(content, np.uint8)
        for start in range(0, max(0, len(data) - span + 1), CHUNK_BYTES):
            chunk = data[start : start + CHUNK_BYTES + span - 1] - np.uint8(base)
            for offset in range(stride):
                for position, report in self._find_in_chunk(chunk[offset::stride]):
                    place = start + offset + position * stride
                    found[report] = min(place, found.get(report, place))
        return found

    def _find_in_chunk(self, codes: NDArray[np.uint8]) -> Iterator[tuple[int, bytes]]:
        width = self._width
        if len(codes) < width:
            return
        is_code = codes <= 1
        # Every window covers one half-width piece. In most files, no piece consists only of codes.
        half = width // 2
        pieces = is_code[: len(codes) // half * half].reshape(-1, half)
        if not pieces.all(axis=1).any():
            return
        others = np.concatenate([[0], np.cumsum(~is_code, dtype=np.int32)])
        ones = np.concatenate([[0], np.cumsum(codes == 1, dtype=np.int32)])
        possible = (others[width:] == others[:-width]) & (
            ones[width:] - ones[:-width] >= FEWEST_ONES
        )
        starts = np.flatnonzero(possible)
        keys = self._to_keys(np.lib.stride_tricks.sliding_window_view(codes, width)[starts])
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        for index in np.flatnonzero(self._keys[places] == keys):
            yield int(starts[index]), self._reports[places[index]]


class IdFinder:
    """Finds many random strings of bytes, all of one length, in one pass over a file."""

    def __init__(self, ids: list[bytes]) -> None:
        self._ids = set(ids)
        heads = [int.from_bytes(name[:4], "little") for name in ids]
        self._heads = np.unique(np.array(heads, np.uint32))
        self._is_head = np.zeros(2**16, bool)
        self._is_head[self._heads & np.uint32(0xFFFF)] = True

    def find(self, content: bytes) -> dict[bytes, int]:
        """Return the first position of each id that occurs."""
        found: dict[bytes, int] = {}
        data = np.frombuffer(content, np.uint8)
        for start in range(0, max(0, len(data) - 3), CHUNK_BYTES):
            chunk = data[start : start + CHUNK_BYTES + 3].astype(np.uint32)
            low = chunk[:-3] | chunk[1:-2] << 8
            few = np.flatnonzero(self._is_head[low])
            values = low[few] | chunk[few + 2] << 16 | chunk[few + 3] << 24
            places = np.minimum(np.searchsorted(self._heads, values), len(self._heads) - 1)
            for place in few[self._heads[places] == values] + start:
                name = content[place : place + ID_BYTES]
                if name in self._ids:
                    found.setdefault(name, int(place))
        return found


def assign_ids(spent: list[dict[str, Any]], sizes: list[int], minimum: int) -> list[list[bytes]]:
    """Return the sorted ids in each batch of a wave, if sealing took the lowest waiting ids.

    Sealing once worked like this. Now chance decides, and waiting.py searches for other patterns.
    While a wave is open, a batch takes all but `minimum` of the waiting ids; the last batch takes
    the rest.
    """
    ids = [row["id"] for row in spent]
    waiting: list[bytes] = []
    come, batches = 0, []
    for index, size in enumerate(sizes):
        is_last = index == len(sizes) - 1
        until = len(ids) if is_last else come + size + minimum - len(waiting)
        waiting = sorted([*waiting, *ids[come:until]])
        come = until
        batches.append(waiting[:size])
        waiting = waiting[size:]
    return batches


def link(dump: Dump) -> Findings:
    findings = Findings()
    batches = dump.batches
    findings.guesses["rows as they lie"] = [np.arange(len(b.rows), dtype=float) for b in batches]
    ids = _assign_all(dump)
    places = {row["id"]: row for rows in dump.spent_ids.values() for row in rows}
    for column in ("position", "xmin"):
        order = {name: float(row[column]) for name, row in places.items()}
        findings.guesses[f"rows joined with sorted ids, by {column}"] = _guess_by_ids(ids, order)
    reports = Finder([row for batch in batches for row in batch.rows])
    answers = Finder(dump.answers)
    ids_in, canaries = IdFinder(list(places)), CanaryFinder(dump.canaries)
    for name, content in dump.read_files():
        findings.files += 1
        findings.size += len(content)
        findings.hits += canaries.find(name, content)
        if name.startswith("files/"):  # data held only in memory is gone after a restart
            findings.dates |= {(what, name) for what, text in DATES.items() if text in content}
        for encoding, (base, stride) in ENCODINGS.items():
            if answers.find(content, base=base, stride=stride):
                findings.hits.append(Hit(canary="true answer", spelling=encoding, file=name))
            found = reports.find(content, base=base, stride=stride)
            if found:
                findings.guesses[f"{encoding} in {name}"] = [
                    np.array([found.get(row, np.nan) for row in batch.rows]) for batch in batches
                ]
        order = {key: float(place) for key, place in ids_in.find(content).items()}
        if order:
            guess = _guess_by_ids(ids, order)
            findings.guesses[f"rows joined with sorted ids, by place in {name}"] = guess
    return findings


def _assign_all(dump: Dump) -> list[list[bytes]]:
    """Return the sorted ids of every batch."""
    assigned = []
    for wave in sorted({batch.wave for batch in dump.batches}):
        sizes = [len(batch.rows) for batch in dump.batches if batch.wave == wave]
        spent, minimum = dump.spent_ids[wave], dump.minimum_batches[wave]
        assigned += assign_ids(spent, sizes, minimum)
    return assigned


def _guess_by_ids(batches: list[list[bytes]], order: Mapping[bytes, float]) -> list[Guess]:
    return [np.array([order.get(name, np.nan) for name in ids]) for ids in batches]


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    dump = Dump(Path(sys.argv[1]))
    findings = link(dump)
    print(f"{findings.files} files, {findings.size:,} bytes, {len(dump.batches)} batches")
    for hit in findings.hits:
        print(f"canary {hit.canary}: {hit.spelling} in {hit.file}")
    for what, file in sorted(findings.dates):
        print(f"dates batches: {what} in {file}")
    for strategy, guesses in findings.guesses.items():
        placed = sum(int(np.isfinite(guess).sum()) for guess in guesses)
        print(f"{placed:>7,} reports placed by {strategy}")


if __name__ == "__main__":
    main()
