"""Compute estimates with a pure function of the manifest, the counts and the tables.

Which interval is valid depends on earlier looks, never on what the reports say.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from aggregator.results.estimands import Estimand, list_estimands
from aggregator.results.estimate import Estimate, Levels, QuestionResult
from aggregator.results.estimators.asked_shares import estimate_asked, list_sums
from aggregator.results.estimators.counted import Counted, Counts, Event
from aggregator.results.estimators.marginal_shares import (
    MarginalShares,
    find_alarm_level,
    find_contradiction_level,
)
from aggregator.results.estimators.ratios import estimate_ratio
from privacy.level import LEVEL
from privacy.shares.intervals import simultaneous_level
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion

# The coverage of narrower intervals inside the main interval is less reliable at small n. Intervals
# that hold at all looks together have no inner intervals, because readers would take a 50 %
# interval for even odds at this look.
INNER_LEVELS = (0.5, 0.8)


def compute_estimates(
    *,
    manifest: Manifest,
    counts: Counts,
    tables: Counts,
    shown_at: Sequence[int],
    told: Collection[str],
    broken_down_by: str = "",
) -> list[QuestionResult]:
    """Estimate every estimand of every protected question, unclipped, with valid intervals.

    `shown_at` lists the number of reports at each look that was shown, up to this one. It is empty
    if the wave ended at the date or cap that its manifest fixed, or if nothing was shown before.
    `told` names the declared questions whose group sizes are shown (`results.groups.told`); before
    the close, it is empty. `broken_down_by` names a declared question if the counts are of one of
    its groups, or of all its groups but one. `counts` holds the counts for the columns of the
    wave's batches, and `tables` holds the counts for the tables of
    `aggregator.batches.joint_tables`. A question that nobody has been asked yet has a total of 0
    and no estimates.
    """
    estimands = list_estimands(manifest)
    if not estimands:
        return []
    counted = Counted.of(manifest, counts, tables, told=told, broken_down_by=broken_down_by)
    sums = list(list_sums(counted))
    levels = Levels(
        main=LEVEL,
        inner=() if shown_at else INNER_LEVELS,
        simultaneous=simultaneous_level(
            LEVEL, shares=sum(estimand.shown for estimand in estimands)
        ),
        times=tuple(n / manifest.people_for_looks for n in shown_at),
    )
    marginal = MarginalShares.of(
        {name: each for name, each in counted.scrambled.items() if each.total},
        sums=sums,
        levels=levels,
        alarm_level=find_alarm_level([each.symbol for each in counted.scrambled.values()]),
        contradiction_levels=_find_contradiction_levels(counted, sums),
    )
    return [
        _estimate_question(question, estimands, counted, marginal, levels)
        for question in manifest.questions
        if question.is_scrambled
    ]


def _find_contradiction_levels(counted: Counted, sums: Sequence[Event]) -> dict[str, float]:
    """Map each question to the level at which a test looks for empty intervals.

    The intervals of the question's codes and of sums of its codes are tested.
    """
    return {
        question.name: find_contradiction_level(
            [
                each.symbol
                for each in counted.scrambled.values()
                if each.symbol.question == question.name
            ],
            others=sum(
                counted.symbols[event.symbol].symbol.question == question.name
                for event in set(sums)
            ),
        )
        for question in counted.manifest.questions
        if question.is_scrambled
    }


def _estimate_question(
    question: ManifestQuestion,
    estimands: Sequence[Estimand],
    counted: Counted,
    marginal: MarginalShares,
    levels: Levels,
) -> QuestionResult:
    own = [each for each in counted.scrambled.values() if each.symbol.question == question.name]
    alarm = any(marginal.alarms.get(each.symbol.name, False) for each in own)

    def estimate(estimand: Estimand) -> Estimate:
        if estimand.is_ratio:
            return estimate_ratio(estimand, counted, levels)
        if estimand.is_asked:
            return estimate_asked(estimand, counted, marginal, levels)
        return marginal.estimate(estimand)

    return QuestionResult(
        question=question,
        total=own[0].total,
        level=levels.main,
        simultaneous_level=levels.simultaneous,
        alarm=alarm,
        estimates=tuple(
            replace(_stretch(estimate(estimand)), alarm=alarm)
            for estimand in estimands
            if estimand.question.name == question.name and own[0].total
        ),
    )


def _stretch(found: Estimate) -> Estimate:
    """Turn a mean on a scale from 0 to 1 into the question's unit; shares stay as they are."""
    if not found.is_mean:
        return found
    low, high = found.estimand.scale

    def place(value: float) -> float:
        # Rounding errors may push an end just above the maximum.
        return min(low + (high - low) * value, high)

    value, error = found.value, found.standard_error
    return replace(
        found,
        value=None if value is None else low + (high - low) * value,
        joint_value=None,
        standard_error=None if error is None else (high - low) * error,
        effective_sample_size=None,
        intervals=found.intervals.change(
            lambda interval: replace(interval, low=place(interval.low), high=place(interval.high))
        ),
    )
