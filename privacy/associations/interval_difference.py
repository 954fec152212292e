"""The difference of two independent estimates, such as two groups, from their intervals alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, isfinite


@dataclass(frozen=True, kw_only=True)
class IntervalEstimate:
    """An estimate with its interval.

    Attributes
    ----------
    value : float
        The unclipped estimate, which may lie outside [least, greatest] and outside the interval.
    low, high : float
        Ends of the interval, in [least, greatest].
    least, greatest : float, optional
        The smallest and the largest possible value.
    """

    value: float
    low: float
    high: float
    least: float = 0.0
    greatest: float = 1.0

    def __post_init__(self) -> None:
        ends = (self.least, self.low, self.high, self.greatest)
        if not all(map(isfinite, (*ends, self.value))) or list(ends) != sorted(ends):
            raise ValueError(f"low and high must lie in order between the extremes, got {ends!r}")

    @property
    def displayed(self) -> float:
        """The value clipped to its interval."""
        return min(max(self.value, self.low), self.high)

    @property
    def below(self) -> float:
        """Distance from the value to the lower end, corrected if that end was cut off."""
        reach = max(self.value - self.low, 0.0)
        is_cut = self.low - self.least <= self._rounding
        return max(reach, self.high - self.value) if is_cut else reach

    @property
    def above(self) -> float:
        """Distance from the value to the upper end, corrected if that end was cut off."""
        reach = max(self.high - self.value, 0.0)
        is_cut = self.greatest - self.high <= self._rounding
        return max(reach, self.value - self.low) if is_cut else reach

    @property
    def _rounding(self) -> float:
        return 1e-9 * (self.greatest - self.least)


@dataclass(frozen=True, kw_only=True)
class IntervalDifference:
    """The first estimate minus the second.

    Attributes
    ----------
    difference : float
        Difference of the values clipped to their intervals.
    low, high : float
        Ends of the interval, at the level of the two original intervals.
    """

    difference: float
    low: float
    high: float


def difference_of_intervals(
    *, first: IntervalEstimate, second: IntervalEstimate
) -> IntervalDifference:
    """Subtract two independent estimates whose intervals have the same level.

    Parameters
    ----------
    first, second : IntervalEstimate
        Estimates of the same quantity from different people, each with an interval of the same
        level and kind.

    Returns
    -------
    IntervalDifference

    Notes
    -----
    The interval is computed by MOVER, the method of variance estimates recovery. With unclipped
    estimates a and b and their intervals (l, u) and (m, v), the ends are
    a - b - sqrt((a - l)^2 + (v - b)^2) and a - b + sqrt((u - a)^2 + (b - m)^2), clipped to the
    range of possible differences.

    Each end uses the sides of the two intervals that bound the difference there, so the result
    keeps their asymmetry. For Wilson intervals of plain shares, MOVER is Newcombe's method. MOVER
    needs only the two estimates with their intervals, so it also works for ratios and means, whose
    sampling distributions have no simple form. The coverage is close to the coverage of the two
    intervals.

    An end at the smallest or largest possible value says nothing about the error on that side,
    because the interval was cut off there. Such a side is taken to be at least as long as the other
    side. Without this rule, 95 % intervals for the difference between a share of 0 among 100
    reports and a share of .1 among 900 reports, with two coins, contain the true difference in 89 %
    of all cases.

    References
    ----------
    Zou, G. Y. and Donner, A. (2008), Construction of confidence limits about effect measures: a
    general approach, Statistics in Medicine 27(10).
    Newcombe, R. G. (1998), Interval estimation for the difference between independent
    proportions, Statistics in Medicine 17(8), method 10.

    Examples
    --------
    >>> one = IntervalEstimate(value=0.4, low=0.3, high=0.5)
    >>> other = IntervalEstimate(value=0.2, low=0.15, high=0.3)
    >>> found = difference_of_intervals(first=one, second=other)
    >>> round(found.difference, 3), round(found.low, 3), round(found.high, 3)
    (0.2, 0.059, 0.312)
    """
    apart = first.value - second.value
    return IntervalDifference(
        difference=first.displayed - second.displayed,
        low=max(apart - hypot(first.below, second.above), first.least - second.greatest),
        high=min(apart + hypot(first.above, second.below), first.greatest - second.least),
    )
