"""Check planned alerts daily while a survey is open, and once after all reports are counted.

This is the sparse vector technique (privacy.central.above_threshold). Noise on the threshold is
drawn at the first check and stored. Every check adds fresh noise to the distance, and the first one
that reaches the threshold ends the alert. Nothing else is stored, so further checks cost nothing.
As for other releases, a file outside the database first records that noise is drawn
(aggregator.releases.drawing).
"""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

from django.db import transaction
from django.db.models import Q, QuerySet

from aggregator.batches.committed import count_committed
from aggregator.models import Release, ReleaseLedger
from aggregator.releases.counters import append_key, find_file, name_start, read_keys
from aggregator.releases.drawing import (
    NEVER_AGAIN,
    attempt,
    give_up,
    is_contradicted,
    suspend,
)
from aggregator.releases.folder import claim_folder, lock_folder
from aggregator.releases.ledger import (
    find_final_counts,
    find_public_day,
    has_final_counts,
    lock_wave,
    read_plan,
)
from aggregator.releases.noise import AlertSampler, prepare_alert_sampler
from aggregator.releases.queries import table_cells
from surveys.leases import Literal
from surveys.manifest.releases import ReleaseRequest
from surveys.models import Wave, today
from surveys.releasing.alerts import MOST_LOOKS, Target, find_target, find_threshold

logger = logging.getLogger(__name__)


def find_alerts_to_look_at() -> QuerySet[Release]:
    """Find active alerts that were not checked today, or whose closed wave is counted."""
    not_today = Q(looked_on=None) | Q(looked_on__lt=today())
    return Release.objects.filter(
        Q(not_today, wave__state=Wave.State.OPEN)
        | Q(has_final_counts("wave"), wave__state=Wave.State.CLOSED),
        state=Literal(Release.State.WATCHING.value),
    ).order_by("pk")


def look_at_alert(release_id: int) -> bool:
    """Check an alert once; return False if no check was due or this server could not make one."""
    release = find_alerts_to_look_at().select_related("wave").filter(pk=release_id).first()
    return release is not None and attempt(release, _look_in)


def _look_in(release: Release, folder: Path) -> None:
    request = ReleaseRequest.from_json(release.request)
    plan = read_plan(release, request, release.wave.description)
    sampler = prepare_alert_sampler(plan)
    claim_folder(folder)
    _look(release, request, sampler, folder)


@transaction.atomic(durable=True)
def _look(release: Release, request: ReleaseRequest, sampler: AlertSampler, folder: Path) -> None:
    # Lock the wave's row first, as charging does. While the row is locked, nothing is sealed.
    wave = lock_wave(release.wave_id)
    ledger = ReleaseLedger.objects.select_for_update().filter(wave=release.wave_id).first()
    found = find_alerts_to_look_at().filter(pk=release.pk).first()
    if wave is None or ledger is None or found is None:
        return  # another worker checked it, or the survey was deleted
    lock_folder(folder)
    path = find_file(folder, bytes(wave.manifest_hash))
    target = find_target(request, wave.description)
    ours = Release.objects.filter(pk=found.pk)
    start = name_start(found.key)
    if ledger.suspended or is_contradicted(wave.pk, path):
        suspend(ledger)
        return
    counted = read_keys(path)
    if found.key in counted or (start in counted and found.noisy_threshold is None):
        give_up(ours, NEVER_AGAIN)
        return
    cells = _count(wave, request, target)
    if cells is None:
        return
    threshold = found.noisy_threshold
    if threshold is None:
        append_key(path, start)
        threshold = sampler.draw_threshold(find_threshold(request))
    ours.update(noisy_threshold=threshold, looked_on=today(), problem="")
    is_alert = sampler.draw_look(target.find_distance(cells)) >= threshold
    if is_alert or not wave.is_open or _is_last_day(found):
        try:
            append_key(path, found.key)
        except OSError:
            # The log shows that this check ended the alert. Another check would draw new noise and
            # give an outcome for which no ε was charged, so the alert is given up.
            logger.exception("release %s: the file that counts draws cannot be written", found.pk)
            give_up(ours, NEVER_AGAIN)
            return
        ours.update(
            state=Release.State.DRAWN,
            result={"alert": is_alert},
            library=sampler.library,
            public_from=max(found.public_from, find_public_day(wave.survey, today())),
        )


def _count(wave: Wave, request: ReleaseRequest, target: Target) -> list[int] | None:
    """Count the codes of all reports so far, or return None if a closed wave is not counted yet."""
    manifest = wave.description
    if wave.is_open:
        return count_committed(wave, manifest, target.symbol.name)
    counted = find_final_counts(wave)
    if counted is None:
        return None
    return table_cells(counted.counts, manifest, request.questions)[target.symbol.name]


def _is_last_day(release: Release) -> bool:
    """Return whether today has the last daily check for which the threshold was chosen."""
    return today() >= release.reserved_on + timedelta(days=MOST_LOOKS - 2)
