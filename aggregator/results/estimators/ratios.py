"""Shares and means that describe only the people who were asked, or who answered.

Each is a ratio, estimated by likelihood. If there is a usable joint table of the questions that
decide who is asked, the likelihood is computed from this table. Where an interval would miss the
true value too often, its level is raised.
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
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.planning.answerers import one_report_ratio_spread
from privacy.planning.precision import normal_quantile
from privacy.shares.conditional import ConditionalShare, likelihood_ratio_share
from privacy.shares.joint.fallback import (
    cautious_level,
    joint_share_covers,
    relaxed_likelihood_covers,
)
from privacy.shares.joint.likelihood import joint_share
from privacy.shares.ratio_cells import RatioCells, conditional_cells, scale_cells
from privacy.shares.scales import MeanInterval, relaxed_likelihood_interval
from surveys.planning.figures import COMPARED_AT


@dataclass(frozen=True, kw_only=True)
class Found:
    """A share, or a mean on a scale from 0 to 1, with its interval at one level."""

    value: float | None
    standard_error: float | None
    design_error: float | None
    low: float
    high: float

    @classmethod
    def of_share(cls, share: ConditionalShare, cells: LatentCells) -> Found:
        return cls(
            value=share.share,
            standard_error=share.standard_error,
            design_error=_find_design_error(cells, share.among_share),
            low=share.low,
            high=share.high,
        )

    @classmethod
    def of_cells(cls, weighted: RatioCells, kept: MeanInterval, cells: LatentCells) -> Found:
        return cls(
            value=weighted.ratio,
            standard_error=weighted.standard_error,
            design_error=_find_design_error(cells, weighted.counted_share),
            low=kept.low,
            high=kept.high,
        )

    def complement(self) -> Found:
        value = None if self.value is None else 1 - self.value
        return replace(self, value=value, low=1 - self.high, high=1 - self.low)


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to find an estimate at any level, and the symbols that it uses."""

    name: str
    find: Callable[[float], Found]
    symbols: tuple[str, ...]


def _find_design_error(cells: LatentCells, counted: float) -> float | None:
    """Find the standard error at a share of 20 %, or return None if nobody seems to be counted."""
    if counted <= 0:
        return None
    reports = cells.expect(share=COMPARED_AT, counted=min(counted, 1.0))
    return one_report_ratio_spread(reports=reports) / sqrt(float(cells.counts.sum()))


def _likelihood_covers(estimand: Estimand, counted: Counted, *, at_looks: bool) -> bool:
    found, counts = counted.find_table(estimand), counted.symbols[estimand.symbol]
    total, mechanisms = counts.total, [counts.symbol.mechanism]
    if found is not None:
        total, mechanisms = count_who_may_be_asked(found), list_mechanisms(found.table.axes)
    if estimand.is_scale_mean:
        return relaxed_likelihood_covers(total=total, mechanisms=mechanisms, at_looks=at_looks)
    return joint_share_covers(total=total, mechanisms=mechanisms)


def list_mechanisms(axes: Iterable[Axis]) -> list[RandomizedResponse]:
    """List the mechanisms of the randomized symbols."""
    return [axis.symbol.mechanism for axis in axes if axis.symbol.threshold is not None]


def estimate_ratio(estimand: Estimand, counted: Counted, levels: Levels) -> Estimate:
    """Estimate a share or mean of some people."""
    method = _choose_method(estimand, counted)
    covers = _likelihood_covers(estimand, counted, at_looks=bool(levels.times))
    counts = counted.symbols[estimand.symbol]
    return build_estimate(estimand, counts, method, levels, is_cautious=not covers)


def build_estimate(
    estimand: Estimand,
    counts: SymbolCounts,
    method: Method,
    levels: Levels,
    *,
    is_cautious: bool = False,
) -> Estimate:
    """Build an estimate from the intervals that a method finds at each level."""
    if is_cautious:
        levels = replace(levels, inner=())
    computed_at = {
        level: levels.now(cautious_level(level) if is_cautious else level)
        for level in levels.distinct
    }
    by_level = {level: method.find(now) for level, now in computed_at.items()}
    main = by_level[levels.main]

    def interval_at(level: float) -> Interval:
        return Interval(
            low=by_level[level].low,
            high=by_level[level].high,
            level=level,
            method=method.name,
            critical_value=normal_quantile(computed_at[level]),
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
        contradiction=False,
    )


def find_jointly(cells: LatentCells, *, symbols: tuple[str, ...]) -> Method:
    """Return the method that finds a share by the joint likelihood."""
    joint = cells.for_likelihood()
    return Method(
        name="likelihood_ratio_joint",
        find=lambda level: Found.of_share(joint_share(cells=joint, level=level), cells),
        symbols=symbols,
    )


def _choose_method(estimand: Estimand, counted: Counted) -> Method:
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
    """Return the reports, the functions whose means form the ratio, and the symbols used."""
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
