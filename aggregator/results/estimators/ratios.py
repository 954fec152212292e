"""Shares and means that describe only the people who were asked, or who answered.

Each is a ratio. After a fixed end it comes from the likelihood; otherwise, and where the likelihood
would cover too rarely, from bets that hold at every look. Both use the joint table of the questions
that decide who is asked, if there is one that may be used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from aggregator.batches.joint_tables import Axis
from aggregator.results.estimands import Estimand
from aggregator.results.estimate import Estimate, Interval, Levels
from aggregator.results.estimators.counted import Counted, SymbolCounts
from aggregator.results.estimators.joint_cells import (
    LatentCells,
    build_ratio_cells,
    count_who_may_be_asked,
)
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.bets import RatioInterval, betting_sequence
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
    low: float
    high: float
    contradiction: bool

    @classmethod
    def of_share(cls, share: ConditionalShare) -> Found:
        return cls(
            value=share.share,
            standard_error=share.standard_error,
            low=share.low,
            high=share.high,
            contradiction=share.contradiction,
        )

    @classmethod
    def of_cells(cls, cells: RatioCells, kept: RatioInterval) -> Found:
        return cls(
            value=cells.ratio,
            standard_error=cells.standard_error,
            low=kept.low,
            high=kept.high,
            contradiction=kept.contradiction,
        )

    def complement(self) -> Found:
        value = None if self.value is None else 1 - self.value
        return replace(self, value=value, low=1 - self.high, high=1 - self.low)


@dataclass(frozen=True, kw_only=True)
class Method:
    """How an estimate is found at any level, and from which symbols."""

    name: str
    find: Callable[[float], Found]
    symbols: tuple[str, ...]
    is_watched: bool = False  # whether its interval holds at every look


def uses_bets(estimand: Estimand, counted: Counted) -> bool:
    """Whether a ratio has an interval that holds at every look, and so can be empty."""
    if not counted.fixed_end:
        return True
    found, counts = counted.find_table(estimand), counted.symbols[estimand.symbol]
    covers = relaxed_likelihood_covers if estimand.is_scale_mean else joint_share_covers
    if found is None:
        return not covers(total=counts.total, mechanisms=[counts.symbol.mechanism])
    return not covers(
        total=count_who_may_be_asked(found), mechanisms=list_mechanisms(found.table.axes)
    )


def list_mechanisms(axes: Iterable[Axis]) -> list[RandomizedResponse]:
    """List the mechanisms of the randomized symbols."""
    return [axis.symbol.mechanism for axis in axes if axis.symbol.threshold is not None]


def estimate_ratio(
    estimand: Estimand, counted: Counted, levels: Levels, *, tested_at: float
) -> Estimate:
    """Estimate a share or mean of some people, and test at another level for a contradiction."""
    counts = counted.symbols[estimand.symbol]
    choose = _choose_bets if uses_bets(estimand, counted) else _choose_likelihood
    method = choose(estimand, counted)
    return build_estimate(estimand, counts, method, levels, tested_at=tested_at)


def build_estimate(
    estimand: Estimand, counts: SymbolCounts, method: Method, levels: Levels, *, tested_at: float
) -> Estimate:
    """Build an estimate from what a method finds at each level."""
    if method.is_watched:
        levels = replace(levels, inner=())
    by_level = {level: _find_not_empty(method.find, level, tested_at) for level in levels.distinct}
    main = by_level[levels.main]

    def interval_at(level: float) -> Interval:
        found = by_level[level]
        return Interval(low=found.low, high=found.high, level=level, method=method.name)

    return Estimate(
        estimand=estimand,
        symbols=method.symbols,
        total=counts.total,
        count=counts.count(estimand.event),
        value=main.value,
        standard_error=main.standard_error,
        intervals=levels.find(interval_at),
        contradiction=main.contradiction,
    )


def find_jointly(cells: LatentCells, *, symbols: tuple[str, ...]) -> Method:
    """Find a share by the joint likelihood, after a fixed end."""
    joint = cells.for_likelihood()
    return Method(
        name="likelihood_ratio_joint",
        find=lambda level: Found.of_share(joint_share(cells=joint, level=level)),
        symbols=symbols,
    )


def _find_not_empty(find: Callable[[float], Found], level: float, tested_at: float) -> Found:
    """Find the interval at a level; if it is empty, the one at which a contradiction is tested.

    The second contains the first, so it holds the true value at least as often.
    """
    found = find(level)
    return find(max(level, tested_at)) if found.contradiction else found


def _choose_bets(estimand: Estimand, counted: Counted) -> Method:
    cells, symbols = _weigh_cells(estimand, counted)
    concentration = counted.manifest.concentration

    def find(level: float) -> Found:
        kept = betting_sequence(cells=cells, level=level, concentration=concentration)
        return Found.of_cells(cells, kept)

    name = "betting_sequence_mean" if estimand.is_scale_mean else "betting_sequence_share"
    return Method(name=name, find=find, symbols=symbols, is_watched=True)


def _choose_likelihood(estimand: Estimand, counted: Counted) -> Method:
    if estimand.is_scale_mean:
        return _choose_mean(estimand, counted)
    found = counted.find_table(estimand)
    if found is not None:
        return find_jointly(build_ratio_cells(found, estimand), symbols=found.table.symbol_names)
    counts, among = counted.symbols[estimand.symbol], estimand.among
    assert among is not None

    def find(level: float) -> Found:
        share = Found.of_share(
            likelihood_ratio_share(
                counts=counts.cells,
                mechanism=counts.symbol.mechanism,
                symbol=estimand.single_code(among),
                among=among,
                level=level,
            )
        )
        return share.complement() if estimand.is_complement else share

    return Method(name="likelihood_ratio_conditional", find=find, symbols=(estimand.symbol,))


def _choose_mean(estimand: Estimand, counted: Counted) -> Method:
    cells, symbols = _weigh_cells(estimand, counted)

    def find(level: float) -> Found:
        return Found.of_cells(cells, relaxed_likelihood_interval(cells=cells, level=level))

    return Method(name="likelihood_ratio_mean", find=find, symbols=symbols)


def _weigh_cells(estimand: Estimand, counted: Counted) -> tuple[RatioCells, tuple[str, ...]]:
    """Return the functions of reports whose means form the ratio, and the symbols they read."""
    found = counted.find_table(estimand)
    if found is not None:
        return build_ratio_cells(found, estimand).for_ratio(), found.table.symbol_names
    counts, question = counted.symbols[estimand.symbol], estimand.question
    mechanism = counts.symbol.mechanism
    if estimand.is_scale_mean:
        cells = scale_cells(
            counts=counts.cells, mechanism=mechanism, points=range(question.answers)
        )
    else:
        assert estimand.among is not None
        cells = conditional_cells(
            counts=counts.cells, mechanism=mechanism, event=estimand.event, among=estimand.among
        )
    return cells, (estimand.symbol,)
