"""Starts Debian's Chromium under Playwright, for the browser tests and the page benchmark."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from playwright.sync_api import Browser, BrowserType

ARGUMENTS = (
    # Containers have no user namespace and little shared memory.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    # Only the pages under test may use the network.
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Every browser reads this environment variable.
FONTS = {"FONTCONFIG_FILE": str(Path(__file__).with_name("fonts.conf"))}


def launch_chromium(kind: BrowserType, *more: str) -> Browser:
    """Start a headless Chromium; `kind` is Playwright's `playwright.chromium`.

    Debian's headless shell is the same engine without a user interface and uses less than half the
    CPU time. Tests of what a browser keeps start the full browser.
    """
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if path is None:
        raise RuntimeError("Chromium is missing: install the package chromium.")
    return kind.launch(executable_path=path, args=[*ARGUMENTS, *more], env={**os.environ, **FONTS})
