"""Tests of whether any true answers agree with a table of reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, gammaln, xlogy

from privacy.associations.maximum_likelihood import maximize_likelihood
from privacy.associations.tables import Variable, prepare_table
from privacy.checks import Floats, check_level

CONTRADICTION_LEVEL = 0.99
# With fewer reports per cell, the likelihood ratio exceeds its quantile too often. In a large
# table, the excess grows with the number of cells, but the standard deviation of the ratio only
# with the square root of that number.
_FEWEST_FOR_EACH_CELL = 5.0


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """Results of two tests of whether a table of reports contradicts its design.

    Attributes
    ----------
    while_watched : bool
        Result of the test that may be used at every look. The probability that it is ever True by
        chance is at most 1 - level.
    after_fixed_end : bool
        Result of the more sensitive test for one look, with the amount of data fixed in advance.
    """

    while_watched: bool
    after_fixed_end: bool

    @classmethod
    def of_any(cls, several: Sequence[Contradiction]) -> Contradiction:
        """Combine the results of several tables: a test is True if it is True for any table."""
        return cls(
            while_watched=any(each.while_watched for each in several),
            after_fixed_end=any(each.after_fixed_end for each in several),
        )

    def applies(self, *, fixed_end: bool) -> bool:
        """Return the result for a fixed end, or the one that is valid at every look."""
        return self.after_fixed_end if fixed_end else self.while_watched


def find_contradiction(
    *,
    counts: ArrayLike,
    variables: Sequence[Variable],
    level: float = CONTRADICTION_LEVEL,
) -> Contradiction:
    """Test whether a table of reports disagrees with every possible table of true answers.

    Parameters
    ----------
    counts : array_like of int, shape (k_1, ..., k_m)
        Number of reports showing each combination of codes, with axes in the order of `variables`.
    variables : sequence of Variable
        The questions, at least one.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    Contradiction
        Each test is True with probability at most 1 - level under the stated mechanism.

    Raises
    ------
    ValueError
        If the table does not match the variables, a count is negative, there is no report, there
        are more than 1,024 cells, or level is out of range.
    NotSettledError
        If the search for the most likely shares does not converge.

    Notes
    -----
    Let N be the counts over the categories of the variables, and L the greatest log-likelihood that
    true shares in [0, 1] can give.

    - At every look, the test is True if ln B(1/2 + N) - ln B(1/2) - L >= ln(1 / (1 - level)). The
      statistic compares the Dirichlet(1/2) mixture with the most likely shares. A mixture of
      likelihood ratios is a nonnegative martingale, so Ville's inequality bounds the probability
      that it ever becomes this large.
    - After a fixed end, the test is True if 2 (sum N ln(N / n) - L) is at least the chi-square
      quantile of the level, with one degree of freedom fewer than there are cells. The statistic
      compares free reported shares with those that true shares can give. The actual shares are
      among the latter, so the statistic never exceeds the ratio against the actual shares. For
      large n, that ratio has this chi-square distribution, so the test is conservative.
      With fewer reports per cell than the larger of 5 and the square root of the number of cells,
      the test for every look is used instead.

    References
    ----------
    Robbins, H. (1970), Statistical methods related to the law of the iterated logarithm,
    Annals of Mathematical Statistics 41(5).
    Wilks, S. S. (1938), Annals of Mathematical Statistics 9(1), p. 62 (theorem).

    Examples
    --------
    Two pairs of coins show different codes in at least 6 of 16 reports on average, whatever people
    answer:

    >>> from privacy.mechanism.mechanisms import RandomizedResponse
    >>> coins = Variable.plain(RandomizedResponse.from_flips(symbols=2, flips=25))
    >>> find_contradiction(counts=[[400, 150], [150, 300]], variables=[coins, coins])
    Contradiction(while_watched=False, after_fixed_end=True)
    """
    level = check_level(level)
    gathered, channel = prepare_table(counts=counts, variables=variables)
    _, most = maximize_likelihood(counts=gathered.ravel(), channel=channel)
    cells = gathered.ravel().astype(np.float64)
    watched = _mix_likelihoods(cells) - most >= -np.log1p(-level)
    if cells.sum() < max(_FEWEST_FOR_EACH_CELL, len(cells) ** 0.5) * len(cells):
        return Contradiction(while_watched=bool(watched), after_fixed_end=bool(watched))
    ratio = 2 * (xlogy(cells, cells / cells.sum()).sum() - most)
    ended = ratio >= chdtri(len(cells) - 1, 1 - level)
    return Contradiction(while_watched=bool(watched), after_fixed_end=bool(ended))


def _mix_likelihoods(cells: Floats) -> float:
    """Return the log of the likelihood averaged over report shares with a Dirichlet(1/2) prior."""
    mixture = gammaln(cells + 0.5).sum() - gammaln(cells.sum() + 0.5 * len(cells))
    prior = len(cells) * gammaln(0.5) - gammaln(0.5 * len(cells))
    return float(mixture - prior)
