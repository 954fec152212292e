"""The ledger of a wave: what its releases spent, and the reservation of another one.

The loss is entered before anything is drawn, and is never removed. A worker that dies in between
leaves a loss without a figure, never a figure without its loss.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from math import fsum

from django.db import transaction
from django.db.models import F, Q

from aggregator.models import Release, ReleaseLedger, Snapshot, today
from aggregator.releases.requests import (
    NotReleasable,
    ReleasePlan,
    ReleaseRequest,
    check_request,
    plan_release,
)
from privacy.central.composition import advanced_sum, zcdp_epsilon
from privacy.mechanism.composition_with_delta import exact_composition
from surveys.manifest.manifest import HUNDREDTHS, NANOS, USUAL_RELEASE_DELTA, Manifest
from surveys.models import Survey, Wave

KEY_BYTES = 16


@dataclass(frozen=True, kw_only=True)
class Sums:
    """What all releases of a wave together reveal about taking part; `basic` is what counts.

    The others allow `delta` on top of the factor. A sum is None where it does not apply.
    """

    basic: float
    advanced: float | None
    exact: float | None
    zcdp: float | None
    delta: float


@dataclass(frozen=True, kw_only=True)
class Account:
    """ε in hundredths and δ in billionths; every release counts, drawn or not."""

    cap: int
    spent: int
    delta_cap: int
    delta_spent: int
    suspended: str
    releases: tuple[Release, ...]
    sums: Sums | None  # None while there is no release

    @property
    def left(self) -> int:
        return self.cap - self.spent

    @property
    def delta_left(self) -> int:
        return self.delta_cap - self.delta_spent


def read_account(wave: Wave) -> Account:
    """Read the ledger of a protected wave; before the first release, nothing is spent."""
    manifest = wave.description
    ledger = ReleaseLedger.objects.filter(wave=wave).first() or _new_ledger(wave, manifest)
    releases = tuple(wave.releases.order_by("pk"))
    return Account(
        cap=ledger.cap_hundredths,
        spent=ledger.spent_hundredths,
        delta_cap=ledger.delta_cap_nanos,
        delta_spent=ledger.delta_spent_nanos,
        suspended=ledger.suspended,
        releases=releases,
        sums=_add_up(releases, delta_cap=ledger.delta_cap_nanos) if releases else None,
    )


def _new_ledger(wave: Wave, manifest: Manifest) -> ReleaseLedger:
    return ReleaseLedger(
        wave=wave,
        cap_hundredths=manifest.release_epsilon_hundredths or 0,
        delta_cap_nanos=manifest.release_delta_nanos or 0,
    )


def _add_up(releases: tuple[Release, ...], *, delta_cap: int) -> Sums:
    epsilons = [release.epsilon_hundredths / HUNDREDTHS for release in releases]
    rhos = [release.rho for release in releases if release.rho is not None]
    # These two sums are about losses without δ.
    is_pure = all(release.delta_nanos == 0 for release in releases)
    # Some sums need a δ even in a survey whose own δ is zero.
    delta = (delta_cap or USUAL_RELEASE_DELTA) / NANOS
    return Sums(
        basic=sum(release.epsilon_hundredths for release in releases) / HUNDREDTHS,
        advanced=advanced_sum(epsilons=epsilons, delta=delta) if is_pure else None,
        exact=_compose_exactly(tuple(sorted(epsilons)), delta) if is_pure else None,
        zcdp=zcdp_epsilon(rho=fsum(rhos), delta=delta) if len(rhos) == len(releases) else None,
        delta=delta,
    )


@lru_cache(maxsize=256)
def _compose_exactly(epsilons: tuple[float, ...], delta: float) -> float:
    """Compose releases with different ε, which takes up to half a second."""
    return exact_composition(epsilons=epsilons, delta=delta)


def reserve_release(*, wave: Wave, request: ReleaseRequest) -> Release:
    """Charge a release to the ledger and leave it to a worker to draw; may raise NotReleasable.

    Returns the stored release if the same one was requested before, at no charge.
    """
    with transaction.atomic(durable=True):
        # Deleting the survey locks this row too, so a release never outlives its wave.
        locked = (
            Wave.objects.select_for_update(no_key=True, of=("self",))
            .select_related("survey")
            .filter(pk=wave.pk)
            .first()
        )
        if locked is None:
            raise NotReleasable("This survey has been deleted.")
        request = check_request(request, locked.description)
        snapshot = _find_final(locked)
        known = _find_known(locked, request, snapshot)
        return known or _charge(locked, request, snapshot)


def find_final_snapshot(wave: Wave) -> Snapshot | None:
    """Find what releases are made of: the counts of all reports of a closed wave."""
    return wave.snapshots.filter(final=True).order_by("-through_batch").first()


def _find_final(wave: Wave) -> Snapshot:
    if wave.is_open:
        raise NotReleasable("Releases are made after the survey has closed.")
    snapshot = find_final_snapshot(wave)
    if snapshot is None:
        raise NotReleasable("There is nothing to release until all reports are counted.")
    return snapshot


def _find_known(wave: Wave, request: ReleaseRequest, snapshot: Snapshot) -> Release | None:
    same = wave.releases.filter(request_hash=request.digest, through_batch=snapshot.through_batch)
    return same.exclude(state=Release.State.LOST).first()


def _charge(wave: Wave, request: ReleaseRequest, snapshot: Snapshot) -> Release:
    if wave.survey.public_results_off:
        raise NotReleasable(
            "The public page of this survey is switched off. Switch it on to make a release."
        )
    manifest = wave.description
    ReleaseLedger.objects.bulk_create([_new_ledger(wave, manifest)], ignore_conflicts=True)
    ledger = ReleaseLedger.objects.select_for_update().get(wave=wave)
    plan = plan_release(
        request, manifest, delta_nanos_left=ledger.delta_cap_nanos - ledger.delta_spent_nanos
    )
    if not _spend(ledger, plan):
        raise NotReleasable(_describe_left(ledger, plan))
    return Release.objects.create(
        wave=wave,
        key=secrets.token_hex(KEY_BYTES),
        kind=request.kind,
        request=request.to_json(),
        request_hash=request.digest,
        through_batch=snapshot.through_batch,
        mechanism=plan.mechanism,
        scale=str(plan.scale),
        epsilon_hundredths=plan.epsilon_hundredths,
        delta_nanos=plan.delta_nanos,
        rho=plan.rho,
        public_from=find_public_day(wave.survey, today()),
    )


def _spend(ledger: ReleaseLedger, plan: ReleasePlan) -> bool:
    """Charge a loss if the ledger still has it, in one statement that no other can overtake."""
    epsilon, delta = plan.epsilon_hundredths, plan.delta_nanos
    return 1 == ReleaseLedger.objects.filter(
        Q(spent_hundredths__lte=F("cap_hundredths") - epsilon),
        Q(delta_spent_nanos__lte=F("delta_cap_nanos") - delta),
        pk=ledger.pk,
        suspended="",
    ).update(
        spent_hundredths=F("spent_hundredths") + epsilon,
        delta_spent_nanos=F("delta_spent_nanos") + delta,
    )


def _describe_left(ledger: ReleaseLedger, plan: ReleasePlan) -> str:
    left = (ledger.cap_hundredths - ledger.spent_hundredths) / HUNDREDTHS
    cap, cost = ledger.cap_hundredths / HUNDREDTHS, plan.epsilon_hundredths / HUNDREDTHS
    return f"This release costs ε = {cost:.2f}. Of ε = {cap:.2f}, {left:.2f} is left."


def find_public_day(survey: Survey, drawn_on: date) -> date:
    """Return the day from which readers see a release: the day after, unless it is invented.

    Pages then change with the calendar, and a moment tells nothing about the answers.
    """
    return drawn_on if survey.origin != Survey.Origin.SURVEY else drawn_on + timedelta(days=1)
