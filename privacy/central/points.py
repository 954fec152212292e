"""The mean of a rating scale from a protected table.

The counts of all points are released with noise, and the mean of the reported points is computed
from them. The channel pulls this mean towards the middle of the scale; inverting the channel
undoes the pull.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt

from scipy.special import ndtri

from privacy.central.table import SpreadParts
from privacy.checks import (
    check_level,
    check_not_negative,
    check_number,
    check_numbers,
    check_share,
    check_whole_counts,
)
from privacy.level import LEVEL


@dataclass(frozen=True, kw_only=True)
class TableMean:
    """The mean of a scale's points with its interval, in points.

    Attributes
    ----------
    value : float
        Estimate; it may lie outside the scale.
    low, high : float
        Ends of the interval, which lies within the scale.
    parts : SpreadParts
        Standard error of `value` in points, and its parts.
    """

    value: float
    low: float
    high: float
    parts: SpreadParts


def table_mean(
    *,
    counts: Sequence[int],
    points: Sequence[float],
    other_probability: float,
    slope: float,
    noise_variance: float,
    level: float = LEVEL,
) -> TableMean:
    """Estimate the mean of a scale from the noisy counts of all of its codes.

    Parameters
    ----------
    counts : sequence of int
        Noisy count of each point. Counts may be negative, but their sum n must be at least 1. The
        symbol must have no other codes.
    points : sequence of float
        Finite value of each point. There are as many values as counts, and they are not all equal.
    other_probability, slope : float
        c and d of the channel: a report shows a point with probability c + d p.
    noise_variance : float
        Variance v of the noise of one cell, at least 0.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    TableMean
        value is (A - c W) / d, where A is the mean of the reported points and W is the sum of the
        values in `points`.

    Raises
    ------
    ValueError
        If counts and points differ in number, all points are equal, the counts sum to less than
        one, or a parameter is out of range.

    Notes
    -----
    The interval is a score interval, as in `privacy.central.table.table_interval`: the set of all
    means Y of reported points with (A - Y)**2 <= z**2 (E (w - Y)**2 / n + v sum((w_j - Y)**2) /
    n**2), where E (w - Y)**2 = s**2 + (A - Y)**2 and s**2 is the variance of the reported points.
    If the noise of n alone is so large that the set has no ends, the interval is the whole scale.

    References
    ----------
    Fieller, E. C. (1954), Some problems in interval estimation, JRSS B 16(2), section 3 (a ratio).

    Examples
    --------
    >>> found = table_mean(counts=[195, 180, 240, 210, 178], points=[1, 2, 3, 4, 5],
    ...                    other_probability=1 / 7, slope=2 / 7, noise_variance=7.835396178)
    >>> round(found.value, 6), round(found.low, 6), round(found.high, 6)
    (2.986042, 2.682618, 3.289461)
    """
    cells = check_whole_counts("counts", counts, at_least=-(2**53)).astype(float)
    values = check_numbers("points", points)
    if cells.ndim != 1 or values.shape != cells.shape:
        raise ValueError(f"points must be as many as counts, got {points!r} and {counts!r}")
    least, greatest = float(values.min()), float(values.max())
    if least == greatest:
        raise ValueError(f"points must differ, got {points!r}")
    c = check_share("other_probability", other_probability, ends="[)")
    d = check_number("slope", slope)
    if not 0 < d <= 1:
        raise ValueError(f"slope must lie in (0, 1], got {slope!r}")
    v = check_not_negative("noise_variance", noise_variance)
    z = float(ndtri((1 + check_level(level)) / 2))
    n = float(cells.sum())
    if n < 1:
        raise ValueError(f"counts must sum to at least 1, got {counts!r}")

    middle = float(values.mean())
    centred = values - middle  # the values sum to zero, so c W is 0 in all formulas below
    shown = cells / n
    reported = float(centred @ shown)
    variance = max(float(centred**2 @ shown) - reported**2, 0.0)
    squares = float(centred @ centred)
    low, high = _solve(
        reported=reported, spread=variance / n + v * squares / n**2, z=z, n=n, noise=v * len(cells)
    )

    def place(value: float) -> float:
        return min(max(middle + value / d, least), greatest)

    return TableMean(
        value=middle + reported / d,
        low=place(low),
        high=place(high),
        parts=_divide(
            true=[(share - c) / d for share in shown.tolist()],
            centred=centred.tolist(),
            reporting=variance / n / d**2,
            publishing=v * (squares + len(cells) * reported**2) / n**2 / d**2,
            n=n,
        ),
    )


def _solve(
    *, reported: float, spread: float, z: float, n: float, noise: float
) -> tuple[float, float]:
    """Solve the quadratic for the mean of the reported points, measured from the middle."""
    kept = 1 - z * z / n
    a = kept - z * z * noise / n**2
    if a <= 0:
        return -float("inf"), float("inf")
    b, e = kept * reported, kept * reported**2 - z * z * spread
    half = sqrt(max(b * b - a * e, 0.0))
    return (b - half) / a, (b + half) / a


def _divide(
    *, true: list[float], centred: list[float], reporting: float, publishing: float, n: float
) -> SpreadParts:
    """Divide the variance among people, scrambling and publication."""
    kept = [max(share, 0.0) for share in true]
    total = fsum(kept) or 1.0
    mean = fsum(w * p for w, p in zip(centred, kept, strict=True)) / total
    asking = fsum((w - mean) ** 2 * p for w, p in zip(centred, kept, strict=True)) / total / n
    return SpreadParts(
        people=sqrt(asking),
        scrambling=sqrt(max(reporting - asking, 0.0)),
        publication=sqrt(publishing),
        total=sqrt(max(reporting, asking) + publishing),
    )
