"""Shares among those who were asked and answered, and the mean of a number sent as one bit.

A question with "prefer not to say" or behind a rule has more symbols than answers. What people
want to know is the share of an answer among the answers: a ratio of two estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import lgamma, log, log1p, sqrt

from scipy.special import chdtri

from privacy.checks import check_level, check_number, check_whole, check_whole_counts
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.coverage import choose_method
from privacy.shares.estimation import estimate_shares
from privacy.shares.intervals import METHODS

_HALVINGS = 50
_SEQUENCE_PRIOR = 0.5  # of the Dirichlet mixture, each cell


@dataclass(frozen=True, kw_only=True)
class ConditionalShare:
    """The share of one symbol among some symbols.

    Attributes
    ----------
    share : float or None
        Ratio of the unbiased estimates, a fraction that may lie outside [0, 1]; None where the
        estimated share of those who answered is not positive: then there is no ratio.
    standard_error : float or None
        By the delta method; None where `share` is.
    among_share : float
        Estimated share of those who were asked and answered, unclipped.
    low, high : float
        Ends of the interval, 0 <= low <= high <= 1.
    level : float
        Confidence level.
    method : str
        "fieller" and "likelihood_ratio_conditional": hold once, if the end did not depend on
        the data. "dirichlet_sequence": holds at every look.
    contradiction : bool
        True if no share in [0, 1] agrees with the reports; low = high is the nearest then.
    """

    share: float | None
    standard_error: float | None
    among_share: float
    low: float
    high: float
    level: float
    method: str
    contradiction: bool


@dataclass(frozen=True, kw_only=True)
class _Cells:
    """Reports in three cells: the symbol, the other answers, the rest; with their channel."""

    total: int
    symbol: int
    others: int
    rest: int
    c: float
    d: float
    other_codes: int
    rest_codes: int

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.symbol, self.others, self.rest

    @property
    def floors(self) -> tuple[float, float, float]:
        """The least reported share of each cell, if nobody's true symbol is in it."""
        return self.c, self.other_codes * self.c, self.rest_codes * self.c

    def moments(self) -> tuple[float, float]:
        """Unbiased shares of the symbol and of all answers."""
        answered = self.other_codes + 1
        of_symbol = (self.symbol / self.total - self.c) / self.d
        of_answers = ((self.symbol + self.others) / self.total - answered * self.c) / self.d
        return of_symbol, of_answers


