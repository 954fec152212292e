"""What a comparison computes: numbers for rows and pages, from joint counts of reports.

Results go into JSON, which has no infinity: an end that has no bound is None there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from math import exp, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aggregator.estimates import LEVEL
from aggregator.joint_counts import PairCounts
from privacy.association import Figure, associate
from privacy.latent_regression import LatentLogisticFit, fit_latent_logistic
from privacy.significance import SignificanceTest, adjust_for_multiplicity, homogeneity_test
from privacy.tables import Variable, estimate_table
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
    """Correlate every two yes/no questions, with p-values adjusted for their number."""
    pairs: list[dict[str, Any]] = []
    for first, second in combinations(counts.columns, 2):
        table = counts.table(first, second)
        variables = [Variable.plain(questions[place].mechanism) for place in (first, second)]
        pairs.append(
            {
                "questions": [questions[first].name, questions[second].name],
                "phi": _phi(estimate_table(counts=table, variables=variables).joint_shares),
                "p_value": _test(table).p_value,
            }
        )
    adjusted = adjust_for_multiplicity([pair["p_value"] for pair in pairs])
    for pair, p_value in zip(pairs, adjusted, strict=True):
        pair["adjusted_p_value"] = p_value
    return {"n": counts.total, "pairs": pairs}


def _test(table: NDArray[np.int64]) -> SignificanceTest:
    if (table.sum(axis=0) == 0).any() or (table.sum(axis=1) == 0).any():
        return SignificanceTest(
            method="pearson", statistic=0.0, degrees_of_freedom=1, p_value=1.0
        )  # one code only: nothing to tell apart
    return homogeneity_test(counts=table)


def _phi(shares: NDArray[np.float64]) -> float | None:
    """Of the most likely table; None where an answer is given by nobody."""
    spread = float(np.prod(shares.sum(axis=0)) * np.prod(shares.sum(axis=1)))
    if spread <= 0:
        return None
    return float(np.linalg.det(shares) / spread**0.5)


def _describe(figure: Figure) -> dict[str, Any]:
    return {name: _bounded(value) for name, value in asdict(figure).items()}


def _bounded(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _exp(value: float) -> float:
    return exp(value) if value < 700 else float("inf")
