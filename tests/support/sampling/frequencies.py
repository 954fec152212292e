"""A test of whether drawn values fit exact probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy.stats import chi2

LEAST_EXPECTED = 50.0  # so that chi-squared is accurate far into its tail


def chi_squared_p(drawn: Iterable[int], probability: Callable[[int], float], *, most: int) -> float:
    """Compare draws of whole numbers with probabilities of -most..most.

    Values beyond ±most, and values that are expected too rarely, are counted together.
    """
    found = Counter(drawn)
    total = found.total()
    if any(probability(value) == 0 for value in found):
        return 0.0
    values = [
        value for value in range(-most, most + 1) if total * probability(value) >= LEAST_EXPECTED
    ]
    observed = np.array([found[value] for value in values], dtype=np.float64)
    expected = np.array([total * probability(value) for value in values])
    rest_observed, rest_expected = total - observed.sum(), max(total - expected.sum(), 0.0)
    if rest_expected < LEAST_EXPECTED:  # merged with the rarest value, so that it still counts
        rarest = int(expected.argmin())
        observed[rarest] += rest_observed
        expected[rarest] += rest_expected
    else:
        observed = np.append(observed, rest_observed)
        expected = np.append(expected, rest_expected)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    p = float(chi2.sf(statistic, df=len(expected) - 1))
    print(f"{total=} cells={len(expected)} {statistic=:.2f} {p=:.3g}")
    return p


def among(chances: Sequence[float]) -> Callable[[int], float]:
    """Return a function that gives the probability of each position in a list."""
    return lambda place: chances[place] if 0 <= place < len(chances) else 0.0
