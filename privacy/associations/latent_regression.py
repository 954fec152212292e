"""Logistic regression in which the outcome and all predictors are randomized answers.

Treating reported predictors as if they were true biases every coefficient towards nothing.
Here the true answers are latent: the likelihood is that of the whole table of reports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, expit, ndtri

from privacy.associations.regression import SeparationError
from privacy.associations.significance import SignificanceTest
from privacy.associations.tables import (
    Variable,
    contradicts_design,
    maximize_likelihood,
    prepare_table,
)
from privacy.checks import Floats, check_level

_ZERO = 1e-7  # a share of people below this counts as none: its cell leaves the information
_FARTHEST = 12.0  # log odds: 6 in a million, which no randomized survey can tell from none
_NEWTON_ROUNDS = 50
_CONVERGED = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentLogisticFit:
    """A logistic regression on randomized answers.

    Attributes
    ----------
    names : tuple of str
        Of the coefficients, the intercept first.
    coefficients : ndarray of float64, shape (p,)
        Log odds and their changes.
    standard_errors : ndarray of float64, shape (p,)
        From the observed information.
    covariance : ndarray of float64, shape (p, p)
        Of the coefficients.
    low, high : ndarray of float64, shape (p,)
        Ends of the Wald intervals of the coefficients.
    tests : tuple of SignificanceTest
        Likelihood-ratio test of each coefficient against zero.
    log_likelihood : float
        Without the multinomial coefficient.
    level : float
        Confidence level of the intervals.
    total : int
        Reports n.
    answered_share : float
        Estimated share of people who answered the outcome and all predictors: the model is
        about them.
    cells : int
        Latent cells of the table.
    contradiction : bool
        True if no true answers at all agree with the reports, whatever the coefficients.
    """

    names: tuple[str, ...]
    coefficients: Floats
    standard_errors: Floats
    covariance: Floats
    low: Floats
    high: Floats
    tests: tuple[SignificanceTest, ...]
    log_likelihood: float
    level: float
    total: int
    answered_share: float
    cells: int
    contradiction: bool


def fit_latent_logistic(
    *,
    counts: ArrayLike,
    variables: Sequence[Variable],
    design: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    level: float = 0.95,
) -> LatentLogisticFit:
    """Regress a randomized yes/no answer on other randomized answers.

    Parameters
    ----------
    counts : array_like of int, shape (k_0, ..., k_m)
        Reports showing each combination of codes: the outcome first, then the predictors.
    variables : sequence of Variable
        Outcome and predictors. The outcome has two answers, 1 being the event.
    design : array_like of float, shape (cells of answered predictors, p), optional
        One row for each combination of the predictors' answers, in C order. By default an
        intercept and one indicator for each answer of each predictor but its first.
    names : sequence of str, optional
        Of the columns of the design; by default "intercept", "x1=1", ...
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    LatentLogisticFit
        About the people who answered all of the questions.

    Raises
    ------
    ValueError
        If the table does not fit the variables, the outcome has not two answers, there is no
        predictor, the design does not fit or has dependent columns, names do not fit, or there
        are more than 1,024 latent cells.
    SeparationError
        If a coefficient grows without bound (a ValueError): some combination of predictors
        seems to have nobody, or everybody, with the event.
    NotSettledError
        If the search does not settle.

    Notes
    -----
    The distribution of the predictors is free and estimated jointly, as are the shares of all
    combinations with a refusal; so nothing is assumed about who refuses. EM over the latent
    cells, then Newton steps; standard errors from the full observed information over the cells
    that are not at 0. Simulated coverage with 3, 5 and 7 yes/no predictors is in docs/methods.md.
    For one look at data whose amount was fixed beforehand.

    References
    ----------
    van den Hout, A., van der Heijden, P. G. M. and Gilchrist, R. (2007), The logistic
    regression model with response variables subject to randomized response, CSDA 51(12).
    Louis, T. A. (1982), Finding the observed information matrix when using the EM algorithm,
    JRSS B 44(2).

    Examples
    --------
    >>> from privacy.mechanism.mechanisms import RandomizedResponse
    >>> coins = Variable.plain(RandomizedResponse.from_flips(symbols=2, flips=25))
    >>> fit = fit_latent_logistic(counts=[[250, 250], [200, 300]], variables=[coins, coins])
    >>> [round(float(value), 6) for value in fit.coefficients]  # ln(1/3) and ln 6
    [-1.098612, 1.791759]
    >>> round(float(fit.standard_errors[1]), 6)
    0.654412
    """
    level = check_level(level)
    gathered, channel = prepare_table(counts=counts, variables=variables)
    _check_outcome(variables)
    matrix = _build_design(variables) if design is None else np.asarray(design, dtype=np.float64)
    labels = _name(variables, matrix, names, design is None)
    layout = _Layout.of(variables)
    _check_design(matrix, layout)
    problem = _Problem(
        counts=gathered.ravel(), channel=channel, layout=layout, design=matrix, names=labels
    )
    _, free = maximize_likelihood(counts=gathered.ravel(), channel=channel)
    fit = problem.solve()
    covariance = problem.covariance(fit)
    errors = np.sqrt(np.diag(covariance))
    reach = float(ndtri((1 + level) / 2)) * errors
    return LatentLogisticFit(
        names=labels,
        coefficients=fit.coefficients,
        standard_errors=errors,
        covariance=covariance,
        low=fit.coefficients - reach,
        high=fit.coefficients + reach,
        tests=tuple(_test_without(problem, fit, column) for column in range(matrix.shape[1])),
        log_likelihood=fit.log_likelihood,
        level=level,
        total=int(gathered.sum()),
        answered_share=float(fit.masses[: layout.rows].sum()),
        cells=int(gathered.size),
        contradiction=contradicts_design(counts=gathered, log_likelihood=free),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Layout:
    """Where the cells of the model lie in the flat table.

    The masses of a model are those of the answered predictor combinations (rows), each split
    into event and other answer by the coefficients, followed by all other cells, which are free.
    """

    events: NDArray[np.int64]
    others: NDArray[np.int64]
    free: NDArray[np.int64]

    @property
    def rows(self) -> int:
        return len(self.events)

    @classmethod
    def of(cls, variables: Sequence[Variable]) -> _Layout:
        shape = tuple(variable.size for variable in variables)
        index = np.arange(math.prod(shape)).reshape(shape)
        answered = index[tuple(slice(variable.answered) for variable in variables)]
        taken = np.zeros(index.size, dtype=bool)
        taken[answered.ravel()] = True
        return cls(
            events=answered[1].ravel(), others=answered[0].ravel(), free=np.flatnonzero(~taken)
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _State:
    masses: Floats  # rows, then free cells; they sum to one
    coefficients: Floats
    log_likelihood: float


@dataclass(frozen=True, kw_only=True, eq=False)
class _Problem:
    counts: NDArray[np.int64]
    channel: Floats
    layout: _Layout
    design: Floats
    names: tuple[str, ...]
    # Whether a coefficient that grows without bound is an error, not merely large.
    strict: bool = True

    def solve(self) -> _State:
        """EM to the neighbourhood of the maximum, Newton to the maximum."""
        coefficients = np.zeros(self.design.shape[1])

        def fit_model(expected: Floats) -> Floats:
            nonlocal coefficients
            masses = self._masses(expected / expected.sum())
            coefficients = _fit_expected(
                events=expected[self.layout.events],
                totals=expected[self.layout.events] + expected[self.layout.others],
                design=self.design,
                start=coefficients,
                names=self.names,
                strict=self.strict,
            )
            return self._shares(masses, coefficients)

        shares, _ = maximize_likelihood(counts=self.counts, channel=self.channel, project=fit_model)
        return self._polish(
            _State(
                masses=self._masses(shares),
                coefficients=coefficients,
                log_likelihood=self._log_likelihood(self._masses(shares), coefficients),
            )
        )

    def _masses(self, shares: Floats) -> Floats:
        layout = self.layout
        return np.concatenate([shares[layout.events] + shares[layout.others], shares[layout.free]])

    def _shares(self, masses: Floats, coefficients: Floats) -> Floats:
        layout = self.layout
        shares = np.zeros(self.channel.shape[1])
        event = expit(self.design @ coefficients)
        shares[layout.events] = masses[: layout.rows] * event
        shares[layout.others] = masses[: layout.rows] * (1 - event)
        shares[layout.free] = masses[layout.rows :]
        return shares

    def _log_likelihood(self, masses: Floats, coefficients: Floats) -> float:
        seen = self.counts > 0
        reported = self.channel[seen] @ self._shares(masses, coefficients)
        if (reported <= 0).any():
            return -math.inf
        return float(self.counts[seen] @ np.log(reported))

    def _polish(self, state: _State) -> _State:
        for _ in range(_NEWTON_ROUNDS):
            score, information, directions = self._derivatives(state)
            try:
                step = directions @ np.linalg.solve(information, score)
            except np.linalg.LinAlgError:
                return state
            moved = self._step(state, step)
            if moved is None:
                return state
            change = np.abs(moved.coefficients - state.coefficients)
            settled = change.max(initial=np.abs(moved.masses - state.masses).max()) < _CONVERGED
            state = moved
            if settled:
                return state
        return state

    def _step(self, state: _State, step: Floats) -> _State | None:
        """Move as far as the likelihood does not fall; None if it falls at once."""
        cells = len(state.masses)
        for halvings in range(30):
            masses = state.masses + step[:cells] / 2**halvings
            coefficients = state.coefficients + step[cells:] / 2**halvings
            if (masses < 0).any():
                continue
            height = self._log_likelihood(masses, coefficients)
            if height >= state.log_likelihood:
                return replace(
                    state, masses=masses, coefficients=coefficients, log_likelihood=height
                )
        return None

    def _derivatives(self, state: _State) -> tuple[Floats, Floats, Floats]:
        """Score and observed information along the directions that keep the masses a whole."""
        layout, rows = self.layout, self.layout.rows
        shares = self._shares(state.masses, state.coefficients)
        cells, columns = len(state.masses), self.design.shape[1]
        event = expit(self.design @ state.coefficients)
        spread = state.masses[:rows] * event * (1 - event)

        slopes = np.zeros((len(shares), cells + columns))
        slopes[layout.events, np.arange(rows)] = event
        slopes[layout.others, np.arange(rows)] = 1 - event
        slopes[layout.free, rows + np.arange(len(layout.free))] = 1
        slopes[layout.events, cells:] = spread[:, None] * self.design
        slopes[layout.others, cells:] = -spread[:, None] * self.design

        reported = self.channel @ shares
        gradient = (self.counts / reported) @ self.channel
        changed = self.channel @ slopes
        information = changed.T @ (changed * (self.counts / reported**2)[:, None])
        # Less the second derivatives of the shares, weighted by the gradient.
        lean = gradient[layout.events] - gradient[layout.others]
        bend = lean * spread * (1 - 2 * event)
        information[cells:, cells:] -= self.design.T @ (self.design * bend[:, None])
        cross = (lean * event * (1 - event))[:, None] * self.design
        information[:rows, cells:] -= cross
        information[cells:, :rows] -= cross.T

        directions = _keep_sum(state.masses > _ZERO, columns)
        return (
            directions.T @ (gradient @ slopes),
            directions.T @ information @ directions,
            directions,
        )

    def covariance(self, state: _State) -> Floats:
        _, information, directions = self._derivatives(state)
        values, vectors = np.linalg.eigh(information)
        if values.min() <= 1e-12 * values.max():
            raise SeparationError(
                "design must have columns that the reports can tell apart: the information is "
                "singular; leave out a predictor or collect more reports",
                names=self.names,
            )
        back = (directions @ (vectors / np.sqrt(values)))[len(state.masses) :]
        covariance: Floats = back @ back.T
        return covariance


def _keep_sum(active: NDArray[np.bool_], columns: int) -> Floats:
    """Directions in which the active masses keep their sum and the coefficients are free."""
    cells, places = len(active), np.flatnonzero(active)
    basis = np.linalg.qr(np.eye(len(places)) - 1 / len(places))[0][:, : len(places) - 1]
    directions = np.zeros((cells + columns, basis.shape[1] + columns))
    directions[places, : basis.shape[1]] = basis
    directions[cells:, basis.shape[1] :] = np.eye(columns)
    return directions


def _fit_expected(
    *,
    events: Floats,
    totals: Floats,
    design: Floats,
    start: Floats,
    names: tuple[str, ...],
    strict: bool,
) -> Floats:
    """Ordinary logistic regression on expected counts: the M step, by Newton's method."""
    coefficients = start

    def height(values: Floats) -> float:
        odds = design @ values
        return float(events @ odds - totals @ np.logaddexp(0, odds))

    best = height(coefficients)
    for _ in range(_NEWTON_ROUNDS):
        event = expit(design @ coefficients)
        score = design.T @ (events - totals * event)
        information = design.T @ (design * (totals * event * (1 - event))[:, None])
        try:
            step = np.linalg.solve(information, score)
        except np.linalg.LinAlgError:
            if strict:
                _refuse(design, coefficients, totals, names)
            return coefficients
        for halvings in range(30):
            moved: Floats = coefficients + step / 2**halvings
            value = height(moved)
            if value >= best:
                break
        else:
            break
        gained, coefficients, best = value - best, moved, value
        if gained < 1e-14 * totals.sum():
            break
    odds = np.abs(design @ coefficients)[totals > _ZERO * totals.sum()]
    if strict and odds.max(initial=0) > _FARTHEST:
        _refuse(design, coefficients, totals, names)
    return coefficients


