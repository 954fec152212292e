"""Shares and means that describe only the people who were asked, or who answered.

Each is a ratio. It comes from the likelihood, at the level of the look, or from bets where the
likelihood would cover too rarely. Both use the joint table of the questions that decide who is
asked, if there is one that may be used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import sqrt

from aggregator.batches.joint_tables import Axis
from aggregator.results.estimands import Estimand
from aggregator.results.estimate import Estimate, Interval, Levels
from aggregator.results.estimators.counted import Counted, SymbolCounts
from aggregator.results.estimators.joint_cells import (
    LatentCells,
    build_own_cells,
    build_ratio_cells,
    count_who_may_be_asked,
)
from aggregator.results.reliability import COMPARED_AT
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.answerers import one_report_ratio_spread
from privacy.planning.precision import normal_quantile
from privacy.shares.bets import RatioInterval, bet_width, betting_sequence
from privacy.shares.conditional import ConditionalShare, likelihood_ratio_share
from privacy.shares.joint.fallback import joint_share_covers, relaxed_likelihood_covers
from privacy.shares.joint.likelihood import joint_share
from privacy.shares.ratio_cells import RatioCells, conditional_cells, scale_cells
from privacy.shares.scales import relaxed_likelihood_interval


@dataclass(frozen=True, kw_only=True)
class Found:
    """A share, or a mean on a scale from 0 to 1, with its interval at one level."""

    value: float | None
    standard_error: float | None
    design_error: float | None
    low: float
    high: float
    contradiction: bool

    @classmethod
    def of_share(cls, share: ConditionalShare, cells: LatentCells) -> Found:
        return cls(
            value=share.share,
            standard_error=share.standard_error,
            design_error=_find_design_error(cells, share.among_share),
            low=share.low,
            high=share.high,
            contradiction=share.contradiction,
        )

    @classmethod
    def of_cells(cls, weighted: RatioCells, kept: RatioInterval, cells: LatentCells) -> Found:
        return cls(
            value=weighted.ratio,
            standard_error=weighted.standard_error,
            design_error=_find_design_error(cells, weighted.counted_share),
            low=kept.low,
            high=kept.high,
            contradiction=kept.contradiction,
        )

    def complement(self) -> Found:
        value = None if self.value is None else 1 - self.value
        return replace(self, value=value, low=1 - self.high, high=1 - self.low)


@dataclass(frozen=True, kw_only=True)
class Method:
    """How an estimate is found at any level, and from which symbols.

    `bets` counts the reports of an interval that holds at every look by itself.
    """

    name: str
    find: Callable[[float], Found]
    symbols: tuple[str, ...]
    bets: float | None = None


def _find_design_error(cells: LatentCells, counted: float) -> float | None:
    """Find the standard error at a share of 20 %; None where nobody seems to be counted."""
    if counted <= 0:
        return None
    reports = cells.expect(share=COMPARED_AT, counted=min(counted, 1.0))
    return one_report_ratio_spread(reports=reports) / sqrt(float(cells.counts.sum()))


def uses_bets(estimand: Estimand, counted: Counted, *, at_looks: bool) -> bool:
    """Whether the likelihood would cover too rarely; bets can give an empty interval."""
    found, counts = counted.find_table(estimand), counted.symbols[estimand.symbol]
    total, mechanisms = counts.total, [counts.symbol.mechanism]
    if found is not None:
        total, mechanisms = count_who_may_be_asked(found), list_mechanisms(found.table.axes)
    if estimand.is_scale_mean:
        return not relaxed_likelihood_covers(total=total, mechanisms=mechanisms, at_looks=at_looks)
    return not joint_share_covers(total=total, mechanisms=mechanisms)


def list_mechanisms(axes: Iterable[Axis]) -> list[RandomizedResponse]:
    """List the mechanisms of the randomized symbols."""
    return [axis.symbol.mechanism for axis in axes if axis.symbol.threshold is not None]


def estimate_ratio(
    estimand: Estimand, counted: Counted, levels: Levels, *, tested_at: float
) -> Estimate:
    """Estimate a share or mean of some people, and test at another level for a contradiction."""
    counts = counted.symbols[estimand.symbol]
    bets = uses_bets(estimand, counted, at_looks=bool(levels.times))
    choose = _choose_bets if bets else _choose_likelihood
    method = choose(estimand, counted)
    return build_estimate(estimand, counts, method, levels, tested_at=tested_at)


def build_estimate(
    estimand: Estimand, counts: SymbolCounts, method: Method, levels: Levels, *, tested_at: float
) -> Estimate:
    """Build an estimate from what a method finds at each level."""
    if method.bets is not None:
        levels = replace(levels, inner=(), times=())
    by_level = {
        level: _find_not_empty(method.find, levels.now(level), levels.now(tested_at))
        for level in levels.distinct
    }
    main = by_level[levels.main]

    def interval_at(level: float) -> Interval:
        found, now = by_level[level], levels.now(level)
        return Interval(
            low=found.low,
            high=found.high,
            level=level,
            method=method.name,
            critical_value=normal_quantile(now)
            if method.bets is None
            else bet_width(total=method.bets, level=now),
        )

    return Estimate(
        estimand=estimand,
        symbols=method.symbols,
        total=counts.total,
        count=counts.count(estimand.event),
        value=main.value,
        standard_error=main.standard_error,
        design_error=main.design_error,
        intervals=levels.find(interval_at),
        contradiction=main.contradiction,
    )


def find_jointly(cells: LatentCells, *, symbols: tuple[str, ...]) -> Method:
    """Find a share by the joint likelihood."""
    joint = cells.for_likelihood()
    return Method(
        name="likelihood_ratio_joint",
        find=lambda level: Found.of_share(joint_share(cells=joint, level=level), cells),
        symbols=symbols,
    )


def _find_not_empty(find: Callable[[float], Found], level: float, tested_at: float) -> Found:
    """Find the interval at a level; if it is empty, the one at which a contradiction is tested.

    The second contains the first, so it holds the true value at least as often.
    """
    found = find(level)
    return find(max(level, tested_at)) if found.contradiction else found


def _choose_bets(estimand: Estimand, counted: Counted) -> Method:
    cells, weighted, symbols = _weigh_cells(estimand, counted)
    return Method(
        name="betting_sequence_mean" if estimand.is_scale_mean else "betting_sequence_share",
        find=lambda level: Found.of_cells(
            weighted, betting_sequence(cells=weighted, level=level), cells
        ),
        symbols=symbols,
        bets=weighted.total,
    )


def _choose_likelihood(estimand: Estimand, counted: Counted) -> Method:
    if estimand.is_scale_mean:
        return _choose_mean(estimand, counted)
    found = counted.find_table(estimand)
    if found is not None:
        return find_jointly(build_ratio_cells(found, estimand), symbols=found.table.symbol_names)
    counts, among = counted.symbols[estimand.symbol], estimand.among
    assert among is not None
    cells = build_own_cells(counts, estimand)

    def find(level: float) -> Found:
        share = Found.of_share(
            likelihood_ratio_share(
                counts=counts.cells,
                mechanism=counts.symbol.mechanism,
                symbol=estimand.single_code(among),
                among=among,
                level=level,
            ),
            cells,
        )
        return share.complement() if estimand.is_complement else share

    return Method(name="likelihood_ratio_conditional", find=find, symbols=(estimand.symbol,))


def _choose_mean(estimand: Estimand, counted: Counted) -> Method:
    cells, weighted, symbols = _weigh_cells(estimand, counted)

    def find(level: float) -> Found:
        kept = relaxed_likelihood_interval(cells=weighted, level=level)
        return Found.of_cells(weighted, kept, cells)

    return Method(name="likelihood_ratio_mean", find=find, symbols=symbols)


def _weigh_cells(
    estimand: Estimand, counted: Counted
) -> tuple[LatentCells, RatioCells, tuple[str, ...]]:
    """Return the reports, the functions whose means form the ratio, and the symbols they read."""
    found = counted.find_table(estimand)
    if found is not None:
        cells = build_ratio_cells(found, estimand)
        return cells, cells.for_ratio(), found.table.symbol_names
    counts, question = counted.symbols[estimand.symbol], estimand.question
    mechanism = counts.symbol.mechanism
    if estimand.is_scale_mean:
        weighted = scale_cells(
            counts=counts.cells, mechanism=mechanism, points=range(question.answers)
        )
    else:
        assert estimand.among is not None
        weighted = conditional_cells(
            counts=counts.cells, mechanism=mechanism, event=estimand.event, among=estimand.among
        )
    return build_own_cells(counts, estimand), weighted, (estimand.symbol,)
