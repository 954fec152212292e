"""The cells of reports from which ratios of two means are estimated.

A share among those who answered, the mean of a scale, an item behind a gate and a follow-up all
have the same form: q = E[A] / E[B], where A and B are functions of the report. Methods for these
ratios need only the cells.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import sqrt

import numpy as np

from privacy.checks import (
    Floats,
    check_number,
    check_numbers,
    check_whole,
    check_whole_counts,
)
from privacy.mechanism.mechanisms import RandomizedResponse


@dataclass(frozen=True, kw_only=True, eq=False)
class RatioCells:
    """Reports in cells, with the two functions of a report whose means form a ratio.

    Attributes
    ----------
    counts : ndarray of float64, shape (cells,)
        Number of reports in each reported cell; at least one report in total.
    numerator, denominator : ndarray of float64, shape (cells,)
        Values of A and B in each cell. The ratio q = E[A] / E[B] lies in [0, 1], and E[B] is the
        share of people who are counted.

    Raises
    ------
    ValueError
        If the counts are not whole, there are no reports, the shapes differ, or a function is not
        finite.

    Notes
    -----
    `residuals` returns A - q B, which has mean 0 at the true q.

    Examples
    --------
    With direct answers, 30 of the 40 people who were asked say yes:

    >>> asked, yes = np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    >>> RatioCells(counts=np.array([30.0, 10, 60]), numerator=yes, denominator=asked).ratio
    0.75
    """

    counts: Floats
    numerator: Floats
    denominator: Floats

    def __post_init__(self) -> None:
        counts = check_whole_counts("counts", self.counts)
        if counts.ndim != 1:
            raise ValueError(f"counts must have one axis, got {self.counts!r}")
        if not counts.any():
            raise ValueError("counts must hold at least one report, got none")
        object.__setattr__(self, "counts", counts.astype(np.float64))
        for name in ("numerator", "denominator"):
            values = check_numbers(name, getattr(self, name))
            if values.shape != counts.shape:
                raise ValueError(f"{name} must have {len(counts)} entries, got {values!r}")
            object.__setattr__(self, name, values)

    @cached_property
    def total(self) -> float:
        return float(self.counts.sum())

    @cached_property
    def counted_share(self) -> float:
        """The unbiased share of people who are counted."""
        return float(self.counts @ self.denominator) / self.total

    @cached_property
    def ratio(self) -> float | None:
        """The ratio of the unbiased means, or None where it appears that no one is counted."""
        if self.counted_share <= 0:
            return None
        return float(self.counts @ self.numerator) / float(self.counts @ self.denominator)

    @cached_property
    def standard_error(self) -> float | None:
        """The standard error of the ratio by the delta method."""
        if self.ratio is None:
            return None
        observed, residuals = self.counts / self.total, self.residuals(self.ratio)
        variance = float(observed @ residuals**2 - (observed @ residuals) ** 2) / self.total
        return sqrt(max(variance, 0.0)) / self.counted_share

    def residuals(self, ratio: float) -> Floats:
        """Compute A - q B, whose mean is 0 if q is the true ratio."""
        return self.numerator - ratio * self.denominator

    def turned(self) -> RatioCells:
        """Return the cells of the same people whose ratio is 1 - q instead of q."""
        return RatioCells(
            counts=self.counts,
            numerator=self.denominator - self.numerator,
            denominator=self.denominator,
        )


def conditional_cells(
    *,
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    event: Collection[int],
    among: Collection[int],
) -> RatioCells:
    """Describe the share of one set of codes among another set.

    Parameters
    ----------
    counts : sequence of int, length k
        Number of reports showing each code.
    mechanism : RandomizedResponse
        The mechanism that produced the reports.
    event : collection of int
        The codes of interest: at least one, all in `among`.
    among : collection of int
        The codes that mean "asked and answered".

    Returns
    -------
    RatioCells
        One cell for each code, with A = (1{event} - |event| c) / d and
        B = (1{among} - |among| c) / d.

    Raises
    ------
    ValueError
        If the counts do not match the mechanism or are not whole, if there are no reports, or if
        the codes are unknown, repeated or not nested.

    Examples
    --------
    >>> refusal = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> cells = conditional_cells(
    ...     counts=[1000, 500, 500], mechanism=refusal, event=[1], among=[0, 1]
    ... )
    >>> round(cells.ratio, 4), round(cells.standard_error, 4)
    (0.1429, 0.0266)
    """
    k = mechanism.symbols
    counted = _check_codes("among", among, range(k))
    wanted = _check_codes("event", event, counted)
    return RatioCells(
        counts=check_whole_counts("counts", counts, shape=(k,)).astype(np.float64),
        numerator=_indicate(wanted, mechanism),
        denominator=_indicate(counted, mechanism),
    )


def scale_cells(
    *, counts: Sequence[int], mechanism: RandomizedResponse, points: Sequence[float]
) -> RatioCells:
    """Describe the mean of a rating scale, mapped to [0, 1], among those who answered.

    Parameters
    ----------
    counts : sequence of int, length k
        Number of reports showing each code. The first codes stand for the points, in order; any
        further codes mean refused or not asked.
    mechanism : RandomizedResponse
        The mechanism that produced the reports.
    points : sequence of float
        The values of 2 to k points, in ascending order.

    Returns
    -------
    RatioCells
        One cell for each code. With x_j the place of point j from 0 to 1, A is (x_j - c sum x) / d
        for the code of this point and - c sum x / d for codes that are not points. B is as for
        `conditional_cells` among the points.

    Raises
    ------
    ValueError
        If the counts do not match the mechanism or are not whole, there are no reports, or the
        points are not ascending, too few or too many.

    Examples
    --------
    >>> five = RandomizedResponse.from_flips(symbols=5, flips=25)
    >>> cells = scale_cells(
    ...     counts=[150, 200, 250, 250, 150], mechanism=five, points=[1, 2, 3, 4, 5]
    ... )
    >>> round(1 + 4 * cells.ratio, 3)
    3.175
    """
    k, c, d = mechanism.symbols, mechanism.other_probability, mechanism.slope
    values = [check_number("points", point) for point in points]
    if not 2 <= len(values) <= k:
        raise ValueError(f"points must be from 2 to {k} numbers, got {points!r}")
    if any(after <= before for before, after in pairwise(values)):
        raise ValueError(f"points must be ascending, got {points!r}")
    places = np.zeros(k)
    places[: len(values)] = (np.array(values) - values[0]) / (values[-1] - values[0])
    return RatioCells(
        counts=check_whole_counts("counts", counts, shape=(k,)).astype(np.float64),
        numerator=(places - c * places.sum()) / d,
        denominator=_indicate(range(len(values)), mechanism),
    )


def _indicate(codes: Collection[int], mechanism: RandomizedResponse) -> Floats:
    """Return the function of a report whose mean is the share of people with one of these codes."""
    shown = np.isin(np.arange(mechanism.symbols), list(codes)).astype(np.float64)
    values: Floats = shown - len(codes) * mechanism.other_probability
    return values / mechanism.slope


def _check_codes(name: str, codes: Collection[int], known: Collection[int]) -> list[int]:
    chosen = [check_whole(name, code) for code in codes]
    if not chosen or len(set(chosen)) != len(chosen) or not set(chosen) <= set(known):
        raise ValueError(f"{name} must be some of the codes {list(known)!r}, got {list(codes)!r}")
    return chosen