def _refuse(design: Floats, coefficients: Floats, totals: Floats, names: tuple[str, ...]) -> None:
    seen = totals > _ZERO * totals.sum()
    far = seen & (np.abs(design @ coefficients) > _FARTHEST)
    guilty = np.abs(coefficients) > _FARTHEST / 2
    blamed = tuple(name for name, bad in zip(names, guilty, strict=True) if bad) or names
    raise SeparationError(
        f"counts must determine every coefficient, but {', '.join(blamed)} grows without bound: "
        f"{int(far.sum())} of {int(seen.sum())} combinations of the predictors seem to have "
        "nobody or everybody with the event; leave that predictor out, or collect more reports",
        names=blamed,
    )


def _test_without(problem: _Problem, fit: _State, column: int) -> SignificanceTest:
    design = np.delete(problem.design, column, axis=1)
    names = tuple(name for place, name in enumerate(problem.names) if place != column)
    # What a wrong hypothesis cannot explain drives others to infinity; its likelihood has a limit.
    smaller = replace(problem, design=design, names=names, strict=False).solve()
    statistic = max(0.0, 2 * (fit.log_likelihood - smaller.log_likelihood))
    return SignificanceTest(
        method="latent_likelihood_ratio",
        statistic=statistic,
        degrees_of_freedom=1,
        p_value=float(chdtrc(1, statistic)),
    )


