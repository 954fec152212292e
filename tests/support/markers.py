"""A test's folder, fixtures and duration determine its markers, so that no new test can lack one.

A test that starts a server or a browser without its marker fails at that point.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypeGuard

import pytest

TESTS = Path(__file__).parents[1]
SLOW = frozenset((TESTS / "slow.txt").read_text("utf-8").split())
# Tests of tests/system start Murmur's own processes, Redis among them.
MARKER_OF_FOLDER = {TESTS / "browser": "browser", TESTS / "system": "redis"}
# A fixture that starts one of these servers has it in its name: own_postgres, redis_urls.
MARKER_IN_NAME = ("postgres", "redis")
MARKER_OF_PROGRAM = {
    "initdb": "postgres",
    "postgres": "postgres",
    "valkey-server": "redis",
    "chromium": "browser",
    "chromedriver": "browser",
    "firefox-esr": "browser",
    "WebKitWebDriver": "browser",
    "node": "browser",  # drives the browser for Playwright
}
_running: list[pytest.Item] = []


class MarkerMissing(BaseException):
    """No subclass of Exception, so that code that expects a server to fail does not swallow it."""


def add_markers(item: pytest.Item) -> None:
    """Give a test the markers that its folder, its fixtures and their parameters imply.

    tests/slow.txt lists the tests that were slow in an earlier run.
    """
    path, _, name = item.nodeid.partition("[")[0].partition("::")
    if f"{path.removesuffix('.py').replace('/', '.')}.{name.replace('::', '.')}" in SLOW:
        item.add_marker("slow")
    for folder, marker in MARKER_OF_FOLDER.items():
        if item.path.is_relative_to(folder):
            item.add_marker(marker)
    callspec = getattr(item, "callspec", None)
    parameters = callspec.params.values() if callspec is not None else ()
    names = " ".join([*getattr(item, "fixturenames", ()), *filter(_is_text, parameters)])
    for marker in MARKER_IN_NAME:
        if marker in names:
            item.add_marker(marker)


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def note_running(item: pytest.Item | None) -> None:
    """Remember the test whose markers apply to programs that start from now on."""
    _running[:] = [] if item is None else [item]


def watch_programs() -> None:
    """From now on, a program that needs a marker may start only in a test with that marker."""
    sys.addaudithook(_check_start)


def _check_start(event: str, details: tuple[object, ...]) -> None:
    if event != "subprocess.Popen" or not _running:
        return
    command = details[1]
    first = command[0] if isinstance(command, Sequence) and command else command
    marker = MARKER_OF_PROGRAM.get(Path(str(first)).name)
    item = _running[0]
    if marker is not None and item.get_closest_marker(marker) is None:
        raise MarkerMissing(
            f"{item.nodeid} starts {first}: mark it with pytest.mark.{marker}, or start it in a "
            f"fixture with {marker!r} in its name."
        )
