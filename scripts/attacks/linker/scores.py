"""Scores guesses of the arrival order by the chance that a blind guess does as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FEWEST = 3  # two reports are always in exactly the true order or its reverse


@dataclass(frozen=True, kw_only=True)
class Score:
    placed: int  # reports for which there was a guess
    correlation: float  # Spearman's, averaged over batches by size
    p: float


def score(guesses: Sequence[NDArray[np.float64]], truths: Sequence[NDArray[np.float64]]) -> Score:
    """Compare guessed and true order, batch by batch.

    If a guess is uninformed, every true order is equally likely, and Spearman's ρ of m reports has
    mean 0 and variance 1/(m − 1), even with ties. Two tests use this fact. The sum over batches
    finds a leak that always points the same way, and the sum of squares finds any other leak. The
    result is twice the smaller p.
    """
    weights, correlations = [], []
    placed = 0
    for guess, truth in zip(guesses, truths, strict=True):
        known = np.isfinite(guess)
        placed += int(known.sum())
        if known.sum() < FEWEST or len(np.unique(guess[known])) < 2:
            continue
        ranks = stats.rankdata(guess[known]), stats.rankdata(truth[known])
        correlations.append(float(np.corrcoef(*ranks)[0, 1]))
        weights.append(float(known.sum() - 1))
    if not weights:
        return Score(placed=placed, correlation=0.0, p=1.0)
    weight, rho = np.array(weights), np.array(correlations)
    one_way = 2 * stats.norm.sf(abs((weight * rho).sum()) / np.sqrt(weight.sum()))
    any_way = stats.chi2.sf((weight * rho**2).sum(), df=len(rho))
    return Score(
        placed=placed,
        correlation=float((weight * rho).sum() / weight.sum()),
        p=float(min(1.0, 2 * min(one_way, any_way))),
    )
