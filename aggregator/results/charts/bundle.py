"""The browser code that renders charts: built from vl-convert, never copied into the project."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path

STATIC_NAME = "charts/vega-bundle.js"
SNIPPET = "window.vegaEmbed=vegaEmbed;"


def build_bundle(*, folder: Path) -> bool:
    """Write the bundle under `folder`; return False if it was already up to date."""
    target = folder / STATIC_NAME
    stamp = target.with_suffix(".version")
    wanted = f"vl-convert-python {version('vl-convert-python')} {SNIPPET}\n"
    if target.is_file() and stamp.is_file() and stamp.read_text() == wanted:
        return False
    import vl_convert  # imported late because it starts threads, which forking breaks

    target.parent.mkdir(parents=True, exist_ok=True)
    # Written under another name, then renamed: an interrupted build leaves no partial bundle.
    partial = target.with_suffix(".partial")
    partial.write_text(vl_convert.javascript_bundle(SNIPPET), encoding="utf-8")
    partial.replace(target)
    stamp.write_text(wanted)
    return True


def hash_bundle(*, folder: Path) -> str:
    return hashlib.sha256((folder / STATIC_NAME).read_bytes()).hexdigest()
