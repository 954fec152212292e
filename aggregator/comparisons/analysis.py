"""Compute comparisons from cross tabulations of reports."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import exp, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.cross_tabulation import PairCounts
from aggregator.comparisons.result import (
    INTERCEPT,
    FactorTest,
    PairsResult,
    PairTest,
    RegressionResult,
    Term,
    Together,
    TwoQuestionsResult,
    UntestedPair,
    name_contrast,
)
from aggregator.results.estimating import LEVEL
from aggregator.results.reliability import COMPARED_AT
from privacy.associations.contradictions import (
    CONTRADICTION_LEVEL,
    Contradiction,
    find_contradiction,
)
from privacy.associations.latent_regression import LatentLogisticFit, fit_latent_logistic
from privacy.associations.significance import (
    SignificanceTest,
    adjust_for_multiplicity,
    independence_test,
)
from privacy.associations.two_questions import associate
from privacy.shares.intervals import simultaneous_level
from privacy.shares.looks import repeated_level
from surveys.comparing.choice import is_table
from surveys.comparing.indicators import NO, YES, Factor, Indicator, find_indicators
from surveys.manifest.manifest import Manifest


def find_level(together: Together, times: Sequence[float]) -> float:
    """Find the level of each interval, so that all hold together at all looks."""
    return repeated_level(simultaneous_level(LEVEL, shares=together.family), times=times)


def analyse_table(
    *,
    indicators: Sequence[Indicator],
    counts: NDArray[np.int64],
    planned: int = 0,
    times: Sequence[float] = (),
) -> TwoQuestionsResult:
    """Compare the share of Yes to the first indicator between the answers to the second.

    `planned` counts the tests of all planned comparisons, if this is one of them, and `times` lists
    the shown looks as fractions of the people expected.
    """
    variables = [indicator.variable for indicator in indicators]
    together = Together(family=max(planned, 1), looks=len(times))
    found = associate(
        counts=counts,
        variables=variables,
        event=YES,
        first=YES,
        second=NO,
        level=find_level(together, times),
        supposed=COMPARED_AT,
    )
    return TwoQuestionsResult(
        n=int(counts.sum()),
        together=together,
        outcome_range=indicators[0].range,
        contradiction=find_contradiction(counts=counts, variables=variables),
        counts=_list_rows(found.table.counts),
        shares=_list_rows(found.table.shares),
        standard_errors=_list_rows(found.table.standard_errors),
        joint_shares=_list_rows(found.table.joint_shares),
        share_first=found.share_first,
        share_second=found.share_second,
        difference=found.difference,
        odds_ratio=found.odds_ratio,
        log_odds_ratio=found.log_odds_ratio,
        phi=found.phi,
        test=found.test,
    )


def _list_rows(table: NDArray[Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())


def analyse_regression(
    *,
    indicators: Sequence[Indicator],
    counts: NDArray[np.int64],
    planned: int = 0,
    times: Sequence[float] = (),
) -> RegressionResult:
    """Regress Yes to the first indicator on the answers to the others; other arguments as above."""
    predictors = indicators[1:]
    own = sum(map(_count_tests, predictors))
    together = Together(family=max(planned, own), looks=len(times))
    variables = [indicator.variable for indicator in indicators]
    fit = fit_latent_logistic(
        counts=counts,
        variables=variables,
        trends=[
            place
            for place, one in enumerate(predictors, start=1)
            if isinstance(one, Factor) and one.is_trend
        ],
        names=[INTERCEPT, *(name for one in predictors for name in _name_terms(one))],
        level=find_level(together, times),
    )
    return RegressionResult(
        n=fit.total,
        together=together,
        contradiction=find_contradiction(counts=counts, variables=variables),
        cells=fit.cells,
        log_likelihood=fit.log_likelihood,
        level=fit.level,
        terms=tuple(_read_term(fit, place) for place in range(len(fit.names))),
        factors=tuple(
            FactorTest(
                indicator=one.name,
                degrees_of_freedom=len(_name_terms(one)),
                statistic=test.statistic,
                p_value=test.p_value,
            )
            for one, test in zip(predictors, fit.predictor_tests, strict=True)
            if len(_name_terms(one)) > 1
        ),
    )


def count_planned(manifest: Manifest) -> int:
    """Count the intervals and tests of all planned comparisons, which hold together."""
    return sum(
        1 if is_table(names) else sum(map(_count_tests, find_indicators(manifest, names[1:])))
        for names in manifest.planned_comparisons
    )


def _count_tests(predictor: Indicator) -> int:
    """Count the coefficients of a predictor; one more test says whether several matter at all."""
    coefficients = len(_name_terms(predictor))
    return coefficients + (coefficients > 1)


def _name_terms(predictor: Indicator) -> list[str]:
    if not isinstance(predictor, Factor):
        return [f"{predictor.name}={YES}"]
    if predictor.is_trend:
        return [predictor.name]
    reference, *answers = predictor.answers
    return [name_contrast(predictor.name, answer, reference) for answer in answers]


def _read_term(fit: LatentLogisticFit, place: int) -> Term:
    coefficient = float(fit.coefficients[place])
    low, high = float(fit.low[place]), float(fit.high[place])
    return Term(
        name=fit.names[place],
        coefficient=coefficient,
        standard_error=float(fit.standard_errors[place]),
        low=low,
        high=high,
        odds_ratio=_exp(coefficient),
        odds_ratio_low=_exp(low),
        odds_ratio_high=_exp(high),
        adjusted=fit.adjusted[place - 1] if place else None,
        statistic=fit.tests[place].statistic,
        p_value=fit.tests[place].p_value,
    )


def analyse_pairs(
    *,
    indicators: Sequence[Indicator],
    counts: PairCounts,
    columns: Columns,
    minimum: int,
    crosses_blocks: bool = True,
) -> PairsResult:
    """Test every pair of plain indicators, with p-values adjusted for the number of pairs.

    If fewer than `minimum` people were asked both questions, or their blocks may not be compared
    with each other, the pair is named but not tested.
    """
    tables = [
        ((first.name, second.name), (first, second), count_pair(counts, columns, first, second))
        for first, second in combinations(indicators, 2)
    ]
    enough = [
        entry
        for entry in tables
        if entry[2].sum() >= minimum and (crosses_blocks or _is_within_block(entry[1]))
    ]
    level = simultaneous_level(CONTRADICTION_LEVEL, shares=max(len(enough), 1))
    tests = [_test_pair(pair, table, level) for _, pair, table in enough]
    adjusted = adjust_for_multiplicity([test.p_value for test, _ in tests])
    return PairsResult(
        n=counts.total,
        contradiction=Contradiction.of_any([each for _, each in tests]),
        pairs=tuple(
            PairTest(
                indicators=names,
                n=int(table.sum()),
                # Randomization does not change the sign of an association.
                more_often_together=int(table[0, 0] * table[1, 1] > table[0, 1] * table[1, 0]),
                method=test.method,
                statistic=test.statistic,
                p_value=test.p_value,
                adjusted_p_value=p_value,
            )
            for (names, _, table), (test, _), p_value in zip(enough, tests, adjusted, strict=True)
        ),
        too_few=tuple(
            UntestedPair(indicators=names, n=int(table.sum()))
            for names, _, table in tables
            if names not in {names for names, _, _ in enough}
        ),
    )


def _is_within_block(pair: Sequence[Indicator]) -> bool:
    return len({one.symbol.block for one in pair}) == 1


def _test_pair(
    pair: Sequence[Indicator], table: NDArray[np.int64], level: float
) -> tuple[SignificanceTest, Contradiction]:
    """Test independence; return also whether the table contradicts the design."""
    variables = [indicator.variable for indicator in pair]
    return (
        independence_test(counts=table, variables=variables),
        find_contradiction(counts=table, variables=variables, level=level),
    )


def count_pair(
    counts: PairCounts, columns: Columns, first: Indicator, second: Indicator
) -> NDArray[np.int64]:
    """Cross-tabulate two plain indicators over the reports that contain both.

    Under an unset mask a column holds 0, so counting columns and masks together is enough.
    """
    one, other = columns.places[first.place], columns.places[second.place]
    mask, other_mask = columns.masks[first.place], columns.masks[second.place]
    both = counts.joint(one, other)
    has_one = counts.joint(one, one if other_mask is None else other_mask)
    has_other = counts.joint(other, other if mask is None else mask)
    if mask is None and other_mask is None:
        total = counts.total
    else:
        known = [column for column in (mask, other_mask) if column is not None]
        total = counts.joint(known[0], known[-1])
    return np.array(
        [[total - has_one - has_other + both, has_other - both], [has_one - both, both]]
    )


def _exp(value: float) -> float:
    return exp(value) if value < 700 else inf
