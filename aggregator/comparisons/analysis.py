"""Compute comparisons from cross tabulations of reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregator.comparisons.pairs import PairTables
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
from privacy.associations.contradictions import (
    CONTRADICTION_LEVEL,
    Contradiction,
    find_contradiction,
)
from privacy.associations.latent_regression import LatentLogisticFit, fit_latent_logistic
from privacy.associations.maximum_likelihood import NotSettledError
from privacy.associations.significance import (
    SignificanceTest,
    adjust_for_multiplicity,
    independence_test,
    latent_independence_test,
)
from privacy.associations.tables import MAX_CELLS, estimate_table
from privacy.associations.two_questions import associate
from privacy.level import LEVEL
from privacy.shares.intervals import simultaneous_level
from privacy.shares.looks import repeated_level
from surveys.comparing.choice import are_of_one_scale, decide, is_table
from surveys.comparing.indicators import NO, YES, Factor, Indicator, find_indicators
from surveys.comparing.pairs import list_pairs
from surveys.manifest.manifest import Manifest
from surveys.planning.figures import COMPARED_AT

# The reasons why a pair is not tested.
FEW, APART, BY_RULE, LARGE, UNSETTLED = "few", "apart", "rule", "large", "unsettled"
ONE_SCALE = "scale"
PAIRS_AT_ONCE = 100


def find_level(together: Together, times: Sequence[float]) -> float:
    """Find the level of each interval at which all intervals hold jointly at all looks."""
    return repeated_level(simultaneous_level(LEVEL, shares=together.family), times=times)


def analyse_table(
    *,
    indicators: Sequence[Indicator],
    counts: NDArray[np.int64],
    planned: int = 0,
    times: Sequence[float] = (),
) -> TwoQuestionsResult:
    """Compare the first indicator between people who say Yes and people who say No to the second.

    `planned` is the number of tests of all planned comparisons if this is one of them, otherwise 0.
    `times` lists the shown looks as fractions of the people expected.
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
    after_each: Callable[[], None] = lambda: None,
) -> RegressionResult:
    """Regress Yes to the first indicator on the other indicators.

    `planned` and `times` have the same meaning as in `analyse_table`; `after_each` is called after
    each interval is computed.
    """
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
        after_each=after_each,
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
    """Count the intervals and tests that hold simultaneously for all planned comparisons."""
    return sum(
        1 if is_table(names) else sum(map(_count_tests, find_indicators(manifest, names[1:])))
        for names in manifest.planned_comparisons
    )


def _count_tests(predictor: Indicator) -> int:
    """Count a predictor's tests: one per coefficient and, if there are several, a joint test."""
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
    manifest: Manifest,
    indicators: Sequence[Indicator],
    tables: PairTables,
    minimum: int,
    crosses_blocks: bool = True,
    after_each: Callable[[], None] = lambda: None,
) -> PairsResult:
    """Test every pair of these indicators, with p-values adjusted for the number of pairs.

    Pairs that cannot be tested are listed with the reason. So are pairs of questions that fewer
    than `minimum` people were asked. `after_each` is called once per PAIRS_AT_ONCE pairs.
    """
    tested: list[tuple[Indicator, Indicator, NDArray[np.int64]]] = []
    untested: list[UntestedPair] = []
    for first, second in list_pairs(indicators):
        table = tables.count(first, second)
        reason = _find_obstacle(manifest, (first, second), crosses_blocks=crosses_blocks)
        if not reason and table.sum() < minimum:
            reason = FEW
        if reason:
            names = (first.name, second.name)
            untested.append(UntestedPair(indicators=names, n=int(table.sum()), reason=reason))
        else:
            tested.append((first, second, table))
    level = simultaneous_level(CONTRADICTION_LEVEL, shares=max(len(tested), 1))
    found: list[tuple[Indicator, Indicator, NDArray[np.int64], SignificanceTest]] = []
    contradictions: list[Contradiction] = []
    for place, (first, second, table) in enumerate(tested, start=1):
        if place % PAIRS_AT_ONCE == 0:
            after_each()
        variables = [first.variable, second.variable]
        run = independence_test if first.is_plain and second.is_plain else latent_independence_test
        try:
            test = run(counts=table, variables=variables)
            contradictions.append(
                find_contradiction(counts=table, variables=variables, level=level)
            )
        except NotSettledError:
            names = (first.name, second.name)
            untested.append(UntestedPair(indicators=names, n=int(table.sum()), reason=UNSETTLED))
        else:
            found.append((first, second, table, test))
    adjusted = adjust_for_multiplicity([test.p_value for *_, test in found])
    return PairsResult(
        n=tables.counts.total,
        contradiction=Contradiction.of_any(contradictions),
        pairs=tuple(
            PairTest(
                indicators=(first.name, second.name),
                n=int(table.sum()),
                counts=_list_rows(table) if first.is_plain and second.is_plain else None,
                more_often_together=_find_sign(first, second, table),
                method=test.method,
                statistic=test.statistic,
                p_value=test.p_value,
                adjusted_p_value=p_value,
            )
            for (first, second, table, test), p_value in zip(found, adjusted, strict=True)
        ),
        untested=tuple(untested),
    )


def _find_obstacle(
    manifest: Manifest,
    pair: tuple[Indicator, Indicator],
    *,
    crosses_blocks: bool,
) -> str:
    """Name a reason not to test a pair, other than too few people, or return an empty string."""
    if prod(one.variable.size for one in pair) > MAX_CELLS:
        return LARGE
    if decide(manifest, *pair):
        return BY_RULE
    if are_of_one_scale(*pair):
        return ONE_SCALE
    is_across = len({one.symbol.block for one in pair} - {None}) > 1
    return APART if is_across and not crosses_blocks else ""


def _find_sign(first: Indicator, second: Indicator, table: NDArray[np.int64]) -> int | None:
    """Return whether people who answered both say Yes to both more often than by chance."""
    if max(len(first.levels), len(second.levels)) > 2:
        return None
    variables = [first.variable, second.variable]
    shares = estimate_table(counts=table, variables=variables).shares
    return int(shares[0, 0] * shares[1, 1] > shares[0, 1] * shares[1, 0])


def _exp(value: float) -> float:
    return exp(value) if value < 700 else inf
