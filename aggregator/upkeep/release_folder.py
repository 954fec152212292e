"""Replace a lost folder that counted draws, so that nothing is drawn a second time.

Someone may know draws that only the lost folder recorded. A database that was never restored lacks
only interrupted draws, so waiting releases are given up. A restored database may lack whole
releases, so everything that its surveys may publish counts as spent. It may also lack the test of a
sealed half, so claims that it shows as untested are never tested.
"""

from __future__ import annotations

from pathlib import Path

from django.db import transaction
from django.db.models import Q

from aggregator.comparisons.opening import name_test
from aggregator.models import Release, ReleaseFolder, ReleaseLedger, SealedHalf
from aggregator.releases.counters import (
    UNKNOWN_DRAWS,
    append_new_keys,
    find_file,
    make_identity,
)
from aggregator.releases.drawing import give_up, suspend
from aggregator.releases.ledger import list_keys
from surveys.manifest.manifest import Publication
from surveys.models import Wave

RECORD_LOST = (
    "The record of draws was lost while this release waited. Its cost stays spent, because the "
    "figure may be known. Tables, leaders and medians can be made again at the same cost."
)


class NotLost(Exception):
    """The folder is the one that counts draws, so there is nothing to replace."""


@transaction.atomic(durable=True)
def replace_folder(folder: Path, *, is_restored: bool) -> int:
    """Count draws in this folder from now on.

    `is_restored` says that the database may lack drawn releases. If the database was restored,
    return the number of waves that publish and test nothing more, otherwise the number of releases
    given up. If this function stops halfway, it can run again. May raise NotLost or OSError.
    """
    identity = make_identity(folder)
    # Lock rows in the same order as draws. From here on, no draw is under way.
    ledgers = list(ReleaseLedger.objects.select_for_update().order_by("pk"))
    known = ReleaseFolder.objects.select_for_update().first()
    # After a restore, a worker may have taken an empty folder before anyone could call this.
    if known is not None and known.identity == identity and not is_restored:
        raise NotLost
    is_counted = Q(survey__publication=Publication.PROTECTED) | Q(sealed_half=True)
    waves = list(Wave.objects.filter(is_counted).order_by("pk"))
    given_up = 0
    if is_restored:
        for ledger in ledgers:
            suspend(ledger)
    else:
        given_up = give_up(Release.objects.all(), RECORD_LOST)
    for wave in waves:
        _, drawn = list_keys(wave.releases.all())
        opened = SealedHalf.objects.filter(wave=wave, opened_on__isnull=False)
        # If a wave has no ledger yet, `UNKNOWN_DRAWS` stops it before its first release is drawn.
        unknown = [UNKNOWN_DRAWS] if is_restored else []
        append_new_keys(
            find_file(folder, bytes(wave.manifest_hash)),
            [*drawn, *map(name_test, opened), *unknown],
        )
    ReleaseFolder.objects.update_or_create(pk=1, defaults={"identity": identity})
    return len(waves) if is_restored else given_up
