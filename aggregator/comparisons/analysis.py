"""What a comparison computes: numbers for rows and pages, from cross tabulations of reports.

Results go into JSON, which has no infinity: "inf" and "-inf" stand there as words, and None for
what is not defined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from math import exp, inf, isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregator.batches.columns import Columns
from aggregator.batches.cross_tabulation import PairCounts
from aggregator.comparisons.indicators import NO, YES, Indicator
from aggregator.results.estimates import LEVEL
from privacy.associations.association import Figure, associate
from privacy.associations.latent_regression import LatentLogisticFit, fit_latent_logistic
from privacy.associations.significance import adjust_for_multiplicity, independence_test
from privacy.associations.tables import (
    CONTRADICTION_LEVEL,
    contradicts_design,
    maximize_likelihood,
    prepare_table,
)
from privacy.shares.intervals import simultaneous_level

# Eight yes/no questions make 256 cells of true answers; more would promise what few surveys
# can estimate.
MAX_PREDICTORS = 7


def analyse_table(*, indicators: Sequence[Indicator], counts: NDArray[np.int64]) -> dict[str, Any]:
    """Compare the share of Yes to the first indicator between the answers to the second."""
    variables = [indicator.variable for indicator in indicators]
    found = associate(
        counts=counts, variables=variables, event=YES, first=YES, second=NO, level=LEVEL
    )
    outcome = indicators[0].question
    return {
        "n": int(counts.sum()),
        # Of a number: its range, whose share is how far the mean lies between the ends.
        "range": [outcome.minimum, outcome.maximum] if indicators[0].is_number else None,
        "contradiction": found.table.contradiction,
        "counts": found.table.counts.tolist(),
        "shares": found.table.shares.tolist(),
        "standard_errors": found.table.standard_errors.tolist(),
        "joint_shares": found.table.joint_shares.tolist(),
        "share_first": _describe(found.share_first),
        "share_second": _describe(found.share_second),
        "difference": _describe(found.difference),
        "odds_ratio": _describe(found.odds_ratio),
        "log_odds_ratio": _describe(found.log_odds_ratio),
        "phi": _describe(found.phi),
        "test": asdict(found.test),
    }


def analyse_regression(
    *, indicators: Sequence[Indicator], counts: NDArray[np.int64]
) -> dict[str, Any]:
    """Regress Yes to the first indicator on the answers to the others."""
    names = ["intercept", *(f"{indicator.name}={YES}" for indicator in indicators[1:])]
    fit = fit_latent_logistic(
        counts=counts,
        variables=[indicator.variable for indicator in indicators],
        names=names,
        level=LEVEL,
    )
    adjusted = adjust_for_multiplicity([test.p_value for test in fit.tests[1:]])
    return {
        "n": fit.total,
        "contradiction": fit.contradiction,
        "cells": fit.cells,
        "log_likelihood": fit.log_likelihood,
        "level": fit.level,
        "terms": [
            _describe_term(fit, place, adjusted[place - 1] if place else None)
            for place in range(len(fit.names))
        ],
    }


def _describe_term(fit: LatentLogisticFit, place: int, adjusted: float | None) -> dict[str, Any]:
    coefficient, error = float(fit.coefficients[place]), float(fit.standard_errors[place])
    low, high = float(fit.low[place]), float(fit.high[place])
    return {
        "name": fit.names[place],
        "coefficient": coefficient,
        "standard_error": error,
        "low": low,
        "high": high,
        "odds_ratio": _bounded(_exp(coefficient)),
        "odds_ratio_low": _bounded(_exp(low)),
        "odds_ratio_high": _bounded(_exp(high)),
        "statistic": fit.tests[place].statistic,
        "p_value": fit.tests[place].p_value,
        "adjusted_p_value": adjusted,
    }


def analyse_pairs(
    *, indicators: Sequence[Indicator], counts: PairCounts, columns: Columns, minimum: int
) -> dict[str, Any]:
    """Test every two plain indicators, with p-values adjusted for their number.

    Two whom fewer than `minimum` people were asked together are named, and not tested.
    """
    pairs: list[dict[str, Any]] = []
    tables = [
        (first, second, count_pair(counts, columns, first, second))
        for first, second in combinations(indicators, 2)
    ]
    enough = [entry for entry in tables if entry[2].sum() >= minimum]
    level = simultaneous_level(CONTRADICTION_LEVEL, shares=max(len(enough), 1))
    contradiction = False
    for first, second, table in enough:
        variables = [first.variable, second.variable]
        gathered, channel = prepare_table(counts=table, variables=variables)
        _, most = maximize_likelihood(counts=gathered.ravel(), channel=channel)
        contradiction |= contradicts_design(counts=gathered, log_likelihood=most, level=level)
        test = independence_test(counts=table, variables=variables)
        pairs.append(
            {
                "questions": [first.name, second.name],
                "n": int(table.sum()),
                # More often yes to both than by chance; the channel keeps the sign.
                "together": int(table[0, 0] * table[1, 1] - table[0, 1] * table[1, 0] > 0),
                "method": test.method,
                "statistic": test.statistic,
                "p_value": test.p_value,
            }
        )
    adjusted = adjust_for_multiplicity([pair["p_value"] for pair in pairs])
    for pair, p_value in zip(pairs, adjusted, strict=True):
        pair["adjusted_p_value"] = p_value
    return {
        "n": counts.total,
        "contradiction": contradiction,
        "pairs": pairs,
        "too_few": [
            {"questions": [first.name, second.name], "n": int(table.sum())}
            for first, second, table in tables
            if table.sum() < minimum
        ],
    }


def count_pair(
    counts: PairCounts, columns: Columns, first: Indicator, second: Indicator
) -> NDArray[np.int64]:
    """The table of two plain indicators among the reports that have both.

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


def _describe(figure: Figure) -> dict[str, Any]:
    return {name: _bounded(value) for name, value in asdict(figure).items()}


def _bounded(value: float | None) -> float | str | None:
    if value is None or isnan(value):
        return None
    return value if isfinite(value) else repr(value)


def _exp(value: float) -> float:
    return exp(value) if value < 700 else inf
