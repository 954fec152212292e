"""Open a sealed half: a worker records its claims outside the database and then tests them.

A restored backup may lack the test, but the survey's owner remembers its result. Before anything
shows the sealed reports, a key made from the claims and these reports is therefore written to the
wave's file in the folder that counts draws (aggregator.releases.counters). From then on, only
claims with this key are tested. Their test always gives the same result, even if a worker died
during an earlier test.
"""

from __future__ import annotations

import hashlib
import json
import logging
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from aggregator.batches.halves import release_held
from aggregator.comparisons.claims import list_stored
from aggregator.models import Batch, Comparison, SealedHalf
from aggregator.releases.counters import (
    KEY_BYTES,
    DamagedFile,
    append_new_keys,
    find_file,
    read_keys,
)
from aggregator.releases.folder import WrongFolder, claim_folder, lock_folder
from aggregator.results.snapshots import METHOD_VERSION
from surveys.models import Wave

logger = logging.getLogger(__name__)
TESTED_BEFORE = (
    "The sealed half was opened before a backup of the server was restored. So it can test only "
    "the claims that it tested the first time. Write down exactly those claims, or remove all "
    "claims to open it without a test."
)
NO_RECORD = (
    "The server cannot open the half yet, because it cannot record that the claims are tested. "
    "Nothing is lost. Tell the server’s administrator."
)


def find_halves_to_open() -> QuerySet[SealedHalf]:
    """Find sealed halves for which the test was requested."""
    return SealedHalf.objects.filter(asked_on__isnull=False, opened_on__isnull=True).order_by("pk")


def open_half(*, wave_id: int) -> bool:
    """Open a half and request the tests of its claims, or store why this is impossible.

    Returns False if no half is waiting, this server has no folder for releases, or recording
    failed.
    """
    waiting = find_halves_to_open().filter(wave=wave_id)
    if settings.RELEASES is None or not waiting.exists():
        return False
    try:
        claim_folder(settings.RELEASES)
        _open(wave_id, settings.RELEASES)
    except (OSError, WrongFolder) as error:
        # This is logged only once, although every sweep tries again.
        if waiting.exclude(obstacle=NO_RECORD).update(obstacle=NO_RECORD):
            logger.exception("the half of wave %s waits: %s", wave_id, error)
        return False
    return True


@transaction.atomic(durable=True)
def _open(wave_id: int, folder: Path) -> None:
    # Lock the wave before its half, as when results are stored.
    wave = Wave.objects.select_for_update(no_key=True).get(pk=wave_id)
    half = find_halves_to_open().select_for_update().filter(wave=wave).first()
    if half is None:
        return  # another worker opened it
    lock_folder(folder)
    path, key = find_file(folder, bytes(wave.manifest_hash)), name_test(half)
    if half.claims and find_other_tests(path, key):
        half.asked_on, half.obstacle = None, TESTED_BEFORE
        half.save(update_fields=["asked_on", "obstacle"])
        return
    with suppress(DamagedFile):  # then all claims are refused anyway
        append_new_keys(path, [key])
    # From here on, the claims count as tested, whatever happens.
    _request_tests(half, through_batch=release_held(half))


def _request_tests(half: SealedHalf, *, through_batch: int) -> None:
    # Claims about a share and a difference of the same two answers are tested on one table.
    Comparison.objects.bulk_create(
        Comparison(
            wave_id=half.wave_id,
            through_batch=through_batch,
            method_version=METHOD_VERSION,
            kind=Comparison.Kind.CLAIM,
            names=list(names),
        )
        for names in dict.fromkeys(claim.names for claim in list_stored(half))
    )


def find_other_tests(path: Path, key: str) -> bool:
    """Return whether the file is damaged or records only other tests; may raise OSError."""
    try:
        recorded = read_keys(path)
    except DamagedFile:
        return True
    return bool(recorded) and key not in recorded


def name_test(half: SealedHalf) -> str:
    """Name the test of these claims on these reports; the order of the claims does not matter.

    Keys must stay the same in later versions.
    """
    claims = sorted([*one.names, one.is_higher, one.than or 0] for one in list_stored(half))
    held = Batch.every.filter(wave=half.wave_id, number__gt=half.through_batch)
    reports = sorted(bytes(each).hex() for each in held.values_list("content_hash", flat=True))
    content = json.dumps([claims, reports])
    return hashlib.sha256(content.encode()).hexdigest()[: 2 * KEY_BYTES]
