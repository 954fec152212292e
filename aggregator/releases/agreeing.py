"""Count, for key drivers, how many reports of a closed wave agree in two questions.

Batches give this count for every pair. Below the minimum batch there are no batches, and only the
counts for planned key drivers are kept.
"""

from __future__ import annotations

from aggregator.batches.agreements import Pair, count_agreeing, list_pairs
from aggregator.models import Discard
from surveys.manifest.releases import ReleaseRequest
from surveys.models import Wave


def find_agreeing(
    wave: Wave, request: ReleaseRequest, *, through_batch: int
) -> dict[Pair, int] | None:
    """Count agreements in a request's pairs up to a batch, or return None if any was not kept."""
    manifest, pairs = wave.description, list_pairs([request])
    if not through_batch:
        kept = _find_kept(wave)
        return {pair: kept[pair] for pair in pairs} if kept.keys() >= set(pairs) else None
    totals = dict.fromkeys(pairs, 0)
    batches = wave.batches.filter(number__lte=through_batch).order_by("number")
    for packed, size in batches.values_list("packed", "size").iterator(chunk_size=8):
        found = count_agreeing(bytes(packed), size=size, manifest=manifest, pairs=pairs)
        for pair, count in zip(pairs, found, strict=True):
            totals[pair] += count
    return totals


def _find_kept(wave: Wave) -> dict[Pair, int]:
    kept = Discard.objects.filter(wave=wave).values_list("agreeing", flat=True).first()
    planned = list_pairs(wave.description.planned_releases or ())
    return dict(zip(planned, kept, strict=True)) if kept is not None else {}
