"""Tables of reports: any table, a known one, and tables from a logistic model of true answers."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from privacy.associations.tables import TableEstimates, Variable, estimate_table, kronecker
from privacy.mechanism.mechanisms import RandomizedResponse

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
PLAIN = Variable.plain(COINS)
LIGHT = Variable.plain(RandomizedResponse.from_flips(symbols=2, flips=10))
# This variable reports the truth for all but one in four billion answers.
DIRECT = Variable.plain(RandomizedResponse(symbols=2, threshold=2**32 - 1))
THREE = RandomizedResponse.from_flips(symbols=3, flips=25)
CHOICE = Variable.plain(THREE)
REFUSABLE = Variable(mechanism=THREE, categories=((0,), (1,), (2,)), answered=2)
ONE_IN_A_MILLION = 1e-6


def of(symbols: int, flips: int) -> Variable:
    return Variable.plain(RandomizedResponse.from_flips(symbols=symbols, flips=flips))


def joint_channel(variables: list[Variable]) -> NDArray[np.float64]:
    return kronecker([variable.channel() for variable in variables])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Variable], NDArray[np.int64]]:
    variables = [
        of(draw(st.integers(2, 4)), draw(st.integers(1, 40)))
        for _ in range(draw(st.integers(1, 3)))
    ]
    shape = tuple(variable.size for variable in variables)
    cells = int(np.prod(shape))
    counts = draw(st.lists(st.integers(0, 500), min_size=cells, max_size=cells).filter(any))
    return variables, np.array(counts).reshape(shape)


def two_by_two() -> TableEstimates:
    # reports (11, 10, 01, 00) = (300, 200, 250, 250), axes in the order no, yes
    return estimate_table(counts=[[250, 250], [200, 300]], variables=[PLAIN, PLAIN])


def true_table(
    coefficients: ArrayLike, *, sizes: list[int], weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return true shares of outcome by predictors; the model has an indicator for each answer."""
    columns = [
        [1.0]
        + [
            float(answer == value)
            for answer, size in zip(row, sizes, strict=True)
            for value in range(1, size)
        ]
        for row in product(*map(range, sizes))
    ]
    event = expit(np.array(columns) @ np.asarray(coefficients))
    rows = np.full(len(event), 1 / len(event)) if weights is None else np.asarray(weights)
    return np.stack([rows * (1 - event), rows * event]).reshape(2, *sizes)


def reported_shares(truth: NDArray[np.float64], variables: list[Variable]) -> NDArray[np.float64]:
    channel = kronecker([variable.channel() for variable in variables])
    shares: NDArray[np.float64] = channel @ truth.ravel()
    return shares


def expected_counts(
    truth: NDArray[np.float64], variables: list[Variable], *, people: int
) -> NDArray[np.int64]:
    counts: NDArray[np.int64] = np.round(reported_shares(truth, variables) * people).astype(
        np.int64
    )
    return counts.reshape(truth.shape)


def surveys_of(
    truth: NDArray[np.float64], variables: list[Variable], *, people: int, surveys: int, seed: int
) -> NDArray[np.int64]:
    shares = reported_shares(truth, variables)
    counts = np.random.default_rng(seed).multinomial(people, shares / shares.sum(), size=surveys)
    return counts.reshape(surveys, *truth.shape)
