"""Store snapshots, which hold counts and estimates as of the looks at a wave."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from aggregator.batches.combinations import count_combinations, list_declared
from aggregator.batches.halves import find_half, settle_half
from aggregator.batches.recounting import recount_tables
from aggregator.batches.sealing import count_sealed, is_over
from aggregator.models import Batch, SealedHalf, Snapshot
from aggregator.results.estimating import compute_estimates
from aggregator.results.groups.halves import can_tell_groups
from aggregator.results.groups.told import find_told
from aggregator.results.looks import EVERYBODY, Replay, list_least
from surveys.models import Wave

logger = logging.getLogger(__name__)
# Increase this whenever the same batches would give different estimates or another format.
METHOD_VERSION = 13
KEPT_PER_WAVE = 200
_FIXED_ENDS = (Wave.Ending.DATE, Wave.Ending.CAP)


def ended_as_frozen(wave: Wave) -> bool:
    """Return whether the wave ended at the date or cap that its manifest fixed.

    Only then is the ordinary interval shown after looks. A wave that was closed by hand keeps the
    level of its last look.
    """
    return not wave.is_open and wave.ending in _FIXED_ENDS


def ended_at_cap(wave: Wave) -> bool:
    """Return whether the wave ended at its cap, which senders of reports can bring about."""
    return not wave.is_open and wave.ending == Wave.Ending.CAP


def update_snapshot(*, wave_id: int) -> Snapshot | None:
    """Decide which looks the newest batches make, and store the newest look.

    Returns the newest snapshot, or None if there has been no look yet. The snapshot is computed
    outside any transaction. If a batch is sealed in the meantime, the next sweep takes account of
    it.
    """
    half = settle_half(wave_id=wave_id, can_tell_groups=can_tell_groups)
    # The snapshot is read before the wave, so a final snapshot always belongs to a closed wave.
    newest = Snapshot.objects.filter(wave=wave_id).order_by("-through_batch").first()
    wave = Wave.objects.get(pk=wave_id)
    # Check whether the wave is over before reading its batches. If no raw reports are left now, all
    # batches exist.
    counts_all = is_over(wave)
    if wave.sealed_half and counts_all and half is None:
        return newest  # closed since `settle_half`, so the next sweep draws the halves
    is_half = half is not None and half.is_sealed
    replay, decided_through = replay_batches(wave=wave, newest=newest)
    if counts_all and decided_through:
        replay.look_at_all(decided_through)
    if replay.through_batch == 0:
        return None
    final = counts_all and not is_half
    if newest is None or _is_outdated(newest, replay, final=final):
        newest = _store(wave=wave, replay=replay, final=final, half=half, newest=newest)
        if newest is None:
            return None
        _drop_old_snapshots(wave=wave)
    wave.snapshots.filter(pk=newest.pk, decided_through__lt=decided_through).update(
        decided_through=decided_through
    )
    return newest


def replay_batches(*, wave: Wave, newest: Snapshot | None) -> tuple[Replay, int]:
    """Replay the batches since a snapshot's looks; also return the last batch's number."""
    replay, last = Replay(wave.description), 0
    if newest is not None:
        last = newest.through_batch
        # Counting a whole half is not a look, so looks begin again after the other half is opened.
        is_current = newest.method_version == METHOD_VERSION and newest.tables is not None
        if is_current and not newest.is_half:
            assert newest.tables is not None
            replay.resume(
                looks=newest.list_looks(len(replay.looks)),
                counts=newest.counts,
                tables=newest.tables,
                total=newest.total,
                totals=newest.totals,
            )
        else:
            replay = Replay(wave.description, looks_from=newest.looks_from)
    recount_tables(wave, after=min(replay.looks))
    batches = wave.batches.filter(number__gt=min(replay.looks)).order_by("number")
    for number, counts, tables in batches.values_list("number", "counts", "tables").iterator():
        replay.take(number, counts, tables)
        last = max(last, number)
    return replay, last


def list_shown_looks(wave: Wave, totals: Sequence[int], *, final: bool) -> list[int]:
    """List the number of reports at each shown look; `totals` has the numbers at all looks.

    The list is empty if the wave ended at the date or cap that its manifest fixed, because nobody
    could then choose the end in view of the results. Results of random subsets are not shown before
    the close, unless an earlier version showed them. Nor are the results of a wave that keeps half
    of its batches sealed.
    """
    if final and ended_as_frozen(wave):
        return []
    manifest = wave.description
    if manifest.sealed_half:
        return []
    was_shown_earlier = wave.snapshots.exclude(earlier_final=None).exists()
    if manifest.drawn is not None and not was_shown_earlier:
        return []
    least = manifest.display_minimum if was_shown_earlier else manifest.crowd
    return [total for total in totals if total >= least]


def _find_final(wave: Wave) -> Snapshot | None:
    return wave.snapshots.filter(final=True).order_by("-through_batch").first()


def list_looks_before_close(wave: Wave) -> list[int]:
    """List the shown looks of a wave that is closed and counted."""
    last = _find_final(wave)
    return list_shown_looks(wave, last.totals if last else [], final=True)


def _is_outdated(newest: Snapshot, replay: Replay, *, final: bool) -> bool:
    return (
        newest.through_batch < replay.through_batch
        or newest.method_version != METHOD_VERSION
        or (final and not newest.final)
    )


def _store(
    *,
    wave: Wave,
    replay: Replay,
    final: bool,
    half: SealedHalf | None,
    newest: Snapshot | None,
) -> Snapshot | None:
    """Store the state of a replay, unless another worker has already stored it as final.

    Returns None if the halves were drawn or opened in the meantime, because other batches then
    count.
    """
    same = wave.snapshots.filter(through_batch=replay.through_batch)
    told = compute_told(wave) if final else ()
    estimates = compute_estimates(
        manifest=wave.description,
        counts=replay.counts,
        tables=replay.tables,
        shown_at=list_shown_looks(wave, replay.totals, final=final),
        told=told,
    )
    values = {
        "looks": replay.looks,
        "looks_from": newest.looks_from if newest else 0,
        "method_version": METHOD_VERSION,
        "final": final,
        "is_half": half is not None and half.is_sealed,
        "total": replay.total,
        "totals": replay.totals,
        "counts": replay.counts,
        "tables": replay.tables,
        "told": list(told),
        "estimates": [result.to_json() for result in estimates],
    }
    with transaction.atomic():
        if wave.sealed_half and not _is_divided_as(wave, half):
            return None
        last = same.select_for_update().filter(final=True, method_version=METHOD_VERSION).first()
        if last and not final:
            return last
        snapshot, _ = Snapshot.objects.update_or_create(
            wave=wave, through_batch=replay.through_batch, defaults=values
        )
    return snapshot


def _is_divided_as(wave: Wave, half: SealedHalf | None) -> bool:
    """Lock the wave, and return whether its halves are still as they were when read."""
    Wave.objects.select_for_update(no_key=True).get(pk=wave.pk)
    found = find_half(wave)
    if found is None or half is None:
        return found is half
    return found.is_sealed == half.is_sealed


def compute_told(wave: Wave) -> tuple[str, ...]:
    """Name the declared questions whose group sizes are shown; verification also calls this."""
    manifest = wave.description
    if not list_declared(manifest):
        return ()
    return find_told(manifest, count_combinations(wave, manifest))


def list_told(wave: Wave) -> list[str]:
    """List the declared questions whose group sizes a closed wave's last snapshot shows."""
    last = _find_final(wave)
    return last.told if last else []


