"""Logistic regression in which the outcome and all predictors are randomized answers.

Treating reported predictors as if they were true biases every coefficient towards zero. Here the
true answers are latent: the likelihood is that of the whole table of reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, expit

from privacy.associations.latent_likelihood import CellLayout, LatentModel, ModelState
from privacy.associations.latent_profiles import Estimand, LatentProfiles
from privacy.associations.significance import SignificanceTest
from privacy.associations.tables import Variable, prepare_table
from privacy.checks import Floats, check_level


@dataclass(frozen=True, kw_only=True)
class AdjustedShare:
    """A share or a difference of shares, with its profile-likelihood interval.

    Attributes
    ----------
    estimate : float
        A fraction of the people who answered all questions.
    low, high : float
        Ends of the interval.
    """

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class AdjustedShares:
    """The share of the event if everybody gave one answer to a predictor.

    The answers to the other predictors are those that people have.

    Attributes
    ----------
    name : str
        Name of the coefficient of this answer.
    share : AdjustedShare
        If everybody gave this answer.
    reference : AdjustedShare
        If everybody gave the predictor's first answer.
    difference : AdjustedShare
        `share` minus `reference`: the adjusted risk difference, with the sign of the coefficient.
    """

    name: str
    share: AdjustedShare
    reference: AdjustedShare
    difference: AdjustedShare


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentLogisticFit:
    """A logistic regression on randomized answers.

    Attributes
    ----------
    names : tuple of str
        Names of the coefficients, with the intercept first.
    coefficients : ndarray of float64, shape (p,)
        Log odds and their changes.
    standard_errors : ndarray of float64, shape (p,)
        Computed from the observed information.
    covariance : ndarray of float64, shape (p, p)
        Covariance of the coefficients.
    low, high : ndarray of float64, shape (p,)
        Ends of the profile-likelihood intervals of the coefficients; infinite where the likelihood
        never falls to the limit. An interval excludes 0 where its test rejects at 1 - level.
    adjusted : tuple of AdjustedShares
        One for each coefficient but the intercept; empty with a design of one's own.
    tests : tuple of SignificanceTest
        Likelihood-ratio test of each coefficient against zero.
    log_likelihood : float
        Without the multinomial coefficient.
    level : float
        Confidence level of the intervals.
    total : int
        Reports n.
    answered_share : float
        Estimated share of people who answered the outcome and all predictors: the model describes
        them.
    cells : int
        Latent cells of the table.
    """

    names: tuple[str, ...]
    coefficients: Floats
    standard_errors: Floats
    covariance: Floats
    low: Floats
    high: Floats
    adjusted: tuple[AdjustedShares, ...]
    tests: tuple[SignificanceTest, ...]
    log_likelihood: float
    level: float
    total: int
    answered_share: float
    cells: int


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
        One row for each combination of the predictors' answers, in C order. By default an intercept
        and one indicator for each answer of each predictor except its first.
    names : sequence of str, optional
        Names of the columns of the design; by default "intercept", "x1=1", ...
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    LatentLogisticFit
        Describes the people who answered all of the questions.

    Raises
    ------
    ValueError
        If the table, the design or names do not match the variables, the outcome does not have two
        answers, there is no predictor, the design has dependent columns, or there are more than
        1,024 latent cells.
    SeparationError
        If a coefficient grows without bound (a ValueError): in some combination of predictors,
        nobody or everybody seems to have the event.
    NotSettledError
        If the search does not converge.

    Notes
    -----
    The distribution of the predictors is unrestricted and estimated jointly, as are the shares of
    all combinations with a refusal, so nothing is assumed about who refuses. Uses EM over the
    latent cells, then Newton steps. Standard errors come from the full observed information over
    the cells that are not at 0. Simulated coverage with 3, 5 and 7 yes/no predictors is in
    docs/methods/comparing.md. Valid for one look at the data, with the amount of data fixed in
    advance.

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
    if design is None:
        matrix = _build_design(variables, _list_levels(variables))
    else:
        matrix = np.asarray(design, dtype=np.float64)
    labels = _name(variables, matrix, names, design is None)
    layout = CellLayout.of(variables)
    _check_design(matrix, layout)
    problem = LatentModel(
        counts=gathered.ravel(), channel=channel, layout=layout, design=matrix, names=labels
    )
    fit = problem.solve()
    covariance = problem.covariance(fit)
    errors = np.sqrt(np.diag(covariance))
    profiles = LatentProfiles(model=problem, best=fit, level=level)
    ends = np.array(
        [
            profiles.coefficient_interval(column, error=float(error))
            for column, error in enumerate(errors)
        ]
    )
    return LatentLogisticFit(
        names=labels,
        coefficients=fit.coefficients,
        standard_errors=errors,
        covariance=covariance,
        low=ends[:, 0],
        high=ends[:, 1],
        adjusted=tuple(_adjust(profiles, variables)) if design is None else (),
        tests=tuple(_test_without(problem, fit, column) for column in range(matrix.shape[1])),
        log_likelihood=fit.log_likelihood,
        level=level,
        total=int(gathered.sum()),
        answered_share=float(fit.masses[: layout.rows].sum()),
        cells=int(gathered.size),
    )


def _test_without(problem: LatentModel, fit: ModelState, column: int) -> SignificanceTest:
    design = np.delete(problem.design, column, axis=1)
    names = tuple(name for place, name in enumerate(problem.names) if place != column)
    # Under a wrong hypothesis other coefficients may diverge; the likelihood still has a limit.
    smaller = replace(problem, design=design, names=names, strict=False).solve()
    statistic = max(0.0, 2 * (fit.log_likelihood - smaller.log_likelihood))
    return SignificanceTest(
        method="latent_likelihood_ratio",
        statistic=statistic,
        degrees_of_freedom=1,
        p_value=float(chdtrc(1, statistic)),
    )


def _adjust(profiles: LatentProfiles, variables: Sequence[Variable]) -> Iterator[AdjustedShares]:
    """Compute the adjusted shares of every answer of every predictor but its first."""
    levels = _list_levels(variables)
    names = iter(profiles.model.names[1:])
    for place, variable in enumerate(variables[1:]):
        shares = []
        for answer in range(variable.answered):
            changed = levels.copy()
            changed[place] = answer
            shares.append(_Standardized(design=_build_design(variables, changed)))
        reference = _read_adjusted(profiles, shares[0])
        for share in shares[1:]:
            yield AdjustedShares(
                name=next(names),
                share=_read_adjusted(profiles, share),
                reference=reference,
                difference=_read_adjusted(
                    profiles, _Standardized(design=share.design, less=shares[0].design)
                ),
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Standardized:
    """The share of the event in all rows, if they had the predictors of these designs.

    With `less`, the difference to the share with that design.
    """

    design: Floats
    less: Floats | None = None

    def __call__(self, masses: Floats, coefficients: Floats) -> tuple[float, Floats, Floats]:
        event = expit(self.design @ coefficients)
        bends = self.design * (event * (1 - event))[:, None]
        if self.less is not None:
            other = expit(self.less @ coefficients)
            event = event - other
            bends = bends - self.less * (other * (1 - other))[:, None]
        rows = len(event)
        total = masses[:rows].sum()
        share = float(masses[:rows] @ event / total)
        by_masses = np.zeros(len(masses))
        by_masses[:rows] = (event - share) / total
        return share, by_masses, masses[:rows] @ bends / total


def _read_adjusted(profiles: LatentProfiles, estimand: Estimand) -> AdjustedShare:
    low, high = profiles.interval(estimand)
    estimate, _, _ = estimand(profiles.best.masses, profiles.best.coefficients)
    return AdjustedShare(estimate=estimate, low=min(low, estimate), high=max(high, estimate))


def _check_outcome(variables: Sequence[Variable]) -> None:
    if len(variables) < 2:
        raise ValueError(
            f"variables must be an outcome and at least one predictor, got {len(variables)}"
        )
    if variables[0].answered != 2:
        raise ValueError(
            "variables must start with an outcome that has two answers, got "
            f"{variables[0].answered}"
        )


def _list_levels(variables: Sequence[Variable]) -> NDArray[np.int64]:
    """List the answers to each predictor in every row of the design."""
    shape = tuple(variable.answered for variable in variables[1:])
    return np.indices(shape).reshape(len(shape), -1)


def _build_design(variables: Sequence[Variable], levels: NDArray[np.int64]) -> Floats:
    """Build an intercept, and an indicator for each answer of each predictor except its first."""
    columns = [np.ones(levels.shape[1])]
    for variable, level in zip(variables[1:], levels, strict=True):
        columns += [(level == answer).astype(np.float64) for answer in range(1, variable.answered)]
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


def _check_design(design: Floats, layout: CellLayout) -> None:
    if design.ndim != 2 or design.shape[0] != layout.rows or not np.isfinite(design).all():
        raise ValueError(
            f"design must have {layout.rows} rows of finite numbers, got the shape {design.shape}"
        )
    if not 1 <= design.shape[1] <= design.shape[0]:
        raise ValueError(
            f"design must have from 1 to {design.shape[0]} columns, no more than rows, "
            f"got {design.shape[1]}"
        )
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise ValueError(
            f"design must have independent columns, got rank {np.linalg.matrix_rank(design)} "
            f"of {design.shape[1]}"
        )
