"""Distributions out of scipy.stats, fetched when first used.

Importing that package takes longer than all others together, and every web process, worker and
command would pay for it at its start; only plans, exact powers and shuffling need it.
"""

from __future__ import annotations

from typing import Any


def binomial() -> Any:
    """Return the binomial distribution of scipy.stats.

    Returns
    -------
    scipy.stats.rv_discrete
        With the methods pmf, cdf, sf, ppf and isf.

    Examples
    --------
    >>> round(float(binomial().pmf(1, 2, 0.5)), 9)
    0.5
    """
    from scipy.stats import binom

    return binom
