"""The share of one symbol among some symbols: its result, and the three cells it is estimated from.

The cells are the symbol, the other answers, and the rest (refused or not asked).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

from privacy.checks import check_level, check_whole, check_whole_counts
from privacy.mechanism.mechanisms import RandomizedResponse


@dataclass(frozen=True, kw_only=True)
class ConditionalShare:
    """The share of one symbol among some symbols.

    Attributes
    ----------
    share : float or None
        Ratio of the unbiased estimates, a fraction that may lie outside [0, 1]; None where the
        estimated share of those who answered is not positive: then there is no ratio.
    standard_error : float or None
        Standard error of `share`, by the delta method; None where `share` is None.
    among_share : float
        Estimated share of those who were asked and answered, unclipped.
    low, high : float
        Ends of the interval, 0 <= low <= high <= 1.
    level : float
        Confidence level.
    method : str
        "fieller" and "likelihood_ratio_conditional": valid for one look, if the end did not
        depend on the data. "dirichlet_sequence": valid at every look.
    contradiction : bool
        True if no share in [0, 1] agrees with the reports; low = high is then the nearest share.
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
class AnswerCells:
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
        """The smallest reported share of each cell, reached if no true symbol is in it."""
        return self.c, self.other_codes * self.c, self.rest_codes * self.c

    def moments(self) -> tuple[float, float]:
        """Unbiased shares of the symbol and of all answers."""
        answered = self.other_codes + 1
        of_symbol = (self.symbol / self.total - self.c) / self.d
        of_answers = ((self.symbol + self.others) / self.total - answered * self.c) / self.d
        return of_symbol, of_answers


def collect_cells(
    counts: Sequence[int],
    mechanism: RandomizedResponse,
    symbol: int,
    among: Sequence[int],
    level: float,
) -> AnswerCells:
    """Check the arguments of a conditional share and count its three cells."""
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
        raise ValueError(f"among must leave out at least one symbol, got {list(among)!r}")
    if check_whole("symbol", symbol) not in among:
        raise ValueError(f"symbol must be one of {list(among)!r}, got {symbol!r}")
    answered = sum(reports[code] for code in among)
    return AnswerCells(
        total=total,
        symbol=reports[symbol],
        others=answered - reports[symbol],
        rest=total - answered,
        c=mechanism.other_probability,
        d=mechanism.slope,
        other_codes=len(among) - 1,
        rest_codes=k - len(among),
    )


def describe_share(
    cells: AnswerCells,
    invert: Callable[[AnswerCells, float | None, float], tuple[float, float, bool]],
    *,
    level: float,
    method: str,
) -> ConditionalShare:
    """Estimate the share and find its interval by the method `invert`."""
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


def _ratio(cells: AnswerCells) -> tuple[float | None, float | None, float]:
    """The ratio of the moment estimates, its delta-method error, and its denominator."""
    of_symbol, of_answers = cells.moments()
    if of_answers <= 0:
        return None, None, of_answers
    share = of_symbol / of_answers
    variance = _variance(cells, share) / (cells.d * of_answers) ** 2
    return share, sqrt(max(variance, 0.0)), of_answers


def _variance(cells: AnswerCells, share: float) -> float:
    """V(q): the variance of 1{j} - q 1{A} over n, from the reported shares."""
    n = cells.total
    symbol, others = cells.symbol / n, cells.others / n
    mean = symbol * (1 - share) - others * share
    return (symbol * (1 - share) ** 2 + others * share**2 - mean**2) / n


def most_likely_reported(cells: AnswerCells) -> tuple[float, float, float]:
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
