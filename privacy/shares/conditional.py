"""Shares among the people who were asked and answered.

A question with "prefer not to say" or behind a rule has more symbols than answers. Readers want
the share of an answer among the answers, which is a ratio of two estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import lgamma, log, log1p, sqrt

from scipy.special import chdtri

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional_cells import (
    AnswerCells,
    ConditionalShare,
    collect_cells,
    describe_share,
    most_likely_reported,
)

_HALVINGS = 50
_SEQUENCE_PRIOR = 0.5  # parameter of the Dirichlet mixture for each cell


def likelihood_ratio_share(
    *,
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    symbol: int,
    among: Sequence[int],
    level: float = 0.95,
) -> ConditionalShare:
    """Estimate the share of a symbol among some symbols, even where few answers are swapped.

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
        With method "likelihood_ratio_conditional". The interval may be all of [0, 1]; it is never
        empty, so it never reports a contradiction.

    Raises
    ------
    ValueError
        If the counts do not match the mechanism or are not whole, there are no reports, a symbol
        is unknown, or level is out of range.

    Notes
    -----
    The reports fall into three cells: the symbol, the other answers, the rest. With L the
    log-likelihood of the cells and L(q) the highest one with the share q among the answers, q is
    kept if 2 (max L - L(q)) <= the level's quantile of chi-square with one degree of freedom. The
    likely cells are a convex set, so the shares q that are kept form an interval. Valid for one
    look at the data, with the amount of data fixed in advance. Exact coverage of 95 % intervals at
    n = 200, over shares 0, .02, ..., 1 among 10 to 100 % who answer, is at least .94 up to
    epsilon = 4; where a share is near 0 or 1, or it is plausible that nobody answered, it is about
    .975.

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
    cells = collect_cells(counts, mechanism, symbol, among, level)
    return describe_share(
        cells, _invert_likelihood_ratio, level=level, method="likelihood_ratio_conditional"
    )


def dirichlet_sequence_share(
    *,
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    symbol: int,
    among: Sequence[int],
    level: float = 0.95,
) -> ConditionalShare:
    """Estimate the share of a symbol among some symbols, valid at every look.

    Parameters
    ----------
    counts, mechanism, symbol, among, level
        As for `likelihood_ratio_share`.

    Returns
    -------
    ConditionalShare
        With method "dirichlet_sequence". The interval may be all of [0, 1].

    Raises
    ------
    ValueError
        As for `likelihood_ratio_share`.

    Notes
    -----
    The reports fall into three cells: the symbol, the other answers, the rest. Reported shares
    l of the cells are rejected if ln B(1/2 + S) - ln B(1/2) - sum S_i ln l_i >= ln(1 / (1 -
    level)), with B the multivariate beta function: a Dirichlet mixture of likelihood ratios is a
    nonnegative martingale, so by Ville's inequality the probability that the true cells are ever
    rejected is at most 1 - level. The interval is the projection onto the ratio: q is kept if any
    cells with that ratio are.

    References
    ----------
    Robbins, H. (1970), Annals of Mathematical Statistics 41(5), section 3 (mixtures).

    Examples
    --------
    >>> refusal = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> found = dirichlet_sequence_share(
    ...     counts=[1000, 500, 500], mechanism=refusal, symbol=1, among=[0, 1]
    ... )
    >>> round(found.share, 4), round(found.low, 2), round(found.high, 2)
    (0.1429, 0.02, 0.27)
    """
    cells = collect_cells(counts, mechanism, symbol, among, level)
    return describe_share(cells, _project_sequence, level=level, method="dirichlet_sequence")


def _invert_likelihood_ratio(
    cells: AnswerCells,
    share: float | None,  # noqa: ARG001
    level: float,
) -> tuple[float, float, bool]:
    inside = _most_likely_ratio(cells)
    limit = _best_log_likelihood(cells, inside) - float(chdtri(1, 1 - level)) / 2

    def keeps(ratio: float) -> bool:
        return _best_log_likelihood(cells, ratio) >= limit

    low = 0.0 if keeps(0.0) else _halve(keeps, kept=inside, dropped=0.0)
    high = 1.0 if keeps(1.0) else _halve(keeps, kept=inside, dropped=1.0)
    return low, high, False


def _project_sequence(
    cells: AnswerCells, share: float | None, level: float
) -> tuple[float, float, bool]:
    mixture = _log_beta([count + _SEQUENCE_PRIOR for count in cells.counts]) - _log_beta(
        [_SEQUENCE_PRIOR] * len(cells.counts)
    )
    limit = mixture + log1p(-level)
    inside = _most_likely_ratio(cells)

    def keeps(ratio: float) -> bool:
        return _best_log_likelihood(cells, ratio) > limit

    if not keeps(inside):
        nearest = inside if share is None else min(1.0, max(0.0, share))
        return nearest, nearest, True
    low = 0.0 if keeps(0.0) else _halve(keeps, kept=inside, dropped=0.0)
    high = 1.0 if keeps(1.0) else _halve(keeps, kept=inside, dropped=1.0)
    return low, high, False


def _most_likely_ratio(cells: AnswerCells) -> float:
    shares = zip(most_likely_reported(cells), cells.floors, strict=True)
    symbol, others, _ = (max(reported - floor, 0.0) for reported, floor in shares)
    # If nobody answered, all ratios are equally likely.
    return symbol / (symbol + others) if symbol + others > 0 else 0.5


def _best_log_likelihood(cells: AnswerCells, ratio: float) -> float:
    """The highest likelihood with this ratio: concave in the share of those who answered."""
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
    """Where in [0, 1] the sum of n ln(start + slope x) is highest.

    The derivative times all three cells is a quadratic that opens downwards. It is positive to the
    left of its larger root as long as the cells are.
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


def _log_beta(parameters: Sequence[float]) -> float:
    return sum(lgamma(a) for a in parameters) - lgamma(sum(parameters))
