"""The mean of a rating scale in the unit of its points, from the cells and intervals of ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.ratio_cells import scale_cells
from privacy.shares.scales import relaxed_likelihood_interval


@dataclass(frozen=True, kw_only=True)
class ScaleMean:
    mean: float | None
    standard_error: float | None
    low: float
    high: float


def estimate_scale_mean(
    *,
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    points: Sequence[float],
    level: float = 0.95,
) -> ScaleMean:
    cells = scale_cells(counts=counts, mechanism=mechanism, points=points)
    kept = relaxed_likelihood_interval(cells=cells, level=level)
    first, width = points[0], points[-1] - points[0]
    return ScaleMean(
        mean=None if cells.ratio is None else first + width * cells.ratio,
        standard_error=None if cells.standard_error is None else width * cells.standard_error,
        low=first + width * kept.low,
        high=first + width * kept.high,
    )
