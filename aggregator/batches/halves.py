"""The sealed half is a random half of a closed wave's batches that is not shown before its test.

The system's random source draws the halves after the last batch is sealed and before anything is
shown. Nobody can know beforehand in which half a report will be, and nobody can choose a draw by
its results. The draw depends only on the sizes of the batches.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from django.db import transaction
from django.db.models import F, Max, Sum
from django.utils import timezone

from aggregator.batches.sealing import is_over
from aggregator.models import Batch, SealedHalf
from surveys.manifest.manifest import BATCHES_FOR_HALVES
from surveys.models import Wave

# Each half has at least two fifths of the reports.
LEAST_FIFTHS, ALL_FIFTHS = 2, 5
# With 20 batches of equal size, about three quarters of random divisions qualify.
DRAWS = 10_000
FEW_BATCHES = (
    "The reports came in {batches:,} batches. Halves need at least "
    f"{BATCHES_FOR_HALVES}, so nothing was kept sealed."
)
FEW_REPORTS = (
    "Each half needs {crowd:,} reports, but there are {reports:,} in all. So nothing was kept "
    "sealed."
)
UNEVEN = (
    "The batches are too different in size to make two halves with at least two fifths of the "
    "reports each. So nothing was kept sealed."
)


class HalfIsOpen(Exception):
    """The sealed half has already been opened, perhaps from another window."""


@transaction.atomic
def settle_half(*, wave_id: int, can_tell_groups: Callable[[Wave], bool]) -> SealedHalf | None:
    """Return the halves of an ended wave, drawing them if needed, or None before the wave's end.

    The result is also None if the wave keeps nothing sealed. Drawing deletes earlier snapshots,
    which count all batches and have not been shown to anyone.
    """
    wave = Wave.objects.select_for_update(no_key=True).get(pk=wave_id)
    if not wave.sealed_half or not is_over(wave):
        return None
    found = find_half(wave)
    if found is not None:
        return found
    batches = list(Batch.every.filter(wave=wave).order_by("number").values_list("pk", "size"))
    if not batches:
        return None
    sizes = [size for _, size in batches]
    sides = draw_sides(sizes, crowd=wave.crowd)
    if sides is None:
        problem = _explain(sizes, crowd=wave.crowd)
        return SealedHalf.objects.create(wave=wave, problem=problem)
    _divide(wave, [pk for pk, _ in batches], sides)
    wave.snapshots.all().delete()
    return SealedHalf.objects.create(
        wave=wave, through_batch=sides.count(False), has_groups=can_tell_groups(wave)
    )


def find_half(wave: Wave) -> SealedHalf | None:
    return SealedHalf.objects.filter(wave=wave).first()


def draw_sides(sizes: Sequence[int], *, crowd: int) -> list[bool] | None:
    """Draw which batches stay sealed; all divisions that qualify are equally likely.

    Return None if no division qualifies or no draw finds one.
    """
    total = sum(sizes)
    least = max(crowd, -(-LEAST_FIFTHS * total // ALL_FIFTHS))
    if len(sizes) < BATCHES_FOR_HALVES or total < 2 * least:
        return None
    for _ in range(DRAWS):
        bits = secrets.randbits(len(sizes))
        sides = [bool(bits >> place & 1) for place in range(len(sizes))]
        held = sum(size for size, is_held in zip(sizes, sides, strict=True) if is_held)
        if least <= held <= total - least:
            return sides
    return None


def _explain(sizes: Sequence[int], *, crowd: int) -> str:
    if len(sizes) < BATCHES_FOR_HALVES:
        return FEW_BATCHES.format(batches=len(sizes))
    if sum(sizes) < 2 * crowd:
        return FEW_REPORTS.format(crowd=crowd, reports=sum(sizes))
    return UNEVEN


def _divide(wave: Wave, keys: Sequence[int], sides: Sequence[bool]) -> None:
    """Number the open batches before the sealed ones, so that results read only the open ones."""
    own = Batch.every.filter(wave=wave)
    newest: int = own.aggregate(newest=Max("number"))["newest"]
    own.update(number=F("number") + newest)  # so that the new numbers are free
    in_order = [(key, False) for key, is_held in zip(keys, sides, strict=True) if not is_held]
    in_order += [(key, True) for key, is_held in zip(keys, sides, strict=True) if is_held]
    for number, (key, is_held) in enumerate(in_order, start=1):
        own.filter(pk=key).update(number=number, is_held=is_held)


def find_half_with_groups(wave: Wave, *, through_batch: int) -> SealedHalf | None:
    """Find the half whose open batches end at `through_batch`, if its tables may have groups."""
    return SealedHalf.objects.filter(
        wave=wave, through_batch=through_batch, has_groups=True
    ).first()


def count_held(wave: Wave) -> int:
    """Count the reports of the sealed half; the wave's other reports are in the open half."""
    held = Batch.every.filter(wave=wave, is_held=True)
    return held.aggregate(reports=Sum("size"))["reports"] or 0


def release_held(half: SealedHalf) -> int:
    """Open the sealed half, so that all batches are shown; return the last batch's number.

    The half must be locked.
    """
    if not half.is_sealed:
        raise HalfIsOpen
    own = Batch.every.filter(wave=half.wave_id)
    own.update(is_held=False)
    half.opened_on = timezone.now().date()
    half.save(update_fields=["opened_on"])
    newest: int = own.aggregate(newest=Max("number"))["newest"]
    return newest
