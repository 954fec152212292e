"""The installed version of OpenDP, found without loading OpenDP."""

from __future__ import annotations

from importlib import metadata

# Other versions of OpenDP may draw noise or state losses differently.
SERIES = "0.16."


def find_version() -> str:
    """Return the installed version, or an empty string if there is none."""
    try:
        return metadata.version("opendp")
    except metadata.PackageNotFoundError:
        return ""


def is_expected(version: str) -> bool:
    return version.startswith(SERIES)
