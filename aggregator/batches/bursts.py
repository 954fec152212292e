"""Reports that came in bursts, as the sizes of batches show: no times are stored.

Every few seconds, a sweep seals all waiting reports but K if 2K wait. So a batch of more than K
reports shows how many came since the sweep before, and nothing about when that was.
"""

from __future__ import annotations

from surveys.models import Wave

# Between two sweeps. At a steady 10 reports a second, so many come in 1 of 200 million sweeps.
LEAST_IN_A_BURST = 50


def count_burst_reports(wave: Wave, *, through_batch: int, final: bool) -> int:
    """Return how many reports of batches 1 to through_batch came in bursts, at least.

    `final` means that the close sealed the last of them.
    """
    large = wave.batches.filter(
        number__lte=through_batch, size__gte=wave.minimum_batch + LEAST_IN_A_BURST
    )
    beyond = [
        # The close also seals the K reports that always wait.
        size - wave.minimum_batch * (2 if final and number == through_batch else 1)
        for number, size in large.values_list("number", "size")
    ]
    return sum(count for count in beyond if count >= LEAST_IN_A_BURST)
