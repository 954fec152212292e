"""Which OpenDP is installed, told without loading it."""

from __future__ import annotations

from importlib import metadata

# Another release may state its losses in another way, or draw in another way.
SERIES = "0.16."


def find_version() -> str:
    """Return the version that is installed; empty if there is none."""
    try:
        return metadata.version("opendp")
    except metadata.PackageNotFoundError:
        return ""


def is_expected(version: str) -> bool:
    return version.startswith(SERIES)
