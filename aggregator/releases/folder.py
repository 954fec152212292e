"""The folder that counts draws, which is used only if the database knows its identity.

A folder does not know the draws that another folder records. With the wrong folder, a release that
was drawn before a process died or a backup was restored would be drawn again. The database
therefore records the first folder that a worker sees, before any draw. From then on, a worker draws
nothing if its folder is different, lost or not mounted. If releases were drawn before the database
knew any folder, as in an older version, a folder without draws is refused.
"""

from __future__ import annotations

from pathlib import Path

from aggregator.models import Release, ReleaseFolder
from aggregator.releases.counters import has_draws, make_identity, read_identity

ANOTHER = "the database names a different folder, in which draws were counted until now"
WITHOUT_IDENTITY = (
    "it has no identity: it is new, it was emptied, or the folder that belongs here is not mounted"
)
WITHOUT_DRAWS = (
    "it has no record of draws, but the database has releases that were drawn before it recorded "
    "any folder"
)
REMEDY = (
    "mount or share the folder that counts draws, or export MURMUR_RELEASES= where other machines "
    "draw. If it is lost: manage.py replace_releases_folder (docs/operations.md, section 10)."
)


class WrongFolder(Exception):
    """This folder does not count the draws; the message is for the operator."""


def claim_folder(folder: Path) -> None:
    """Make this folder the one that counts draws, if none does yet.

    May raise WrongFolder or OSError.
    """
    if ReleaseFolder.objects.exists():
        return
    if problem := _describe_unclaimed(folder):
        raise WrongFolder(_write(folder, problem))
    identity = make_identity(folder)
    # A second worker keeps the identity that the first worker wrote.
    ReleaseFolder.objects.bulk_create([ReleaseFolder(identity=identity)], ignore_conflicts=True)


def lock_folder(folder: Path) -> None:
    """Make sure that this folder counts the draws until the transaction ends.

    May raise WrongFolder or OSError.
    """
    known = ReleaseFolder.objects.select_for_update().get()
    if problem := _describe(folder, known.identity):
        raise WrongFolder(_write(folder, problem))


def describe_wrong_folder(folder: Path) -> str:
    """Say why draws are not counted in this folder, or return "" if they are or will be.

    May raise OSError.
    """
    known = ReleaseFolder.objects.first()
    return _describe_unclaimed(folder) if known is None else _describe(folder, known.identity)


def _describe(folder: Path, known: str) -> str:
    identity = read_identity(folder)
    if identity == known:
        return ""
    return ANOTHER if identity else WITHOUT_IDENTITY


def _describe_unclaimed(folder: Path) -> str:
    """Say why a folder cannot become the folder that counts draws, or return "" if it can."""
    # Waiting releases prove nothing, because perhaps no worker had a folder yet.
    settled = Release.objects.filter(state__in=(Release.State.DRAWN, Release.State.LOST))
    return WITHOUT_DRAWS if settled.exists() and not has_draws(folder) else ""


def _write(folder: Path, problem: str) -> str:
    return f"MURMUR_RELEASES = {folder}: {problem}. Remedy: {REMEDY}"
