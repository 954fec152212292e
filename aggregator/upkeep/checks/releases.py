"""Check that workers have what they need to draw releases: OpenDP, and a folder for the record."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage

from aggregator.releases.folder import REMEDY, describe_wrong_folder
from aggregator.releases.library import SERIES, find_version, is_expected
from aggregator.upkeep.checks import messages
from aggregator.upkeep.checks.messages import judge


def check_releases(**_kwargs: Any) -> list[CheckMessage]:
    """Check the library and the folder that draws need, unless another machine draws."""
    if settings.RELEASES is None:
        return []
    return [
        *judge_folder(settings.RELEASES, is_writable=_is_writable(settings.RELEASES)),
        *judge_library(find_version()),
    ]


def check_which_folder() -> list[CheckMessage]:
    """Check with the database that this folder counts the draws, unless another machine draws."""
    if settings.RELEASES is None:
        return []
    try:
        problem = describe_wrong_folder(settings.RELEASES)
    except OSError:
        return []  # `check_releases` reports an unusable folder
    return judge_which_folder(settings.RELEASES, problem=problem)


def judge_folder(folder: Path, *, is_writable: bool) -> list[CheckMessage]:
    return judge(
        messages.RELEASES,
        f"MURMUR_RELEASES = {folder}",
        good=is_writable,
        meaning="Murmur cannot write in this folder, so workers draw no releases.",
        remedy="let the user of the workers own the folder, or export MURMUR_RELEASES= where other "
        "machines draw them.",
    )


def judge_which_folder(folder: Path, *, problem: str) -> list[CheckMessage]:
    return judge(
        messages.RELEASES_FOLDER,
        f"MURMUR_RELEASES = {folder}",
        good=not problem,
        meaning=f"{problem}. Workers here draw no releases.",
        remedy=REMEDY,
    )


def judge_library(version: str) -> list[CheckMessage]:
    return judge(
        messages.OPENDP,
        f"OpenDP {version or 'is not installed'}",
        good=is_expected(version),
        meaning=f"releases are drawn with OpenDP {SERIES}x only, so they wait.",
        remedy="pip install --require-hashes -r requirements.txt, then restart the workers.",
    )


def _is_writable(folder: Path) -> bool:
    """Return whether files can be made in the folder, which the first file creates if necessary."""
    path = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return path.is_dir() and os.access(path, os.W_OK | os.X_OK)
