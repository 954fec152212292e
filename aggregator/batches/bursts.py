"""Count reports that came in bursts, from the sizes of batches, because no times are stored.

A sweep runs every few seconds. If at least 2K reports wait, it seals all but K of them. If a batch
has more than K reports, at least the excess over K came since the previous sweep.
"""

from __future__ import annotations

from django.db.models import OuterRef, Subquery

from aggregator.models import Batch
from surveys.models import Wave

# Fewer reports between two sweeps are not a burst. At a steady 10 reports a second, 1 in 200
# million sweeps finds this many.
LEAST_IN_A_BURST = 50


def count_burst_reports(wave: Wave, *, through_batch: int, final: bool) -> int:
    """Return a lower bound on how many reports of batches 1 to through_batch came in bursts.

    `final` means that the newest batch was sealed when the wave closed. If half of the batches stay
    sealed, the newest batch may have a lower number than others.
    """
    newest = Batch.every.filter(wave=OuterRef("wave")).order_by("-pk").values("pk")[:1]
    large = wave.batches.annotate(newest=Subquery(newest)).filter(
        number__lte=through_batch, size__gte=wave.minimum_batch + LEAST_IN_A_BURST
    )
    beyond = [
        # Closing the wave also seals the K reports that every sweep leaves unsealed.
        size - wave.minimum_batch * (2 if final and pk == newest_pk else 1)
        for pk, newest_pk, size in large.values_list("pk", "newest", "size")
    ]
    return sum(count for count in beyond if count >= LEAST_IN_A_BURST)
