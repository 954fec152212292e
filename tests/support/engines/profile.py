"""Finds texts in everything that a browser stored in its profile, even if compressed.

Firefox compresses the values of its database with Snappy, which leaves ids readable, but not texts
with repetitions.
"""

from __future__ import annotations

import os
import signal
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

GZIP, MOZILLA = b"\x1f\x8b\x08", b"mozLz40\0"
# The name of a place, by the beginning of its paths.
PLACES = {
    "chromium": {
        "Default/IndexedDB/": "database",
        "Default/Cache/": "cache",
        "Default/History": "history",
        "Default/Sessions/": "history",
    },
    "firefox": {
        "storage/": "database",
        "cache2/": "cache",
        "places.sqlite": "history",
        "sessionstore": "history",
    },
}


def find_places(engine: str, profile: Path, canaries: Mapping[str, str]) -> dict[str, set[str]]:
    """Return where each canary was found: a named place, or the path of any other file."""
    found: dict[str, set[str]] = {name: set() for name in canaries}
    for path in profile.rglob("*"):
        with suppress(OSError):  # a socket, or a file that was just deleted
            contents = list(_unpack(path.read_bytes()))
            name = path.relative_to(profile).as_posix()
            place = next((p for start, p in PLACES[engine].items() if name.startswith(start)), name)
            for canary, text in canaries.items():
                if any(form in one for form in _write(text) for one in contents):
                    found[canary].add(place)
    return found


def _write(text: str) -> Iterator[bytes]:
    for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
        yield text.encode(encoding)
    yield bytes(byte + 1 for byte in text.encode())  # as Firefox stores keys


def _unpack(content: bytes) -> Iterator[bytes]:
    yield content
    place = content.find(GZIP)
    while place >= 0:
        with suppress(zlib.error):
            yield zlib.decompressobj(wbits=31).decompress(content[place:])
        place = content.find(GZIP, place + 1)
    if content.startswith(MOZILLA):
        yield _unpack_block(content[len(MOZILLA) + 4 :])


def _unpack_block(block: bytes) -> bytes:
    """Unpack an LZ4 block, which alternates literal bytes with copies of earlier bytes."""
    text, place = bytearray(), 0

    def read_length(length: int) -> int:
        nonlocal place
        more = 255 if length == 15 else 0
        while more == 255:
            more = block[place]
            place += 1
            length += more
        return length

    while place < len(block):
        token = block[place]
        place += 1
        length = read_length(token >> 4)
        text += block[place : place + length]
        place += length
        if place >= len(block):
            break
        distance = int.from_bytes(block[place : place + 2], "little")
        place += 2
        for _ in range(read_length(token & 15) + 4):
            text.append(text[-distance])
    return bytes(text)


def kill_browser(profile: Path) -> None:
    """Kill all processes of the browser with this profile, as a phone does with an app."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{profile}".encode() in (folder / "cmdline").read_bytes():
                os.kill(int(folder.name), signal.SIGKILL)
