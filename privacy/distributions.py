"""The normal quantile of 95 % intervals, and distributions that scipy.stats provides.

scipy.stats is imported when it is first used, because importing it takes longer than importing all
other packages together, and only plans, exact power and shuffling need it.
"""

from __future__ import annotations

from typing import Any

Z_95 = 1.959963984540054  # the standard normal quantile at .975


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
