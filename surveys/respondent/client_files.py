"""Makes, from the sources in client/, the files that a respondent's browser loads.

The icon is served as it is. Scripts are joined from their modules, and stylesheets are shortened.
Both lose their comments. The sources are also served, so that people can read them. The page's
script and stylesheet contain only the parts that a survey needs, and their names list these parts.
All files share one version, which is computed from the bytes of all files with all parts. A URL
under /r/VERSION/ always returns the same bytes, so browsers may cache them forever, and a page
never mixes two versions.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from django.urls import reverse

from surveys.respondent.csp import hash_source
from surveys.respondent.joining import SOURCES, join_modules, strip_module
from surveys.respondent.parts import ONLY_IN_THE_FILE, PARTS
from surveys.respondent.stylesheet import shorten_stylesheet

FOLDER = Path(__file__).resolve().parent / "client"
# The page and the self-test import this file, so the self-test runs the same code as the page.
RANDOMIZER = "randomize.js"
_APART = frozenset({RANDOMIZER})
_ROWS, _WITH_ROWS = "visit/rows.css", ("grid", "score")
ENTRY = "page.js"
SELF_TEST = "self-test.js"
NOTICE = "notice.js"
STYLESHEET = "respondent.css"
OTHER_PAGES = "pages.css"  # added to the stylesheet on pages outside a visit
ICON = "icon.svg"
CONTENT_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_TO_READ = "text/plain; charset=utf-8"  # so that browsers do not run it


@dataclass(frozen=True, kw_only=True)
class ClientFile:
    name: str
    content: bytes
    content_type: str
    integrity: str  # for integrity attributes
    url: str


@lru_cache(maxsize=1)
def client_version() -> str:
    """Return the first 16 hex digits of SHA-256 over the names and bytes of all files.

    The script and the stylesheet with all parts stand for all their variants.
    """
    whole = {
        _name_joined(ENTRY, PARTS): _join_page(PARTS).encode(),
        _name_style(PARTS): _join_style(PARTS).encode(),
    }
    files = {**_make_files(), **_read_sources(), **whole}
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


@lru_cache(maxsize=1)
def client_files() -> dict[str, ClientFile]:
    """Return the files that browsers load, then the sources, by name. They are made once."""
    files = {**_make_files(), **_read_sources()}
    return {name: _build_file(name, content) for name, content in files.items()}


@cache
def page_script(parts: tuple[str, ...]) -> ClientFile:
    """Return the page's script with these parts. The first call makes it."""
    return _build_joined(_name_joined(ENTRY, parts), _join_page(parts))


@cache
def page_style(parts: tuple[str, ...]) -> ClientFile:
    """Return the page's stylesheet with the rules of these parts. Most parts have none."""
    return _build_joined(_name_style(parts), _join_style(parts))


def find_client_file(name: str) -> ClientFile | None:
    """Find a file by its name, which may list parts."""
    words = Path(name).stem.split("-")
    parts = tuple(part for part in PARTS if part in words and part != ONLY_IN_THE_FILE)
    if parts and name == _name_joined(ENTRY, parts):
        return page_script(parts)
    if parts and name == _name_style(parts):
        return page_style(parts)
    return client_files().get(name)


def find_content_type(name: str) -> str:
    return _TO_READ if name.startswith(SOURCES) else CONTENT_TYPES[Path(name).suffix]


def list_sources() -> list[ClientFile]:
    return [client_files()[name] for name in _read_sources()]


@cache
def join_page(parts: tuple[str, ...]) -> str:
    """Write the page's script with these parts as one module that imports nothing.

    This version names its modules. The served script does not, because the names would make up one
    percent of what a visit loads.
    """
    return join_modules(ENTRY, read=_read_module, parts=_find_modules(parts))


def _join_page(parts: tuple[str, ...]) -> str:
    modules = _find_modules(parts)
    return join_modules(ENTRY, read=_read_module, parts=modules, apart=_APART, names_modules=False)


def _find_modules(parts: tuple[str, ...]) -> list[str]:
    return [f"parts/{part}.js" for part in parts]


def _join_style(parts: tuple[str, ...]) -> str:
    rows = _read_module(_ROWS) if set(_WITH_ROWS) & set(parts) else ""
    return shorten_stylesheet(_read_module(STYLESHEET) + rows + "".join(map(_find_style, parts)))


def _find_style(part: str) -> str:
    return _read_folder().get(f"parts/{part}.css", b"").decode()


def _name_style(parts: tuple[str, ...]) -> str:
    styled = (part for part in parts if _find_style(part) or part in _WITH_ROWS)
    return _name_joined(STYLESHEET, tuple(styled))


def _name_joined(entry: str, parts: tuple[str, ...]) -> str:
    path = Path(entry)
    return "-".join([path.stem, *parts]) + path.suffix


@lru_cache(maxsize=1)
def _read_folder() -> dict[str, bytes]:
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix in CONTENT_TYPES)
    return {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in paths}


def _read_module(name: str) -> str:
    return _read_folder()[name].decode()


def _read_sources() -> dict[str, bytes]:
    folder = _read_folder().items()
    return {f"{SOURCES}{name}": content for name, content in folder if name != ICON}


@lru_cache(maxsize=1)
def _make_files() -> dict[str, bytes]:
    """Make the files at the top of the folder. Its subfolders contain parts of the scripts."""
    folder = _read_folder().items()
    return {name: _make(name, content) for name, content in folder if "/" not in name}


def _make(name: str, content: bytes) -> bytes:
    if name == ICON:
        return content
    if name in (STYLESHEET, OTHER_PAGES):
        return shorten_stylesheet(content.decode()).encode()
    if name == ENTRY:
        return _join_page(()).encode()
    if name == RANDOMIZER:
        return strip_module(name, content.decode()).encode()
    parts = ["parts/moments.js"] if name == NOTICE else []
    return join_modules(name, read=_read_module, parts=parts, apart=_APART).encode()


def _build_joined(name: str, text: str) -> ClientFile:
    return _build_file(name, text.encode())


def _build_file(name: str, content: bytes) -> ClientFile:
    return ClientFile(
        name=name,
        content=content,
        content_type=find_content_type(name),
        integrity=hash_source(content.decode()),
        url=reverse("surveys:client_file", args=[client_version(), name]),
    )