def _check_outcome(variables: Sequence[Variable]) -> None:
    if len(variables) < 2:
        raise ValueError(f"variables must be an outcome and a predictor, got {len(variables)}")
    if variables[0].answered != 2:
        raise ValueError(
            f"variables must start with an outcome of two answers, got {variables[0].answered}"
        )


def _build_design(variables: Sequence[Variable]) -> Floats:
    """An intercept, and one indicator for each answer of each predictor but its first."""
    shape = tuple(variable.answered for variable in variables[1:])
    levels = np.indices(shape).reshape(len(shape), -1)
    columns = [np.ones(levels.shape[1])]
    for level, size in zip(levels, shape, strict=True):
        columns += [(level == answer).astype(np.float64) for answer in range(1, size)]
    return np.column_stack(columns)


def _name(
    variables: Sequence[Variable], design: Floats, names: Sequence[str] | None, standard: bool
) -> tuple[str, ...]:
    columns = design.shape[1] if design.ndim == 2 else 0
    if names is None:
        if not standard:
            return tuple(f"x{column}" for column in range(columns))
        return (
            "intercept",
            *(
                f"x{number}={answer}"
                for number, variable in enumerate(variables[1:], start=1)
                for answer in range(1, variable.answered)
            ),
        )
    if len(names) != columns:
        raise ValueError(f"names must have {columns} entries, got {list(names)!r}")
    return tuple(names)


def _check_design(design: Floats, layout: _Layout) -> None:
    if design.ndim != 2 or design.shape[0] != layout.rows or not np.isfinite(design).all():
        raise ValueError(
            f"design must have {layout.rows} rows of finite numbers, got the shape {design.shape}"
        )
    if not 1 <= design.shape[1] <= design.shape[0]:
        raise ValueError(
            f"design must have from 1 to {design.shape[0]} columns, as many as its rows, "
            f"got {design.shape[1]}"
        )
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise ValueError(
            f"design must have independent columns, got rank {np.linalg.matrix_rank(design)} "
            f"of {design.shape[1]}"
        )
