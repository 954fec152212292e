"""The chance that each option is the true leader, from exact counts: for researchers only.

It is no part of a release. It reads the counts as they are, so nobody else may see it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from privacy.checks import MOST_REPORTS, Floats, check_whole, check_whole_counts

_PRIOR = 0.5  # Jeffreys: half a report in each cell


def leader_chances(
    counts: ArrayLike, *, total: int, exclusive: bool = True, draws: int = 20_000, seed: int = 0
) -> Floats:
    """Compute the chance that each option has the largest true share.

    Parameters
    ----------
    counts : array_like of int, shape (options,)
        Reports that show each option, at least two options.
    total : int
        All reports of the question, those that show no option included; at least 1.
    exclusive : bool
        Whether a report shows at most one of the options. Otherwise each option has a symbol
        that shows Yes or No ("select several").
    draws : int
        Draws from the posterior distribution, from 100 to 1,000,000.
    seed : int
        Seed of the draws, so that a page says the same at each visit; at least 0.

    Returns
    -------
    ndarray of float64, shape (options,)
        The chances; they sum to one.

    Raises
    ------
    ValueError
        If an argument is not whole or out of range, or if the counts do not fit the total.

    Notes
    -----
    All options have the same channel, and a reported share is c + d times the true one with d > 0.
    So the option with the largest reported share has the largest true one, and neither c nor d
    matters. Under Jeffreys' prior, half a report in each cell, the reported shares of exclusive
    options follow a Dirichlet distribution: independent gamma variables, divided by their sum,
    which does not change their order. For several options, each share follows a beta distribution;
    they are taken as independent, as the counts do not show which options go together. If popular
    options go together, the true chance of the leader is larger.

    For large counts this is the normal approximation. For empty cells it remains a distribution.

    References
    ----------
    Gelman, A. et al. (2013), Bayesian Data Analysis, 3rd edition, sections 2.4 and 3.4, and
    appendix A (a Dirichlet variable from gamma variables).

    Examples
    --------
    >>> leader_chances([520, 480], total=1000).round(2).tolist()
    [0.9, 0.1]
    >>> leader_chances([52, 50, 45, 40], total=187).round(2).tolist()
    [0.49, 0.35, 0.13, 0.03]
    """
    total = check_whole("total", total, at_least=1, at_most=MOST_REPORTS)
    draws = check_whole("draws", draws, at_least=100, at_most=1_000_000)
    seed = check_whole("seed", seed, at_least=0)
    cells = check_whole_counts("counts", counts)
    if cells.ndim != 1 or len(cells) < 2:
        raise ValueError(f"counts must have at least two entries on one axis, got {counts!r}")
    if cells.max() > total or (exclusive and cells.sum() > total):
        raise ValueError(f"counts must fit into the total of {total}, got {counts!r}")
    generator, size = np.random.default_rng(seed), (draws, len(cells))
    shown = cells + _PRIOR
    drawn = (
        generator.standard_gamma(shown, size)
        if exclusive
        else generator.beta(shown, total - cells + _PRIOR, size)
    )
    return np.bincount(drawn.argmax(axis=1), minlength=len(cells)) / draws
