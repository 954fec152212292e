"""Starts Debian's Chromium, Firefox and WebKit, each with a fresh profile."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from scripts.stack.chromium import ARGUMENTS, FONTS
from scripts.stack.stack import free_port
from tests.support.engines.keyboard import Keyboard
from tests.support.engines.tab import Tab
from tests.support.engines.webdriver import (
    SCRIPT_SECONDS,
    DriverOverHTTP,
    Marionette,
    Transport,
)

ENGINES = ("chromium", "firefox", "webkit")
PROGRAMS = {"chromium": "chromedriver", "firefox": "firefox-esr", "webkit": "WebKitWebDriver"}
PHONE = (390, 844)
DESK = (1280, 900)


@contextmanager
def open_browser(
    engine: str, *, size: tuple[int, int] = PHONE, private: bool = False
) -> Iterator[Tab]:
    """Start a browser with an empty profile, and stop it at the end."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        transport = stack.enter_context(STARTERS[engine](folder, size, private))
        tab = Tab(transport, engine=engine, folder=folder)
        tab.call("SetTimeouts", {"script": 1000 * SCRIPT_SECONDS, "pageLoad": 20_000})
        tab.resize(size)
        yield tab


@contextmanager
def open_window(engine: str, folder: Path) -> Iterator[tuple[Tab, Keyboard]]:
    """Start Chromium or Firefox with a window, a keyboard and a profile that is kept."""
    start = _chromium if engine == "chromium" else _firefox
    with (
        _screen(folder, DESK) as display,
        start(folder, DESK, False, display) as transport,
    ):
        yield Tab(transport, engine=engine, folder=folder), Keyboard(display)


@contextmanager
def _chromium(
    folder: Path, size: tuple[int, int], private: bool, display: str = ""
) -> Iterator[Transport]:
    arguments = [
        *(*ARGUMENTS, f"--user-data-dir={folder}"),
        *([] if display else ["--headless"]),
        *(["--incognito"] if private else []),
    ]
    options = {
        "binary": shutil.which("chromium"),
        "args": arguments,
        "prefs": {"download.default_directory": f"{folder}"},
        "mobileEmulation": {
            "deviceMetrics": {"width": size[0], "height": size[1], "mobile": False}
        },
    }
    port = free_port()
    with _running(
        [PROGRAMS["chromium"], f"--port={port}"], folder, {"DISPLAY": display} if display else {}
    ):
        transport = DriverOverHTTP(port, {"goog:chromeOptions": options})
        try:
            yield transport
        finally:
            transport.close()


@contextmanager
def _firefox(
    folder: Path, size: tuple[int, int], private: bool, display: str = ""
) -> Iterator[Transport]:
    port = free_port()
    preferences = {
        "marionette.port": port,
        "browser.privatebrowsing.autostart": private,
        # Only the pages under test may use the network.
        "app.normandy.enabled": False,
        "app.update.enabled": False,
        "browser.newtab.preload": False,
        "browser.newtabpage.enabled": False,
        "browser.safebrowsing.downloads.remote.enabled": False,
        "browser.shell.checkDefaultBrowser": False,
        "browser.sessionstore.interval": 1000,  # milliseconds
        "browser.startup.page": 0,
        "browser.download.dir": f"{folder}",
        "browser.download.folderList": 2,
        "datareporting.policy.dataSubmissionEnabled": False,
        "extensions.getAddons.cache.enabled": False,
        "network.captive-portal-service.enabled": False,
        "network.connectivity-service.enabled": False,
        "services.settings.server": "http://127.0.0.1:1",
        "toolkit.telemetry.enabled": False,
        "toolkit.legacyUserProfileCustomizations.stylesheets": True,
    }
    # Without this, no window is narrower than 500 pixels.
    (folder / "chrome").mkdir(exist_ok=True)
    (folder / "chrome" / "userChrome.css").write_text(":root, body { min-width: 0 !important }")
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(v)});" for name, v in preferences.items())
    (folder / "user.js").write_text("\n".join(lines))
    arguments = ["--marionette", "--no-remote", "--profile", f"{folder}"]
    arguments += [] if display else ["--headless"]
    with _running(
        [PROGRAMS["firefox"], *arguments], folder, {"DISPLAY": display} if display else {}
    ):
        transport = Marionette(port, {})
        try:
            yield transport
        finally:
            transport.close()


@contextmanager
def _webkit(folder: Path, size: tuple[int, int], private: bool) -> Iterator[Transport]:
    browser = next(Path("/usr/lib").glob("*/webkit*gtk-*/MiniBrowser"))
    arguments = ["--automation", "--full-screen"]
    arguments += ["--private"] if private else []
    port = free_port()
    with _screen(folder, size) as display:
        surroundings = {
            "DISPLAY": display,
            "GDK_BACKEND": "x11",
            "XDG_DATA_HOME": f"{folder}/data",
            "XDG_CACHE_HOME": f"{folder}/cache",
            # Containers have no user namespace.
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
        }
        with _running([PROGRAMS["webkit"], f"--port={port}"], folder, surroundings):
            options = {"binary": f"{browser}", "args": arguments}
            transport = DriverOverHTTP(port, {"webkitgtk:browserOptions": options})
            try:
                yield transport
            finally:
                transport.close()


@contextmanager
def _screen(folder: Path, size: tuple[int, int]) -> Iterator[str]:
    """Start an X server that draws to memory; it chooses the number of its display."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", f"{writing}", "-screen", "0", f"{size[0]}x{size[1]}x24"]
    with _running([*command, "-nolisten", "tcp"], folder, descriptor=writing):
        os.close(writing)
        with os.fdopen(reading) as told:
            yield f":{told.readline().strip()}"


@contextmanager
def _running(
    command: Sequence[str],
    folder: Path,
    surroundings: Mapping[str, str] | None = None,
    descriptor: int | None = None,
) -> Iterator[None]:
    """Run a program; at the end, stop it and everything that it started."""
    with (folder / f"{Path(command[0]).name}.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            # Firefox refuses a home that belongs to another user.
            env={**os.environ, **FONTS, "HOME": f"{folder}", **(surroundings or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=() if descriptor is None else (descriptor,),
        )
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


STARTERS = {"chromium": _chromium, "firefox": _firefox, "webkit": _webkit}
