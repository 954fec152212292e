"""Measurements of the loss of a mechanism from draws on two neighbouring tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privacy.central.audit import audited_epsilon

RUNS = 100_000
# Each measured loss is above the true loss with probability at most 2e-8. The tests measure fewer
# than fifty losses, from draws that cannot be seeded, so chance makes them fail in less than one of
# a million runs.
LEVEL = 1 - 1e-8


def measure_loss(
    first: NDArray[np.bool_], second: NDArray[np.bool_], *, delta: float = 0.0
) -> float:
    """Return a lower limit of epsilon, given the runs in which a pre-chosen event happened.

    The limit compares the first table with the second; if the event is more likely on the second,
    swap the tables.
    """
    assert len(first) == len(second)
    hits, other_hits = int(first.sum()), int(second.sum())
    found = audited_epsilon(
        hits=hits, other_hits=other_hits, runs=len(first), delta=delta, level=LEVEL
    )
    print(f"runs={len(first)} {hits=} {other_hits=} measured={found:.6f}")
    return found
