"""Estimates from counts: a pure function of manifest and counts.

Which interval is valid depends on how the wave ended, never on what the reports say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from aggregator.batches.columns import Columns
from aggregator.results.estimands import Estimand, list_estimands
from aggregator.results.estimate import Estimate, Interval, Levels, QuestionResult
from aggregator.results.marginal_shares import (
    MarginalShares,
    SymbolCounts,
    find_alarm_level,
    find_contradiction_level,
)
from privacy.shares.conditional import (
    ConditionalShare,
    betting_sequence_share,
    likelihood_ratio_share,
)
from privacy.shares.intervals import simultaneous_level
from privacy.shares.range_means import RangeMean
from privacy.shares.ratio_cells import conditional_cells
from privacy.shares.scales import estimate_scale_mean
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion

LEVEL = 0.95
# Narrower intervals inside the main one cover less reliably at small n. Intervals that hold at
# every look have none: at 50 %, they would still be several times as wide as for a single look,
# and read as if the share lay inside with even odds.
INNER_LEVELS = (0.5, 0.8)
_Found = TypeVar("_Found", ConditionalShare, RangeMean)


def compute_estimates(
    *, manifest: Manifest, counts: Sequence[Sequence[int]], fixed_end: bool
) -> list[QuestionResult]:
    """Estimate every estimand of every protected question, unclipped, with the allowed interval.

    `counts` holds the counts for the columns of the wave's batches. A question that nobody has been
    asked yet has a total of 0 and no estimates.
    """
    estimands = list_estimands(manifest)
    if not estimands:
        return []
    symbols = _count_symbols(manifest, counts)
    asked = {name: each for name, each in symbols.items() if each.total}
    shown = sum(estimand.shown for estimand in estimands)
    levels = Levels(
        main=LEVEL,
        inner=INNER_LEVELS if fixed_end else (),
        simultaneous=simultaneous_level(LEVEL, shares=shown),
    )
    marginal = MarginalShares.of(
        asked,
        levels=levels,
        with_ratios=any(estimand.gate for estimand in estimands),
        alarm_level=find_alarm_level([each.symbol for each in symbols.values()]),
        contradiction_levels=_find_contradiction_levels(estimands, symbols, fixed_end=fixed_end),
        fixed_end=fixed_end,
    )
    return [
        _estimate_question(question, estimands, symbols, marginal, fixed_end=fixed_end)
        for question in manifest.questions
        if question.is_protected
    ]


def _count_symbols(manifest: Manifest, counts: Sequence[Sequence[int]]) -> dict[str, SymbolCounts]:
    cells = Columns.of(manifest).read_counts(counts)
    return {
        symbol.name: SymbolCounts(symbol=symbol, cells=own)
        for symbol, own in zip(manifest.symbols, cells, strict=True)
        if symbol.threshold is not None
    }


def _find_contradiction_levels(
    estimands: Sequence[Estimand], symbols: Mapping[str, SymbolCounts], *, fixed_end: bool
) -> dict[str, float]:
    """Return the level for each question at which its codes are tested.

    While watching, conditional shares and means of scales are tested as well: their sequences can
    be empty. After a fixed end, their intervals never are.
    """
    return {
        question: find_contradiction_level(
            [each.symbol for each in symbols.values() if each.symbol.question == question],
            sequences=sum(
                estimand.has_own_sequence
                for estimand in estimands
                if estimand.question.name == question and not fixed_end
            ),
        )
        for question in {estimand.question.name for estimand in estimands}
    }


def _estimate_question(
    question: ManifestQuestion,
    estimands: Sequence[Estimand],
    symbols: Mapping[str, SymbolCounts],
    marginal: MarginalShares,
    *,
    fixed_end: bool,
) -> QuestionResult:
    own = [name for name, each in symbols.items() if each.symbol.question == question.name]
    total = symbols[own[0]].total
    alarm = any(marginal.alarms[name] for name in own if name in marginal.alarms)
    return QuestionResult(
        question=question,
        total=total,
        level=marginal.levels.main,
        simultaneous_level=marginal.levels.simultaneous,
        alarm=alarm,
        estimates=tuple(
            replace(_estimate(estimand, marginal, fixed_end=fixed_end), alarm=alarm)
            for estimand in estimands
            if estimand.question.name == question.name and total
        ),
    )


def _estimate(estimand: Estimand, marginal: MarginalShares, *, fixed_end: bool) -> Estimate:
    counts, levels = marginal.counts[estimand.symbol], marginal.levels
    tested_at = marginal.contradiction_levels[estimand.question.name]
    if estimand.is_scale_mean:
        return _estimate_scale_mean(estimand, counts, levels, tested_at, fixed_end=fixed_end)
    if estimand.gate:
        share = marginal.estimate_ratio(estimand)
    elif estimand.among is None:
        share = marginal.estimate_share(estimand)
    else:
        share = _estimate_conditional_share(
            estimand, counts, levels, tested_at, fixed_end=fixed_end
        )
    return _stretch(share) if estimand.is_mean else share


def _find_not_empty(find: Callable[[float], _Found], level: float, tested_at: float) -> _Found:
    """Find the interval at a level; if it is empty, the one at which a contradiction is tested.

    The second contains the first, so it holds the true value at least as often.
    """
    found = find(level)
    return find(max(level, tested_at)) if found.contradiction else found


def _estimate_conditional_share(
    estimand: Estimand,
    counts: SymbolCounts,
    levels: Levels,
    tested_at: float,
    *,
    fixed_end: bool,
) -> Estimate:
    assert estimand.among is not None
    among = estimand.among
    mechanism, code = counts.symbol.mechanism, estimand.single_code(among)

    def find(level: float) -> ConditionalShare:
        if fixed_end:
            return likelihood_ratio_share(
                counts=counts.cells, mechanism=mechanism, symbol=code, among=among, level=level
            )
        cells = conditional_cells(
            counts=counts.cells, mechanism=mechanism, event=[code], among=among
        )
        return betting_sequence_share(cells=cells, level=level)

    by_level = {level: _find_not_empty(find, level, tested_at) for level in levels.distinct}
    main = by_level[levels.main]
    value = main.share

    def interval_at(level: float) -> Interval:
        each = by_level[level]
        return Interval(low=each.low, high=each.high, level=level, method=each.method)

    intervals = levels.find(interval_at)
    if estimand.is_complement:
        value = None if value is None else 1 - value
        intervals = intervals.change(Interval.complement)
    return Estimate(
        estimand=estimand,
        total=counts.total,
        count=counts.count_event(estimand),
        value=value,
        standard_error=main.standard_error,
        intervals=intervals,
        contradiction=main.contradiction,
    )


def _estimate_scale_mean(
    estimand: Estimand,
    counts: SymbolCounts,
    levels: Levels,
    tested_at: float,
    *,
    fixed_end: bool,
) -> Estimate:
    question = estimand.question
    assert question.minimum is not None
    first = question.minimum

    def find(level: float) -> RangeMean:
        return estimate_scale_mean(
            counts=counts.cells,
            mechanism=counts.symbol.mechanism,
            points=[first + code for code in range(question.answers)],
            fixed_end=fixed_end,
            level=level,
        )

    by_level = {level: _find_not_empty(find, level, tested_at) for level in levels.distinct}
    main = by_level[levels.main]

    def interval_at(level: float) -> Interval:
        each = by_level[level]
        return Interval(low=each.low, high=each.high, level=level, method=each.method)

    return Estimate(
        estimand=estimand,
        total=counts.total,
        count=counts.count_event(estimand),
        value=main.mean,
        standard_error=main.standard_error,
        intervals=levels.find(interval_at),
        contradiction=main.contradiction,
    )


def _stretch(share: Estimate) -> Estimate:
    """Turn the share of ones into the number that rounds up with this probability."""
    question = share.estimand.question
    assert question.minimum is not None
    assert question.maximum is not None
    low, width = question.minimum, question.maximum - question.minimum
    value, error = share.value, share.standard_error

    def place(end: float) -> float:
        return min(low + width * end, float(low + width))

    return replace(
        share,
        value=None if value is None else low + width * value,
        joint_value=None,
        standard_error=None if error is None else width * error,
        effective_sample_size=None,
        intervals=share.intervals.change(
            lambda interval: replace(interval, low=place(interval.low), high=place(interval.high))
        ),
    )
