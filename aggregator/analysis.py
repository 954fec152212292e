"""What a comparison computes: numbers for rows and pages, from joint counts of reports.

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

from aggregator.estimates import LEVEL
from aggregator.joint_counts import PairCounts
from privacy.association import Figure, associate
from privacy.intervals import simultaneous_level
from privacy.latent_regression import LatentLogisticFit, fit_latent_logistic
from privacy.significance import adjust_for_multiplicity, independence_test
from privacy.tables import (
    CONTRADICTION_LEVEL,
    Variable,
    contradicts_design,
    maximize_likelihood,
    prepare_table,
)
from surveys.manifest import ManifestQuestion

# Eight yes/no questions make 256 cells of true answers; more would promise what few surveys
# can estimate.
MAX_PREDICTORS = 7
NO, YES = 0, 1


def analyse_table(
    *, questions: Sequence[ManifestQuestion], counts: NDArray[np.int64]
) -> dict[str, Any]:
    """Compare the share of Yes to the first question between the answers to the second."""
    variables = [Variable.plain(question.mechanism) for question in questions]
    found = associate(
        counts=counts, variables=variables, event=YES, first=YES, second=NO, level=LEVEL
    )
    return {
        "n": int(counts.sum()),
        "contradiction": found.table.contradiction,
        "counts": counts.tolist(),
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
    *, questions: Sequence[ManifestQuestion], counts: NDArray[np.int64]
) -> dict[str, Any]:
    """Regress Yes to the first question on the answers to the others."""
    variables = [Variable.plain(question.mechanism) for question in questions]
    fit = fit_latent_logistic(
        counts=counts, variables=variables, names=_name_terms(questions), level=LEVEL
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


def _name_terms(questions: Sequence[ManifestQuestion]) -> list[str]:
    """As fit_latent_logistic orders them: intercept, then each answer but the first."""
    return [
        "intercept",
        *(
            f"{question.name}={option.code}"
            for question in questions[1:]
            for option in sorted(question.options, key=lambda option: option.code)[1:]
        ),
    ]


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


def analyse_pairs(*, questions: Sequence[ManifestQuestion], counts: PairCounts) -> dict[str, Any]:
    """Test every two yes/no questions, with p-values adjusted for their number."""
    pairs: list[dict[str, Any]] = []
    level = simultaneous_level(
        CONTRADICTION_LEVEL, shares=len(counts.columns) * (len(counts.columns) - 1) // 2
    )
    contradiction = False
    for first, second in combinations(counts.columns, 2):
        table = counts.table(first, second)
        variables = [Variable.plain(questions[place].mechanism) for place in (first, second)]
        gathered, channel = prepare_table(counts=table, variables=variables)
        _, most = maximize_likelihood(counts=gathered.ravel(), channel=channel)
        contradiction |= contradicts_design(counts=gathered, log_likelihood=most, level=level)
        test = independence_test(counts=table, variables=variables)
        pairs.append(
            {
                "questions": [questions[first].name, questions[second].name],
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
    return {"n": counts.total, "contradiction": contradiction, "pairs": pairs}


def _describe(figure: Figure) -> dict[str, Any]:
    return {name: _bounded(value) for name, value in asdict(figure).items()}


def _bounded(value: float | None) -> float | str | None:
    if value is None or isnan(value):
        return None
    return value if isfinite(value) else repr(value)


def _exp(value: float) -> float:
    return exp(value) if value < 700 else inf
