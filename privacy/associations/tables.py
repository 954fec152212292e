"""Tables of the true answers to several questions, from the table of their reports.

Questions are randomized independently, so the channel of a table is the Kronecker product of the
questions' channels. Codes may first be combined into categories; the result is still randomized
response.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privacy.associations.maximum_likelihood import maximize_likelihood
from privacy.checks import (
    Floats,
    check_symbols,
    check_whole,
    check_whole_counts,
)
from privacy.mechanism.mechanisms import RandomizedResponse

# Largest number of cells in a table of true answers; the channel of such a table takes 8 MB.
MAX_CELLS = 1024


@dataclass(frozen=True, kw_only=True)
class Variable:
    """One question in a joint analysis, with its codes combined into categories.

    Parameters
    ----------
    mechanism : RandomizedResponse
        The mechanism of the question.
    categories : tuple of tuple of int
        The codes of each category; every code belongs to exactly one category.
    answered : int
        How many of the categories, counting from the first, are answers; the others mean refused
        or not asked.
    gate : RandomizedResponse, optional
        Mechanism of a second symbol that says whether the question was answered. The code 0 means
        yes; if the gate has any other true code, the question's true code is 0. A report's
        code is the gate's code times k plus the question's code. See `gated`.

    Raises
    ------
    ValueError
        If the categories are not a partition of the codes, or `answered` is not between one and the
        number of categories.

    Examples
    --------
    >>> refusal = RandomizedResponse.from_flips(symbols=3, flips=25)
    >>> Variable(mechanism=refusal, categories=((0,), (1,), (2,)), answered=2).answered
    2
    """

    mechanism: RandomizedResponse
    categories: tuple[tuple[int, ...], ...]
    answered: int
    gate: RandomizedResponse | None = None

    def __post_init__(self) -> None:
        codes = sorted(code for category in self.categories for code in category)
        whole = all(isinstance(code, Integral) and not isinstance(code, bool) for code in codes)
        if codes != list(range(self.symbols)) or not all(self.categories) or not whole:
            raise ValueError(
                f"categories must hold each of {self.symbols} codes once, got {self.categories!r}"
            )
        if self.gate is not None and self.categories != _gated_categories(self.symbols):
            raise ValueError(
                f"categories must be No, Yes and the rest behind a gate, got {self.categories!r}"
            )
        check_whole("answered", self.answered, at_least=1, at_most=len(self.categories))

    @classmethod
    def plain(cls, mechanism: RandomizedResponse) -> Variable:
        """Make every code a category, and every category an answer."""
        codes = tuple((code,) for code in range(mechanism.symbols))
        return cls(mechanism=mechanism, categories=codes, answered=len(codes))

    @classmethod
    def gated(cls, mechanism: RandomizedResponse, *, gate: RandomizedResponse) -> Variable:
        """Build a yes/no item that counts only where its gate says that the question was answered.

        Examples
        --------
        >>> coins = RandomizedResponse.from_flips(symbols=2, flips=25)
        >>> Variable.gated(coins, gate=coins).channel().tolist()
        [[0.5625, 0.1875, 0.1875], [0.1875, 0.5625, 0.0625], [0.25, 0.25, 0.75]]
        """
        check_symbols("mechanism", mechanism.symbols, at_least=2, at_most=2)
        categories = _gated_categories(2 * gate.symbols)
        return cls(mechanism=mechanism, categories=categories, answered=2, gate=gate)

    @property
    def symbols(self) -> int:
        """Number of codes that a report can show."""
        return self.mechanism.symbols * (1 if self.gate is None else self.gate.symbols)

    @property
    def size(self) -> int:
        return len(self.categories)

    def channel(self) -> Floats:
        """Compute the probability of each reported category (row) given each true one (column).

        Every true code is reported in another category with probability c for each code of that
        category, so combining codes loses only detail. Behind a gate, all reports whose gate does
        not say "answered" are one category, whatever the item's code is.
        """
        if self.gate is not None:
            return self._gated_channel(self.gate)
        sizes = np.array([len(category) for category in self.categories], dtype=np.float64)
        columns = np.repeat(sizes[:, None] * self.mechanism.other_probability, self.size, axis=1)
        matrix: Floats = columns + self.mechanism.slope * np.eye(self.size)
        return matrix

    def _gated_channel(self, gate: RandomizedResponse) -> Floats:
        other, kept = gate.other_probability, gate.keep_probability
        wrong, right = self.mechanism.other_probability, self.mechanism.keep_probability
        return np.array(
            [
                [kept * right, kept * wrong, other * right],
                [kept * wrong, kept * right, other * wrong],
                [1 - kept, 1 - kept, 1 - other],
            ]
        )

    def gather(self, counts: NDArray[np.int64], *, axis: int) -> NDArray[np.int64]:
        """Add up the counts of each category's codes along one axis."""
        gathered = [counts.take(category, axis=axis).sum(axis=axis) for category in self.categories]
        return np.stack(gathered, axis=axis)


def _gated_categories(symbols: int) -> tuple[tuple[int, ...], ...]:
    return (0,), (1,), tuple(range(2, symbols))


