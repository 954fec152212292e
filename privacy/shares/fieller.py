"""Fieller's interval for the share of one symbol among some symbols, after a fixed end."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from scipy.special import chdtri

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional_cells import (
    AnswerCells,
    ConditionalShare,
    collect_cells,
    describe_share,
    most_likely_reported,
)


def fieller_share(
    *,
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    symbol: int,
    among: Sequence[int],
    level: float = 0.95,
) -> ConditionalShare:
    """Estimate the share of a symbol among some symbols, for a survey with a fixed end.

    Parameters
    ----------
    counts, mechanism, symbol, among, level
        As for `privacy.shares.conditional.likelihood_ratio_share`.

    Returns
    -------
    ConditionalShare
        With method "fieller". The interval may be all of [0, 1].

    Raises
    ------
    ValueError
        As for `privacy.shares.conditional.likelihood_ratio_share`.

    Notes
    -----
    With l_i the reported shares and A the symbols in `among`, Z(q) = (l_j - c) - q sum_A (l_i - c)
    has mean 0 at the true share q, so q is kept if Z(q)**2 <= x V(q), where x is the chi-square
    quantile and V(q) the variance of 1{j} - q 1{A}, over n, at the most likely reported shares
    among those that the mechanism can produce. This is a quadratic inequality in q; where it leaves
    two pieces of [0, 1], the interval spans both. Significantly fewer reports in A than if nobody
    had answered are a contradiction. Exact coverage of 95 % intervals from n = 200 on is at least
    .94 up to epsilon = ln 3, .93 at 2 and .90 at 4; `likelihood_ratio_share` covers better there.

    References
    ----------
    Fieller, E. C. (1954), Some problems in interval estimation, JRSS B 16(2), section 4.

    Examples
    --------
    >>> refusal = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> found = fieller_share(counts=[1000, 500, 500], mechanism=refusal, symbol=1, among=[0, 1])
    >>> round(found.share, 4), round(found.low, 3), round(found.high, 3)
    (0.1429, 0.09, 0.195)
    """
    cells = collect_cells(counts, mechanism, symbol, among, level)
    return describe_share(cells, _solve_fieller, level=level, method="fieller")


def _solve_fieller(
    cells: AnswerCells, share: float | None, level: float
) -> tuple[float, float, bool]:
    """Solve a q**2 + b q + g <= 0 on [0, 1]."""
    x = float(chdtri(1, 1 - level))
    n = cells.total
    l_j, l_a = cells.symbol / n, (cells.symbol + cells.others) / n
    z_j = l_j - cells.c
    z_a = l_a - (cells.other_codes + 1) * cells.c
    # In an empty cell the raw shares would have no variance: the interval would be far too short
    # and often lie outside [0, 1].
    v_j, v_others, v_rest = most_likely_reported(cells)
    v_a = v_j + v_others
    # Z**2 - x V, as a quadratic in q.
    a = z_a**2 - x * v_a * v_rest / n
    b = -2 * z_j * z_a + 2 * x * v_j * v_rest / n
    g = z_j**2 - x * v_j * (1 - v_j) / n
    nearest = min(1.0, max(0.0, 0.5 if share is None else share))
    discriminant = b * b - 4 * a * g
    if a > 0:
        root = sqrt(max(discriminant, 0.0))
        low, high = (-b - root) / (2 * a), (-b + root) / (2 * a)
        # If the estimated share of answers is negative, the ratio is not one of possible shares.
        if z_a < 0 or high < 0 or low > 1:
            return nearest, nearest, True
        return max(low, 0.0), min(high, 1.0), False
    # It is plausible that nobody answered: the kept set lies outside the roots, or is everything.
    # If the estimated share of answers is negative, signs are reversed and nothing can be
    # concluded.
    if share is None or discriminant <= 0 or a == 0:
        return 0.0, 1.0, False
    root = sqrt(discriminant)
    inner_low, inner_high = sorted(((-b - root) / (2 * a), (-b + root) / (2 * a)))
    if inner_low < 0 and inner_high > 1:
        return nearest, nearest, True
    low = 0.0 if inner_low >= 0 else max(inner_high, 0.0)
    high = 1.0 if inner_high <= 1 else min(inner_low, 1.0)
    return low, high, False