def fieller_share(
    *,
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    symbol: int,
    among: Sequence[int],
    level: float = 0.95,
) -> ConditionalShare:
    """Estimate the share of a symbol among some symbols, for a survey that ended as fixed.

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
        With method "fieller". The interval may be all of [0, 1].

    Raises
    ------
    ValueError
        If the counts do not fit the mechanism or are not whole, there are no reports, a symbol
        is unknown, or level is out of range.

    Notes
    -----
    With l_i the reported shares and A the symbols in `among`, Z(q) = (l_j - c) - q sum_A (l_i -
    c) has mean 0 at the true share q, so q is kept if Z(q)**2 <= x V(q), where x is the
    chi-square quantile and V(q) the variance of 1{j} - q 1{A}, over n, at the most likely
    reported shares among those that the mechanism can produce. A quadratic inequality in q;
    where it leaves two pieces of [0, 1] the interval spans both. Significantly fewer reports in
    A than if nobody had answered are a contradiction. Exact coverage of 95 % intervals from n =
    200 on is at least .94 up to epsilon = ln 3, .93 at 2 and .90 at 4; `likelihood_ratio_share`
    holds better there.

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
    cells = _collect(counts, mechanism, symbol, among, level)
    return _describe(cells, _solve_fieller, level=level, method="fieller")


def likelihood_ratio_share(
    *,
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    symbol: int,
    among: Sequence[int],
    level: float = 0.95,
) -> ConditionalShare:
    """Estimate the share of a symbol among some symbols, also where few answers are swapped.

    Parameters
    ----------
    counts, mechanism, symbol, among, level
        As for `fieller_share`.

    Returns
    -------
    ConditionalShare
        With method "likelihood_ratio_conditional". The interval may be all of [0, 1]; it is
        never empty, so that it never reports a contradiction.

    Raises
    ------
    ValueError
        As for `fieller_share`.

    Notes
    -----
    The reports fall into three cells: the symbol, the other answers, the rest. With L the
    log-likelihood of the cells and L(q) the highest one with the share q among the answers, q
    is kept if 2 (max L - L(q)) <= the level's quantile of chi-square with one degree of freedom.
    The likely cells are a convex set, so the shares q that are kept are an interval. Valid for
    one look at data whose amount was fixed beforehand. Exact coverage of 95 % intervals at n =
    200, over shares 0, .02, ..., 1 among 10 to 100 % who answer, is at least .94 up to epsilon =
    4; where a share is near 0 or 1, or perhaps nobody answered, it is about .975.

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
    cells = _collect(counts, mechanism, symbol, among, level)
    return _describe(
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
        As for `fieller_share`.

    Returns
    -------
    ConditionalShare
        With method "dirichlet_sequence". The interval may be all of [0, 1].

    Raises
    ------
    ValueError
        As for `fieller_share`.

    Notes
    -----
    The reports fall into three cells: the symbol, the other answers, the rest. Reported shares
    l of the cells are rejected if ln B(1/2 + S) - ln B(1/2) - sum S_i ln l_i >= ln(1 / (1 -
    level)), B the multivariate beta function: a Dirichlet mixture of likelihood ratios is a
    nonnegative martingale, so by Ville's inequality the true cells are ever rejected with
    probability at most 1 - level. The interval is the projection on the ratio: q is kept if
    any cells with that ratio are.

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
    cells = _collect(counts, mechanism, symbol, among, level)
    return _describe(cells, _project_sequence, level=level, method="dirichlet_sequence")


@dataclass(frozen=True, kw_only=True)
class RangeMean:
    """The mean of a number in a range or of a rating scale, in the question's unit.

    Attributes
    ----------
    mean, standard_error : float or None
        Unbiased and unclipped; None where nobody seems to have answered.
    low, high : float
        Ends of the interval, within the range.
    level : float
        Confidence level.
    method : str
        Of a number sent as one bit that of the interval for the share of ones among the bits:
        as in `privacy.shares.intervals` where every report is a bit, otherwise as in
        `ConditionalShare`. Of a scale sent as codes see `privacy.shares.scales`.
    contradiction : bool
        True if no mean in the range agrees with the reports.
    """

    mean: float | None
    standard_error: float | None
    low: float
    high: float
    level: float
    method: str
    contradiction: bool


def estimate_range_mean(
    *,
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    minimum: float,
    maximum: float,
    fixed_end: bool,
    level: float = 0.95,
) -> RangeMean:
    """Estimate the mean of a number that each browser rounded at random to one bit.

    Parameters
    ----------
    counts : sequence of int, length k
        Reports showing each symbol: 0 is the bit zero, 1 the bit one, further symbols mean
        refused or not asked.
    mechanism : RandomizedResponse
        The mechanism that produced the reports.
    minimum, maximum : float
        Ends of the range, in the question's unit, minimum < maximum.
    fixed_end : bool
        Whether the survey ended as frozen: an interval for one look then, otherwise one that
        holds at every look.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    RangeMean
        minimum + (maximum - minimum) q, where q is the share of ones among ones and zeros.

    Raises
    ------
    ValueError
        As for `likelihood_ratio_share`, or if the range is empty or not finite.

    Notes
    -----
    The bit is one with probability (x - minimum) / (maximum - minimum), so q has the mean of
    x as its expectation. The bit tells nothing else about x: neither spread nor median.
    Where every report is a bit, q is a share like any other
    (`privacy.shares.coverage.choose_method`); otherwise
    `likelihood_ratio_share` at a fixed end and `dirichlet_sequence_share` before it.

    References
    ----------
    Ding, B., Kulkarni, J. and Yekhanin, S. (2017), Collecting telemetry data privately,
    NeurIPS, equation (1) (one-bit mean).

    Examples
    --------
    >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
    >>> found = estimate_range_mean(
    ...     counts=[600, 400], mechanism=coins, minimum=0, maximum=40, fixed_end=True
    ... )
    >>> round(found.mean, 6), round(found.standard_error, 3)
    (12.0, 1.239)
    """
    check_number("minimum", minimum)
    check_number("maximum", maximum)
    if not minimum < maximum:
        raise ValueError(f"minimum must be below maximum, got {minimum!r} and {maximum!r}")
    level = check_level(level)
    if mechanism.symbols == 2:
        found = _share_of_all(counts=counts, mechanism=mechanism, fixed_end=fixed_end, level=level)
    else:
        estimate = likelihood_ratio_share if fixed_end else dirichlet_sequence_share
        found = estimate(counts=counts, mechanism=mechanism, symbol=1, among=(0, 1), level=level)
    width = maximum - minimum
    return RangeMean(
        mean=None if found.share is None else minimum + width * found.share,
        standard_error=None if found.standard_error is None else width * found.standard_error,
        # Rounding may add up to just more than the maximum.
        low=min(minimum + width * found.low, maximum),
        high=min(minimum + width * found.high, maximum),
        level=level,
        method=found.method,
        contradiction=found.contradiction,
    )


def _share_of_all(
    *, counts: Sequence[int], mechanism: RandomizedResponse, fixed_end: bool, level: float
) -> ConditionalShare:
    """Where every report is an answer the ratio is a share like any other."""
    estimates = estimate_shares(counts=counts, mechanism=mechanism)
    channel = {"other_probability": mechanism.other_probability, "slope": mechanism.slope}
    method = choose_method(total=estimates.total, level=level, fixed_end=fixed_end, **channel)
    found = METHODS[method](successes=counts[1], total=estimates.total, level=level, **channel)
    return ConditionalShare(
        share=float(estimates.shares[1]),
        standard_error=float(estimates.standard_errors[1]),
        among_share=1.0,
        low=float(found.low),
        high=float(found.high),
        level=level,
        method=method,
        contradiction=bool(found.contradiction),
    )


def _collect(
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    symbol: int,
    among: Sequence[int],
    level: float,
) -> _Cells:
    check_level(level)
    k = mechanism.symbols
    reports = [int(count) for count in check_whole_counts("counts", counts, shape=(k,))]
    total = sum(reports)
    if total == 0:
        raise ValueError("counts must hold at least one report, got none")
    for code in among:
        check_whole("among", code)
    if len(set(among)) != len(among) or not set(among) <= set(range(k)) or len(among) < 2:
        raise ValueError(f"among must name at least two of {k} symbols, got {list(among)!r}")
    if len(among) == k:
        raise ValueError(
            f"among must leave out a symbol, or the plain share is meant, got {list(among)!r}"
        )
    if check_whole("symbol", symbol) not in among:
        raise ValueError(f"symbol must be one of {list(among)!r}, got {symbol!r}")
    answered = sum(reports[code] for code in among)
    return _Cells(
        total=total,
        symbol=reports[symbol],
        others=answered - reports[symbol],
        rest=total - answered,
        c=mechanism.other_probability,
        d=mechanism.slope,
        other_codes=len(among) - 1,
        rest_codes=k - len(among),
    )


def _describe(
    cells: _Cells,
    invert: Callable[[_Cells, float | None, float], tuple[float, float, bool]],
    *,
    level: float,
    method: str,
) -> ConditionalShare:
    share, error, among_share = _ratio(cells)
    low, high, contradiction = invert(cells, share, level)
    return ConditionalShare(
        share=share,
        standard_error=error,
        among_share=among_share,
        low=low,
        high=high,
        level=level,
        method=method,
        contradiction=contradiction,
    )


def _ratio(cells: _Cells) -> tuple[float | None, float | None, float]:
    """The ratio of the moment estimates, its delta-method error, and its denominator."""
    of_symbol, of_answers = cells.moments()
    if of_answers <= 0:
        return None, None, of_answers
    share = of_symbol / of_answers
    variance = _variance(cells, share) / (cells.d * of_answers) ** 2
    return share, sqrt(max(variance, 0.0)), of_answers


def _variance(cells: _Cells, share: float) -> float:
    """V(q): the variance of 1{j} - q 1{A} over n, from the reported shares."""
    n = cells.total
    symbol, others = cells.symbol / n, cells.others / n
    mean = symbol * (1 - share) - others * share
    return (symbol * (1 - share) ** 2 + others * share**2 - mean**2) / n


def _solve_fieller(cells: _Cells, share: float | None, level: float) -> tuple[float, float, bool]:
    """Solve a q**2 + b q + g <= 0 on [0, 1]."""
    x = float(chdtri(1, 1 - level))
    n = cells.total
    l_j, l_a = cells.symbol / n, (cells.symbol + cells.others) / n
    z_j = l_j - cells.c
    z_a = l_a - (cells.other_codes + 1) * cells.c
    # Of a cell that happens to be empty the raw shares would have no variance: the interval
    # would be far too short and often lie outside of [0, 1].
    v_j, v_others, v_rest = _most_likely_reported(cells)
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
        # A negative share of people who answered would make any ratio, but none of shares.
        if z_a < 0 or high < 0 or low > 1:
            return nearest, nearest, True
        return max(low, 0.0), min(high, 1.0), False
    # The answers may be absent altogether: the kept set lies outside of the roots, or is all;
    # where fewer seem to have answered than nobody, signs are reversed and nothing can be told.
    if share is None or discriminant <= 0 or a == 0:
        return 0.0, 1.0, False
    root = sqrt(discriminant)
    inner_low, inner_high = sorted(((-b - root) / (2 * a), (-b + root) / (2 * a)))
    if inner_low < 0 and inner_high > 1:
        return nearest, nearest, True
    low = 0.0 if inner_low >= 0 else max(inner_high, 0.0)
    high = 1.0 if inner_high <= 1 else min(inner_low, 1.0)
    return low, high, False


def _invert_likelihood_ratio(
    cells: _Cells,
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
    cells: _Cells, share: float | None, level: float
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


def _most_likely_reported(cells: _Cells) -> tuple[float, float, float]:
    """The constrained maximum: as for single symbols, but with a floor per cell."""
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


def _most_likely_ratio(cells: _Cells) -> float:
    shares = zip(_most_likely_reported(cells), cells.floors, strict=True)
    symbol, others, _ = (max(reported - floor, 0.0) for reported, floor in shares)
    # If nobody answered, every ratio is as likely.
    return symbol / (symbol + others) if symbol + others > 0 else 0.5


def _best_log_likelihood(cells: _Cells, ratio: float) -> float:
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

    The derivative times all three cells is a quadratic that opens downwards, and positive to
    the left of its larger root as far as the cells are.
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
