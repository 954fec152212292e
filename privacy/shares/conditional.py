"""Shares among the people who were asked and answered.

A question with "prefer not to say" or behind a rule has more symbols than answers. Readers want the
share of one answer among all answers, which is a ratio of two estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, sqrt

from scipy.special import chdtri

from privacy.checks import check_level, check_whole
from privacy.level import LEVEL
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.ratio_cells import conditional_cells

_HALVINGS = 50


@dataclass(frozen=True, kw_only=True)
class ConditionalShare:
    """The share of one symbol among a set of symbols.

    Attributes
    ----------
    share : float or None
        With method "likelihood_ratio_conditional", the ratio of the unbiased estimates, a fraction
        that may lie outside [0, 1]; with "likelihood_ratio_joint", the most likely share. None
        where the estimated share of those who answered is not positive, because the ratio is then
        undefined.
    standard_error : float or None
        Standard error of `share`, by the delta method; None where `share` is None.
    among_share : float
        Estimated share of people who were asked and answered: unbiased and unclipped with the first
        method, the most likely share with the second.
    low, high : float
        Ends of the interval, 0 <= low <= high <= 1.
    level : float
        Confidence level.
    method : str
        "likelihood_ratio_conditional" or "likelihood_ratio_joint".
    """

    share: float | None
    standard_error: float | None
    among_share: float
    low: float
    high: float
    level: float
    method: str


def likelihood_ratio_share(
    *,
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    symbol: int,
    among: Sequence[int],
    level: float = LEVEL,
) -> ConditionalShare:
    """Estimate the share of a symbol among a set of symbols, even where few answers are swapped.

    Parameters
    ----------
    counts : sequence of int, length k
        Number of reports showing each symbol.
    mechanism : RandomizedResponse
        The mechanism that produced the reports.
    symbol : int
        The symbol of interest, one of `among`.
    among : sequence of int
        The symbols that mean "asked and answered": at least two, and not all.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    ConditionalShare
        The estimate, with method "likelihood_ratio_conditional". The interval is never empty and
        may be all of [0, 1].

    Raises
    ------
    ValueError
        If the counts do not match the mechanism or are not whole, there are no reports, a symbol
        is unknown, or level is out of range.

    Notes
    -----
    The reports fall into three cells: the symbol, the other answers and the rest. Let L be the
    log-likelihood of the cells, and L(q) its maximum given the share q among the answers. A share q
    is kept if 2 (max L - L(q)) is at most the chi-square quantile of the level, with one degree of
    freedom. The likely cell shares form a convex set, so the values of q that are kept form an
    interval. It is valid for one look at the data, with the amount of data fixed in advance.

    The exact coverage of 95 % intervals at n = 200, over shares 0, .02, ..., 1 where 10 to 100 % of
    people answer, is at least .94 up to epsilon = 4. Coverage is about .975 where the share is near
    0 or 1, or where it is plausible that no one answered.

    References
    ----------
    Wilks, S. S. (1938), Annals of Mathematical Statistics 9(1), p. 62 (theorem).

    Examples
    --------
    >>> refusal = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> found = likelihood_ratio_share(
    ...     counts=[1000, 500, 500], mechanism=refusal, symbol=1, among=[0, 1]
    ... )
    >>> round(found.share, 4), round(found.low, 3), round(found.high, 3)
    (0.1429, 0.091, 0.195)
    """
    level = check_level(level)
    if not 2 <= len(among) < mechanism.symbols:
        raise ValueError(f"among must be at least two codes, but not all, got {list(among)!r}")
    if check_whole("symbol", symbol) not in among:
        raise ValueError(f"symbol must be one of {list(among)!r}, got {symbol!r}")
    cells = conditional_cells(counts=counts, mechanism=mechanism, event=[symbol], among=among)
    low, high = _invert_likelihood_ratio(_Cells.of(counts, mechanism, symbol, among), level)
    return ConditionalShare(
        share=cells.ratio,
        standard_error=cells.standard_error,
        among_share=cells.counted_share,
        low=low,
        high=high,
        level=level,
        method="likelihood_ratio_conditional",
    )


@dataclass(frozen=True, kw_only=True)
class _Cells:
    """Reports in three cells: the symbol, the other answers and all other reports."""

    counts: tuple[int, int, int]
    # The smallest reported share of each cell, reached if no true symbol is in it.
    floors: tuple[float, float, float]
    d: float

    @classmethod
    def of(
        cls,
        counts: Sequence[int],
        mechanism: RandomizedResponse,
        symbol: int,
        among: Sequence[int],
    ) -> _Cells:
        answered, c = sum(counts[code] for code in among), mechanism.other_probability
        return cls(
            counts=(counts[symbol], answered - counts[symbol], sum(counts) - answered),
            floors=(c, (len(among) - 1) * c, (mechanism.symbols - len(among)) * c),
            d=mechanism.slope,
        )


def _invert_likelihood_ratio(cells: _Cells, level: float) -> tuple[float, float]:
    inside = _most_likely_ratio(cells)
    limit = _best_log_likelihood(cells, inside) - float(chdtri(1, 1 - level)) / 2

    def keeps(ratio: float) -> bool:
        return _best_log_likelihood(cells, ratio) >= limit

    low = 0.0 if keeps(0.0) else _halve(keeps, kept=inside, dropped=0.0)
    high = 1.0 if keeps(1.0) else _halve(keeps, kept=inside, dropped=1.0)
    return low, high


def _most_likely_ratio(cells: _Cells) -> float:
    shares = zip(_most_likely_reported(cells), cells.floors, strict=True)
    symbol, others, _ = (max(reported - floor, 0.0) for reported, floor in shares)
    # If no one answered, all ratios are equally likely.
    return symbol / (symbol + others) if symbol + others > 0 else 0.5


def _most_likely_reported(cells: _Cells) -> tuple[float, float, float]:
    """Find the constrained maximum like `estimation.fit_joint_shares`, with a floor per cell."""
    counts, floors = cells.counts, cells.floors
    free = {0, 1, 2}
    while True:
        room = 1 - sum(floors[cell] for cell in range(3) if cell not in free)
        scale = room / sum(counts[cell] for cell in free)
        symbol, others, rest = (
            counts[cell] * scale if cell in free else floors[cell] for cell in range(3)
        )
        below = {cell for cell in free if counts[cell] * scale < floors[cell]}
        if not below:
            return symbol, others, rest
        free -= below


def _best_log_likelihood(cells: _Cells, ratio: float) -> float:
    """Find the highest log-likelihood with this ratio.

    The log-likelihood is concave in the share of people who answered.
    """
    floors, d = cells.floors, cells.d
    slopes = (d * ratio, d * (1 - ratio), -d)
    starts = (floors[0], floors[1], floors[2] + d)
    answered = _top(cells.counts, starts, slopes)
    terms = zip(cells.counts, starts, slopes, strict=True)
    return sum(n * log(start + slope * answered) for n, start, slope in terms if n)


def _top(
    counts: tuple[int, int, int],
    starts: tuple[float, float, float],
    slopes: tuple[float, float, float],
) -> float:
    """Find where in [0, 1] the sum of n ln(start + slope x) is highest.

    Multiplied by all three cells, the derivative is a quadratic that opens downwards. Where all
    cells are positive, the quadratic is positive to the left of its larger root.
    """
    (n, m, o), (a, b, c), (x, y, z) = counts, starts, slopes
    square = x * y * z * (n + m + o)
    linear = n * x * (b * z + c * y) + m * y * (a * z + c * x) + o * z * (a * y + b * x)
    constant = n * x * b * c + m * y * a * c + o * z * a * b
    root = sqrt(max(linear * linear - 4 * square * constant, 0.0))
    if linear > 0:
        top = -(linear + root) / (2 * square) if square < 0 else 1.0
    else:
        top = 2 * constant / (root - linear) if root > linear else 0.0
    return min(max(top, 0.0), 1.0)


def _halve(keeps: Callable[[float], bool], *, kept: float, dropped: float) -> float:
    for _ in range(_HALVINGS):
        middle = (kept + dropped) / 2
        if keeps(middle):
            kept = middle
        else:
            dropped = middle
    return dropped
