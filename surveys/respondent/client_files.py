"""The files that a respondent's browser runs, served byte for byte as they stand in client/.

All of them share one version, drawn from their bytes: an address under /r/VERSION/ means
the same bytes for ever, so it may be cached, and a page never mixes two versions.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import zopfli.gzip
from django.urls import reverse

FOLDER = Path(__file__).resolve().parent / "client"
ENTRY = "page.js"
SELF_TEST = "self-test.js"
_EXPORT = re.compile(r"^export ", re.MULTILINE)
_IMPORT = re.compile(r'^import [^;]* from "\./([\w.-]+)";\n', re.MULTILINE)
STYLESHEET = "respondent.css"
ICON = "icon.svg"
CONTENT_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, kw_only=True)
class ClientFile:
    name: str
    content: bytes
    compressed: bytes
    content_type: str
    integrity: str  # for integrity attributes: what runs is what was published
    url: str


def compress(content: bytes) -> bytes:
    """Compress without a time stamp: the same bytes always give the same bytes."""
    return gzip.compress(content, compresslevel=9, mtime=0)


@lru_cache(maxsize=128)
def squeeze(content: bytes) -> bytes:
    """The same 4 % smaller and a hundred times slower: for what is read by many."""
    compressed: bytes = zopfli.gzip.compress(content)
    return compressed


@lru_cache(maxsize=1)
def client_version() -> str:
    """Return the first 16 hex digits of SHA-256 over the names and bytes of all files."""
    digest = hashlib.sha256()
    for path in _paths():
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


@lru_cache(maxsize=1)
def client_files() -> dict[str, ClientFile]:
    """Read every file once for the life of the process, by name."""
    return {path.name: _read(path) for path in _paths()}


def find_modules(entry: str) -> list[ClientFile]:
    """Return what an entry imports, directly or not; its page names each with its integrity."""
    return [file for file in _follow_imports(entry, []) if file.name != entry]


def bundle(entry: str) -> str:
    """Write an entry and what it imports as one module, each after what it needs.

    Nothing but the lines of import and the word export is left out: who knows the modules can
    read it. No two modules may use the same name at their top.
    """
    whole = "".join(file.content.decode() for file in _follow_imports(entry, []))
    return _EXPORT.sub("", _IMPORT.sub("", whole))


def _follow_imports(name: str, found: list[ClientFile]) -> list[ClientFile]:
    file = client_files()[name]
    for imported in _IMPORT.findall(file.content.decode()):
        _follow_imports(imported, found)
    if file not in found:
        found.append(file)
    return found


def _paths() -> list[Path]:
    return sorted(path for path in FOLDER.iterdir() if path.suffix in CONTENT_TYPES)


def _read(path: Path) -> ClientFile:
    content = path.read_bytes()
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    return ClientFile(
        name=path.name,
        content=content,
        compressed=squeeze(content),
        content_type=CONTENT_TYPES[path.suffix],
        integrity=f"sha256-{digest}",
        url=reverse("surveys:client_file", args=[client_version(), path.name]),
    )
