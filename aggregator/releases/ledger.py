"""The ledger of a wave: what its releases spent, and how a new release is reserved.

The loss is entered before the draw and never removed. A worker that dies after the entry can leave
a loss without a figure, but never a figure without its loss.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from functools import lru_cache
from math import fsum

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from aggregator.batches.grouped_cells import Cells
from aggregator.models import Discard, Release, ReleaseLedger, Snapshot
from aggregator.releases.counters import KEY_BYTES, name_start
from privacy.central.composition import advanced_sum, zcdp_epsilon
from privacy.mechanism.composition_with_delta import exact_composition
from surveys.access import Action, ask_again
from surveys.formatting import cap
from surveys.history.recording import lock_survey, record
from surveys.manifest.manifest import HUNDREDTHS, NANOS, USUAL_RELEASE_DELTA, Manifest
from surveys.manifest.releases import ReleaseKind, ReleaseRequest
from surveys.models import Kind, Survey, Verb, Wave, today
from surveys.releasing.choice import NotReleasable, check_beside, check_requested
from surveys.releasing.noise import Mechanism, ReleasePlan, plan_release

State = Release.State


@dataclass(frozen=True, kw_only=True)
class Sums:
    """What all releases of a wave together reveal about who took part; only `basic` is charged.

    The other sums hold with `delta`. A sum that does not apply is None.
    """

    basic: float
    advanced: float | None
    exact: float | None
    zcdp: float | None
    delta: float


@dataclass(frozen=True, kw_only=True)
class Account:
    """What all releases have spent, drawn or not; ε is in hundredths and δ in billionths."""

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
    # The advanced and exact sums apply only to losses without δ.
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
    """Charge a release that was not planned; a worker then draws it.

    If the same release was already planned or requested, return that one at no charge. May raise
    NotReleasable.
    """
    with transaction.atomic(durable=True):
        with suppress(Survey.DoesNotExist):
            lock_survey(wave.survey)
            ask_again(wave.survey, Action.RELEASE)
        locked = lock_wave(wave.pk)
        if locked is None:
            raise NotReleasable("This survey has been deleted.")
        request = check_requested(request, locked.description)
        counted = _find_final(locked)
        _charge_planned(locked, counted)
        known = _find_known(locked, request, counted)
        if known is not None:
            return known
        if locked.survey.public_results_off:
            raise NotReleasable(
                "The public page of this survey is switched off. Switch it on to make a release."
            )
        _check_beside_others(locked, request)
        release = _charge(locked, request, counted)
        facts = {"release": str(release.pk), "epsilon": cap(release.epsilon_hundredths)}
        record(locked.survey, Verb.RELEASED, Kind.RELEASE, facts=facts)
        return release


def reserve_planned(*, wave_id: int) -> None:
    """Charge all planned releases of a counted wave once, however many reports came.

    In an open wave, charge only the alerts.
    """
    with transaction.atomic(durable=True):
        locked = lock_wave(wave_id)
        if locked is None:
            return
        counted = find_final_counts(locked)
        if counted is not None or locked.is_open:
            _charge_planned(locked, counted)


def find_waves_to_release() -> QuerySet[Wave]:
    """Find counted waves with uncharged planned releases, and open ones with uncharged alerts."""
    charged = Release.objects.filter(wave=OuterRef("pk"), planned=True).order_by().values("wave")
    number = Coalesce(Subquery(charged.annotate(all=Count("pk")).values("all")), 0)
    closed = Wave.objects.closed().filter(has_final_counts("pk"), planned_releases__gt=0)
    has_begun = Q(opens_at=None) | Q(opens_at__lte=timezone.now())
    open_ = Wave.objects.open().filter(has_begun, planned_alerts__gt=0)
    return (
        closed.annotate(charged=number).filter(charged__lt=F("planned_releases"))
        | open_.annotate(charged=number).filter(charged__lt=F("planned_alerts"))
    ).order_by()


def has_final_counts(wave: str) -> Q:
    """Return the condition under which `find_final_counts` finds counts; `wave` names a field."""
    own = {"wave": OuterRef(wave)}
    return Exists(Snapshot.objects.filter(**own, final=True)) | Exists(
        Discard.objects.filter(**own, counts__isnull=False)
    )


def lock_wave(wave_id: int) -> Wave | None:
    # Deleting the survey also locks this row, so a release never outlives its wave.
    return (
        Wave.objects.select_for_update(no_key=True, of=("self",))
        .select_related("survey")
        .filter(pk=wave_id)
        .first()
    )


@dataclass(frozen=True, kw_only=True)
class FinalCounts:
    """The counts of each code in a closed wave, and its last batch (0 if there is none)."""

    counts: list[list[int]]
    through_batch: int
    # The cells of planned tables by groups, from the row of discarded reports. If there are
    # batches, there are no cells here, because they can be counted from the batches.
    grouped: Mapping[str, Cells] = field(default_factory=dict)


def find_final_counts(wave: Wave) -> FinalCounts | None:
    """Find the counts for releases, or return None until the last reports are counted.

    Below the minimum batch, there are no counts unless the manifest plans releases.
    """
    last = wave.snapshots.filter(final=True).order_by("-through_batch").first()
    if last is not None:
        return FinalCounts(counts=last.counts, through_batch=last.through_batch)
    kept = Discard.objects.filter(wave=wave).first()
    if kept is None or kept.counts is None:
        return None
    return FinalCounts(counts=kept.counts, through_batch=0, grouped=kept.grouped)


def _find_final(wave: Wave) -> FinalCounts:
    if wave.is_open:
        raise NotReleasable("Releases are made after the survey has closed.")
    counted = find_final_counts(wave)
    if counted is None:
        raise NotReleasable("There is nothing to release until all reports are counted.")
    return counted


def _find_known(wave: Wave, request: ReleaseRequest, counted: FinalCounts) -> Release | None:
    same = wave.releases.filter(request_hash=request.digest, through_batch=counted.through_batch)
    return same.exclude(state=Release.State.LOST).first()


def _check_beside_others(wave: Wave, request: ReleaseRequest) -> None:
    stored = wave.releases.exclude(state=Release.State.LOST).values_list("request", flat=True)
    check_beside(request, map(ReleaseRequest.from_json, stored))


def _charge_planned(wave: Wave, counted: FinalCounts | None) -> None:
    """Charge uncharged planned releases; in an open wave, charge only its alerts."""
    charged = set(wave.releases.filter(planned=True).values_list("request_hash", flat=True))
    for request in wave.description.planned_releases or ():
        if request.digest not in charged and (counted or request.kind.comes_while_open):
            _charge(wave, request, counted, planned=True)


def _charge(
    wave: Wave, request: ReleaseRequest, counted: FinalCounts | None, *, planned: bool = False
) -> Release:
    manifest = wave.description
    ReleaseLedger.objects.bulk_create([_new_ledger(wave, manifest)], ignore_conflicts=True)
    ledger = ReleaseLedger.objects.select_for_update().get(wave=wave)
    plan = plan_release(
        request, manifest, delta_nanos_left=ledger.delta_cap_nanos - ledger.delta_spent_nanos
    )
    # If everything counts as spent, planned releases still get a row, which a worker gives up.
    if not (planned and ledger.suspended) and not _spend(ledger, plan):
        raise NotReleasable(_describe_left(ledger, plan))
    return Release.objects.create(
        wave=wave,
        key=secrets.token_hex(KEY_BYTES),
        kind=request.kind,
        request=request.to_json(),
        request_hash=request.digest,
        through_batch=counted.through_batch if counted else 0,
        state=State.WATCHING if request.kind.comes_while_open else State.RESERVED,
        planned=planned,
        mechanism=plan.mechanism,
        scale=str(plan.scale),
        epsilon_hundredths=plan.epsilon_hundredths,
        delta_nanos=plan.delta_nanos,
        rho=plan.rho,
        public_from=find_public_day(wave.survey, today()),
    )


def _spend(ledger: ReleaseLedger, plan: ReleasePlan) -> bool:
    """Charge a loss in one atomic statement if enough is left; return whether it was charged."""
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
    """Return the day from which readers see a release: the next day, except for invented data.

    Pages therefore change at midnight, and the moment of a change says nothing about answers.
    """
    return drawn_on if survey.origin != Survey.Origin.SURVEY else drawn_on + timedelta(days=1)


def read_plan(release: Release, request: ReleaseRequest, manifest: Manifest) -> ReleasePlan:
    """Return the noise that a release was charged for, with its question's current sensitivity."""
    today_plan = plan_release(request, manifest, delta_nanos_left=release.delta_nanos)
    return ReleasePlan(
        mechanism=Mechanism(release.mechanism),
        scale=Fraction(release.scale),
        sensitivity=today_plan.sensitivity,
        is_monotone=today_plan.is_monotone,
        draws=today_plan.draws,
        epsilon_hundredths=release.epsilon_hundredths,
        delta_nanos=release.delta_nanos,
        rho=release.rho,
    )


def list_keys(releases: Iterable[Release]) -> tuple[set[str], set[str]]:
    """Return the keys of these releases that the file may have, and the keys that it must have."""
    known, drawn = set(), set()
    for release in releases:
        known.add(release.key)
        if release.state == Release.State.DRAWN:
            drawn.add(release.key)
        if release.kind == ReleaseKind.ALERT:
            known.add(name_start(release.key))
        if release.looked_on is not None:
            drawn.add(name_start(release.key))
    return known, drawn
