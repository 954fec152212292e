"""The checked counts of one code, and the search for the ends of its interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from privacy.checks import (
    Floats,
    check_channel,
    check_shares,
    check_successes,
    check_together,
)

_MAX_STEPS = 100
_SETTLED = 4e-16  # tolerance for a share: the last bits of a float near 1


@dataclass(frozen=True, kw_only=True, eq=False)
class CodeCounts:
    """Checked input, broadcast to one shape."""

    successes: Floats
    total: Floats
    c: Floats
    d: Floats
    level: Floats

    @property
    def misses(self) -> Floats:
        return self.total - self.successes

    def fall(self, reported: Floats) -> Floats:
        """Return the rate at which the log-likelihood falls as the reported share grows."""
        return self.misses / (1 - reported) - self.successes / reported

    def reported(self, share: Floats) -> Floats:
        """Compute the reported share l = c + d p, which lies strictly between 0 and 1."""
        return self.c + self.d * share

    @property
    def closest(self) -> Floats:
        """The maximum-likelihood share in [0, 1], or 1/2 if there are no reports."""
        reported = self.successes / np.maximum(self.total, 1)
        return np.where(self.total > 0, np.clip((reported - self.c) / self.d, 0.0, 1.0), 0.5)


def check_counts(
    successes: ArrayLike,
    total: ArrayLike,
    other_probability: ArrayLike,
    slope: ArrayLike,
    level: ArrayLike,
    *,
    effective: bool = False,
) -> CodeCounts:
    some, whole = check_successes(successes, total, effective=effective)
    other, kept = check_channel(other_probability, slope)
    levels = check_shares("level", level, ends="()")
    named = {
        "successes": some,
        "total": whole,
        "other_probability": other,
        "slope": kept,
        "level": levels,
    }
    check_together(**named)
    some, whole, other, kept, levels = np.broadcast_arrays(*named.values())
    return CodeCounts(successes=some, total=whole, c=other, d=kept, level=levels)


def search_ends(
    excess: Callable[[Floats], tuple[Floats, Floats]], data: CodeCounts
) -> tuple[Floats, Floats]:
    """Find where the excess over the limit becomes 0, on both sides of the closest share.

    `excess` returns the excess, which is convex in the share, and its derivative with respect to
    the reported share. If Newton's method starts from a rejected end, its steps approach the
    solution and never cross it. The result therefore cuts off only rejected shares.
    """
    inside = data.closest
    share = np.stack([np.zeros_like(inside), np.ones_like(inside)])
    for _ in range(_MAX_STEPS):
        over, by_reported = excess(data.reported(share))
        slope = data.d * by_reported
        # An accepted end is kept. At a rejected end, the slope leads inwards and is not 0.
        going = over > 0
        step = np.where(going, over / np.where(going & (slope != 0), slope, 1.0), 0.0)
        nearer = share - step
        low, high = np.minimum(nearer[0], inside), np.maximum(nearer[1], inside)
        nearer = np.stack([low, high])
        if (np.abs(nearer - share) <= _SETTLED).all():
            break
        share = nearer
    return share[0], share[1]