@dataclass(frozen=True, kw_only=True, eq=False)
class TableEstimates:
    """Estimated shares of every cell of a table of true answers.

    Attributes
    ----------
    total : int
        Number of reports n.
    counts : ndarray of int64, shape (g_1, ..., g_m)
        Number of reports in each cell.
    shares : ndarray of float64, same shape
        Unbiased shares as fractions; they sum to one and may lie outside [0, 1].
    standard_errors : ndarray of float64, same shape
        Standard errors of `shares`.
    covariance : ndarray of float64, shape (cells, cells)
        Covariance of `shares`, with the cells in C order.
    joint_shares : ndarray of float64, same shape
        Maximum-likelihood shares among those that lie in [0, 1] and sum to one.
    log_likelihood : float
        Log-likelihood of `joint_shares`, without the multinomial coefficient.
    """

    total: int
    counts: NDArray[np.int64]
    shares: Floats
    standard_errors: Floats
    covariance: Floats
    joint_shares: Floats
    log_likelihood: float


def estimate_table(*, counts: ArrayLike, variables: Sequence[Variable]) -> TableEstimates:
    """Estimate the table of true answers to several questions.

    Parameters
    ----------
    counts : array_like of int, shape (k_1, ..., k_m)
        Number of reports showing each combination of codes, with axes in the order of `variables`.
    variables : sequence of Variable
        The questions, at least one.

    Returns
    -------
    TableEstimates
        Estimates for the categories of the variables.

    Raises
    ------
    ValueError
        If the table does not match the variables, a count is negative, there is no report, or
        there are more than 1,024 cells.

    Notes
    -----
    With K the Kronecker product of the channels and l the reported shares, the unbiased shares are
    inv(K) l, and their covariance is inv(K) (diag(l) - l l') inv(K)' / n. The constrained maximum
    is found by EM.

    References
    ----------
    Chen, T. T. (1989), A review of methods for misclassified categorical data, Statistics in
    Medicine 8(9), section 3 (matrix method).
    Dempster, A. P., Laird, N. M. and Rubin, D. B. (1977), JRSS B 39(1), section 4.1.

    Examples
    --------
    >>> coins = Variable.plain(RandomizedResponse.from_flips(symbols=2, flips=25))
    >>> found = estimate_table(counts=[[250, 250], [200, 300]], variables=[coins, coins])
    >>> [[round(float(share), 6) for share in row] for row in found.shares]
    [[0.3, 0.2], [0.1, 0.4]]
    """
    gathered, channel = prepare_table(counts=counts, variables=variables)
    cells, total = gathered.ravel(), int(gathered.sum())
    reported = cells / total
    inverse = kronecker([_invert(variable.channel()) for variable in variables])
    shares = inverse @ reported
    covariance = inverse @ (np.diag(reported) - np.outer(reported, reported)) @ inverse.T / total
    joint, log_likelihood = maximize_likelihood(counts=cells, channel=channel, start=shares)
    return TableEstimates(
        total=total,
        counts=gathered,
        shares=shares.reshape(gathered.shape),
        standard_errors=np.sqrt(np.maximum(np.diag(covariance), 0)).reshape(gathered.shape),
        covariance=covariance,
        joint_shares=joint.reshape(gathered.shape),
        log_likelihood=log_likelihood,
    )


def prepare_table(
    *, counts: ArrayLike, variables: Sequence[Variable]
) -> tuple[NDArray[np.int64], Floats]:
    """Check a table of reports, combine its codes into categories, and build its channel.

    Parameters
    ----------
    counts, variables
        As for `estimate_table`.

    Returns
    -------
    gathered : ndarray of int64, shape (g_1, ..., g_m)
        Number of reports in each combination of categories.
    channel : ndarray of float64, shape (cells, cells)
        Probability of each reported cell (row) given each true one (column), in C order.

    Raises
    ------
    ValueError
        As for `estimate_table`.
    """
    if not variables:
        raise ValueError("variables must name at least one question, got none")
    shape = tuple(variable.symbols for variable in variables)
    table = check_whole_counts("counts", counts)
    if table.shape != shape:
        raise ValueError(f"counts must have the shape {shape}, got {table.shape}")
    if table.sum() == 0:
        raise ValueError("counts must hold at least one report, got none")
    cells = math.prod(variable.size for variable in variables)
    if cells > MAX_CELLS:
        raise ValueError(f"variables must span at most {MAX_CELLS} cells, got {cells}")
    gathered: NDArray[np.int64] = table.astype(np.int64)
    for axis, variable in enumerate(variables):
        gathered = variable.gather(gathered, axis=axis)
    channel = kronecker([variable.channel() for variable in variables])
    return gathered, channel


def _invert(matrix: Floats) -> Floats:
    inverse: Floats = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    return inverse


def kronecker(matrices: Sequence[Floats]) -> Floats:
    """Compute the Kronecker product of matrices, with the first one outermost."""
    product: Floats = np.ones((1, 1))
    for matrix in matrices:
        product = np.asarray(np.kron(product, matrix), dtype=np.float64)
    return product
