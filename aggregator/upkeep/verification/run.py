"""Verify stored results by computing everything again from the batches.

Verification reads in short statements and holds no transaction open. Batches never change, so they
can be added up while reports arrive and are sealed. Memory does not grow with the number of
batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from aggregator.models import Upkeep
from aggregator.upkeep.verification.differences import Difference, name_wave
from aggregator.upkeep.verification.releases import check_releases
from aggregator.upkeep.verification.results import WaveCheck
from aggregator.upkeep.verification.waves import (
    check_manifest,
    check_reports,
    check_rows_file,
    count_missing,
)
from surveys.models import Wave

# A damaged database may differ everywhere, so the upkeep row does not store every difference.
MOST_STORED = 1000
ACCEPTED = "accepted"
# This is shorter than the time between two nights, and longer than a run may take.
RECENTLY = timedelta(hours=12)


class Verification:
    """One run, which counts what it has checked."""

    def __init__(self) -> None:
        self.waves = self.batches = self.reports = self.snapshots = self.comparisons = 0
        self._accepted = find_accepted_losses()

    def run(self, waves: QuerySet[Wave]) -> Iterator[Difference]:
        for pk in list(waves.values_list("pk", flat=True)):
            wave = Wave.objects.select_related("survey").filter(pk=pk).first()
            if wave is None:
                continue  # deleted since the run began
            self.waves += 1
            differences = list(self._check(wave))
            # Ignore rows that vanished because the owner deleted the survey during the run.
            if differences and Wave.objects.filter(pk=pk).exists():
                yield from differences

    def _check(self, wave: Wave) -> Iterator[Difference]:
        yield from check_reports(wave, accepted=self._accepted.get(str(wave.pk), 0))
        manifest, broken = check_manifest(wave)
        if broken:
            yield broken
        if manifest:
            yield from check_releases(wave, manifest)
            yield from check_rows_file(wave)
            check = WaveCheck(wave, manifest)
            yield from check.run()
            self.batches += check.batches
            self.reports += check.reports
            self.snapshots += check.snapshots
            self.comparisons += check.comparisons


def claim_verification(*, now: datetime) -> bool:
    """Claim tonight's run; return False if one began or ended recently.

    Every beat process sends a message each night, but one run is enough.
    """
    # A time in the future comes from a clock that was set back since; it does not count.
    recent = Q(ended_at__gt=now - RECENTLY, ended_at__lte=now)
    if Upkeep.objects.filter(recent, job=Upkeep.Job.VERIFY).exists():
        return False
    long_ago = datetime.fromtimestamp(0, UTC)
    claim = Upkeep(job=Upkeep.Job.VERIFY_CLAIM, ended_at=long_ago)
    Upkeep.objects.bulk_create([claim], ignore_conflicts=True)
    ours = Upkeep.objects.filter(job=claim.job).exclude(recent).update(ended_at=now)
    return ours == 1


def find_accepted_losses() -> dict[str, int]:
    """Return how many reports are known to be lost, by the wave's primary key as a string."""
    last = Upkeep.objects.filter(job=Upkeep.Job.VERIFY).first()
    losses: dict[str, int] = last.found.get(ACCEPTED, {}) if last else {}
    return losses


def accept_losses(waves: QuerySet[Wave]) -> dict[Wave, int]:
    """Record the reports that are missing now as lost; return how many each wave lost."""
    found = {wave: count_missing(wave) for wave in waves.select_related("survey")}
    losses = {wave: missing for wave, missing in found.items() if missing > 0}
    row, _ = Upkeep.objects.get_or_create(
        job=Upkeep.Job.VERIFY, defaults={"ended_at": datetime.fromtimestamp(0, UTC)}
    )
    kept = find_accepted_losses() | {str(wave.pk): missing for wave, missing in losses.items()}
    row.found = {"differences": [], "count": 0, **row.found, ACCEPTED: kept}
    row.save(update_fields=["found"])
    return losses


def forget_differences(waves: Sequence[Wave]) -> None:
    """Forget findings about waves that are being deleted; findings name waves and count reports."""
    row = Upkeep.objects.select_for_update().filter(job=Upkeep.Job.VERIFY).first()
    if row is None:
        return
    places, gone = tuple(name_wave(wave) for wave in waves), {str(wave.pk) for wave in waves}
    found = row.found.get("differences", [])
    kept = [text for text in found if not text.startswith(places)]
    losses = {pk: lost for pk, lost in row.found.get(ACCEPTED, {}).items() if pk not in gone}
    count = row.found.get("count", 0) - len(found) + len(kept)
    row.found |= {"differences": kept, "count": count, ACCEPTED: losses}
    row.save(update_fields=["found"])


def store_differences(differences: Sequence[Difference]) -> None:
    """Store the time of this verification, and the differences."""
    content = {
        "differences": [str(difference) for difference in differences[:MOST_STORED]],
        "count": len(differences),
        ACCEPTED: find_accepted_losses(),
    }
    Upkeep.objects.update_or_create(
        job=Upkeep.Job.VERIFY, defaults={"ended_at": timezone.now(), "found": content}
    )
