"""Tests on randomized reports, whose noise costs power; p-values adjusted for all pairs (Holm).

The channel is the same for everyone, and its noise is independent of everything else. Equal
distributions of true answers therefore imply equal distributions of reports, and independent true
answers imply independent reports. Because the channel is invertible, the converse also holds. Tests
of these hypotheses are therefore valid on unadjusted counts of reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from privacy.associations.maximum_likelihood import maximize_likelihood
from privacy.associations.tables import Variable, prepare_table
from privacy.checks import Floats, check_shares, check_whole_counts

# Pearson's statistic is not close to chi-square if a cell's expected count is below this.
SMALLEST_EXPECTED = 5.0


@dataclass(frozen=True, kw_only=True)
class SignificanceTest:
    """The outcome of a test.

    Attributes
    ----------
    method : str
        "pearson", "fisher_exact", "likelihood_ratio", "latent_likelihood_ratio", or "no_variation"
        if all reports are the same, which is no evidence against the hypothesis (p = 1).
    statistic : float or None
        None for the exact test and for "no_variation", which have none.
    degrees_of_freedom : int or None
        None for the exact test and for "no_variation".
    p_value : float
        The p-value, in [0, 1].
    """

    method: str
    statistic: float | None
    degrees_of_freedom: int | None
    p_value: float


NO_VARIATION = SignificanceTest(
    method="no_variation", statistic=None, degrees_of_freedom=None, p_value=1.0
)


def independence_test(*, counts: ArrayLike, variables: Sequence[Variable]) -> SignificanceTest:
    """Test whether the true answers to two questions are independent.

    Parameters
    ----------
    counts : array_like of int, shape (k_1, k_2)
        Number of reports showing each combination of codes.
    variables : sequence of two Variable
        The questions.

    Returns
    -------
    SignificanceTest
        If every category of both questions is an answer: "fisher_exact" on the reports if their
        table is 2 x 2 and an expected count is below 5, "no_variation" (p = 1) if all reports of
        one question are the same, and otherwise "pearson" on the reports. Where there are refusals
        or structural "not asked", the symbols depend on each other for trivial reasons, so
        "latent_likelihood_ratio" tests independence among those who answered both questions.

    Raises
    ------
    ValueError
        If the table does not match the variables, or a question has only one answer.

    Notes
    -----
    The latent test compares the maximum of the likelihood over all tables with the maximum
    over those whose rows and columns are independent in the cells where both questions were
    answered. Its statistic is compared with chi-square with (answers_1 - 1)(answers_2 - 1) degrees
    of freedom; the test is conservative where a share is at 0. A Pearson test with expected counts
    below 5 in a larger table is approximate.

    References
    ----------
    Gaboardi, M. and Rogers, R. (2018), Local private hypothesis testing, ICML,
    arXiv:1709.07155, section 5 (tests on randomized counts).

    Examples
    --------
    >>> from privacy.mechanism.mechanisms import RandomizedResponse
    >>> coins = Variable.plain(RandomizedResponse.from_flips(symbols=2, flips=25))
    >>> found = independence_test(counts=[[250, 250], [200, 300]], variables=[coins, coins])
    >>> found.method, round(found.statistic, 8), round(found.p_value, 8)
    ('pearson', 10.1010101, 0.00148188)
    """
    gathered, _, _ = _prepare_pair(counts, variables)
    first, second = variables
    if first.answered == first.size and second.answered == second.size:
        if min((gathered.sum(axis=axis) > 0).sum() for axis in (0, 1)) < 2:
            # All reports of one question are the same, which is no evidence against independence.
            return NO_VARIATION
        return homogeneity_test(counts=gathered)
    return latent_independence_test(counts=counts, variables=variables)


def homogeneity_test(*, counts: ArrayLike) -> SignificanceTest:
    """Test whether the rows of a table of reports have the same distribution.

    Parameters
    ----------
    counts : array_like of int, shape (groups, codes)
        Number of reports of each group showing each code. All groups must have the same channel;
        they may be declared or randomized themselves.

    Returns
    -------
    SignificanceTest
        "pearson", or "fisher_exact" for a 2 x 2 table with an expected count below 5.

    Raises
    ------
    ValueError
        If the table has fewer than two rows or columns with a report, or a count is negative or not
        whole.

    Notes
    -----
    Rows and columns without any report carry no information and are left out. No continuity
    correction is made.

    References
    ----------
    Pearson, K. (1900), Philosophical Magazine 50(302).
    Fisher, R. A. (1934), Statistical Methods for Research Workers, 5th ed., section 21.02.

    Examples
    --------
    >>> round(homogeneity_test(counts=[[250, 250], [200, 300]]).p_value, 8)
    0.00148188
    """
    table = np.asarray(check_whole_counts("counts", counts), dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"counts must be a table of two dimensions, got {table.ndim}")
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        raise ValueError(
            "counts must have reports in at least two rows and two columns, "
            f"got {np.asarray(counts).tolist()!r}"
        )
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    if table.shape == (2, 2) and expected.min() < SMALLEST_EXPECTED:
        return SignificanceTest(
            method="fisher_exact",
            statistic=None,
            degrees_of_freedom=None,
            p_value=float(scipy.stats.fisher_exact(table.astype(np.int64)).pvalue),
        )
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    return _pearson(table, expected, freedom)


def adjust_for_multiplicity(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values of several tests so that all decisions together keep the level.

    Parameters
    ----------
    p_values : sequence of float
        The p-values of the tests, in [0, 1].

    Returns
    -------
    list of float
        Adjusted p-values in the same order. Reject the hypotheses whose values are at or below the
        level desired for all tests together.

    Raises
    ------
    ValueError
        If a p-value is not in [0, 1].

    References
    ----------
    Holm, S. (1979), A simple sequentially rejective multiple test procedure, Scandinavian
    Journal of Statistics 6(2), section 3.

    Examples
    --------
    >>> adjust_for_multiplicity([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    check_shares("p_values", p_values)
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def latent_independence_test(
    *, counts: ArrayLike, variables: Sequence[Variable]
) -> SignificanceTest:
    """Test independence among the people who answered both questions, by likelihood ratio.

    Parameters
    ----------
    counts, variables
        As for `independence_test`.

    Returns
    -------
    SignificanceTest
        "latent_likelihood_ratio", or `NO_VARIATION`. If each question has two possible answers,
        intervals of `two_questions.associate` exclude independence whenever this test rejects it.

    Raises
    ------
    ValueError
        As for `independence_test`.
    NotSettledError
        If a search does not converge.

    Notes
    -----
    See `independence_test`.

    References
    ----------
    Wilks, S. S. (1938), Annals of Mathematical Statistics 9(1).

    Examples
    --------
    >>> from privacy.mechanism.mechanisms import RandomizedResponse
    >>> coins = Variable.plain(RandomizedResponse.from_flips(symbols=2, flips=25))
    >>> found = latent_independence_test(
    ...     counts=[[250, 250], [200, 300]], variables=[coins, coins]
    ... )
    >>> round(found.statistic, 6)
    10.11878
    """
    gathered, channel, (rows, columns) = _prepare_pair(counts, variables)
    if min((gathered.sum(axis=axis) > 0).sum() for axis in (0, 1)) < 2:
        return NO_VARIATION
    cells = gathered.ravel()
    _, free = maximize_likelihood(counts=cells, channel=channel)

    def make_independent(expected: np.ndarray) -> np.ndarray:
        table = expected.reshape(gathered.shape).copy()
        block = table[:rows, :columns]
        total = block.sum()
        if total > 0:
            table[:rows, :columns] = np.outer(block.sum(axis=1), block.sum(axis=0)) / total
        fitted: np.ndarray = table.ravel() / table.sum()
        return fitted

    _, bound = maximize_likelihood(
        counts=cells,
        channel=channel,
        project=make_independent,
        # The more reports there are, the more a small change in a share moves the statistic.
        tolerance=min(1e-8, 1e-4 / float(cells.sum())),
    )
    statistic = max(0.0, 2 * (free - bound))
    freedom = (rows - 1) * (columns - 1)
    return SignificanceTest(
        method="latent_likelihood_ratio",
        statistic=statistic,
        degrees_of_freedom=freedom,
        p_value=float(chdtrc(freedom, statistic)),
    )


def _prepare_pair(
    counts: ArrayLike, variables: Sequence[Variable]
) -> tuple[NDArray[np.int64], Floats, tuple[int, int]]:
    """Return the table of two questions, its channel, and how many answers each question has."""
    if len(variables) != 2:
        raise ValueError(f"variables must be two questions, got {len(variables)}")
    gathered, channel = prepare_table(counts=counts, variables=variables)
    first, second = (variable.answered for variable in variables)
    if min(first, second) < 2:
        raise ValueError(f"variables must each have at least two answers, got {first} and {second}")
    return gathered, channel, (first, second)


def _pearson(observed: np.ndarray, expected: np.ndarray, freedom: int) -> SignificanceTest:
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return SignificanceTest(
        method="pearson",
        statistic=statistic,
        degrees_of_freedom=freedom,
        p_value=float(chdtrc(freedom, statistic)),
    )