def _drop_old_snapshots(*, wave: Wave) -> None:
    kept = wave.snapshots.order_by("-through_batch").values("pk")[:KEPT_PER_WAVE]
    wave.snapshots.exclude(pk__in=list(kept.values_list("pk", flat=True))).delete()


def find_waves_to_estimate() -> QuerySet[Wave]:
    """Find waves with unevaluated batches, an outdated method, or no final snapshot."""
    newest = Snapshot.objects.filter(wave=OuterRef("pk")).order_by("-through_batch")
    batches = Batch.objects.filter(wave=OuterRef("pk")).order_by("-number")
    waves = Wave.objects.annotate(
        newest_batch=Subquery(batches.values("number")[:1]),
        decided_batch=Coalesce(Subquery(newest.values("decided_through")[:1]), 0),
        seen_final=Coalesce(Subquery(newest.values("final")[:1]), False),
        seen_half=Coalesce(Subquery(newest.values("is_half")[:1]), False),
        seen_version=Subquery(newest.values("method_version")[:1]),
    ).filter(newest_batch__isnull=False)
    # This makes one query per candidate wave, so that the raw reports of other waves are not read.
    candidates: QuerySet[Wave, Any] = (
        waves.filter(
            Q(state=Wave.State.CLOSED) | Q(seen_version=None), seen_final=False, seen_half=False
        )
        .order_by()
        .only("state")
    )
    first_or_last = [
        wave.pk
        for wave in candidates
        if is_over(wave) or (wave.seen_version is None and _may_have_first_look(wave))
    ]
    return waves.filter(
        Q(seen_version__isnull=False, newest_batch__gt=F("decided_batch"))
        | Q(seen_version__lt=METHOD_VERSION)
        | Q(pk__in=first_or_last)
    ).order_by()


def _may_have_first_look(wave: Wave) -> bool:
    """Return whether enough reports are sealed for a first look at the questions for everybody."""
    try:
        least = list_least(wave.description)[EVERYBODY]
    except (ValueError, KeyError, TypeError):
        return True  # broken manifest: only this wave's task fails, not every sweep
    return count_sealed(wave) >= least


class UnreadableSnapshotError(Exception):
    """The stored snapshot names estimands unknown to this code, perhaps after a partial upgrade."""


def recompute_later(snapshot: Snapshot) -> None:
    """Mark a snapshot as made by an older method, so that the next sweep computes it again."""
    Snapshot.objects.filter(pk=snapshot.pk).update(method_version=0)
    logger.error(
        "The snapshot through batch %s of wave %s could not be read and will be computed again. "
        "If this happens again, run manage.py migrate and restart the workers with this release.",
        snapshot.through_batch,
        snapshot.wave_id,
    )


def find_shown(wave: Wave, newest: Snapshot) -> Snapshot | None:
    """Return the snapshot to show: the newest one, one that was shown earlier, or None.

    A snapshot needs at least C reports. Where each person is asked only some blocks of questions, a
    look at one block could add few people, so only the total is shown before the close. The same
    holds if half of the batches will stay sealed, because figures about all batches would reveal
    the figures about the sealed half.
    """
    manifest = wave.description
    comes_early = manifest.drawn is None and not manifest.sealed_half
    is_whole = newest.final or newest.is_half or comes_early
    if newest.earlier_final is not None or (is_whole and newest.total >= wave.crowd):
        return newest
    return wave.snapshots.exclude(earlier_final=None).order_by("-through_batch").first()


def newest_snapshot(wave: Wave) -> Snapshot | None:
    """Return the newest snapshot, or None if an older method made it, so it must be recomputed."""
    newest = wave.snapshots.order_by("-through_batch").first()
    return newest if newest and newest.method_version == METHOD_VERSION else None
