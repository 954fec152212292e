"""Logistic regression in which the outcome and all predictors are randomized answers.

Treating reported predictors as if they were true biases every coefficient towards zero. Here the
true answers are latent, and the likelihood describes the whole table of reports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, expit

from privacy.associations.latent_likelihood import FAR, CellLayout, LatentModel, ModelState
from privacy.associations.latent_profiles import Estimand, LatentProfiles
from privacy.associations.significance import SignificanceTest
from privacy.associations.tables import Variable, prepare_table
from privacy.checks import Floats, check_level
from privacy.level import LEVEL


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
    """The event's share if everyone gave the same answer to a predictor.

    Everyone keeps their own answers to the other predictors.

    Attributes
    ----------
    name : str
        Name of the coefficient of this answer.
    share : AdjustedShare
        The share if everyone gave this answer; for a trend, its last answer.
    reference : AdjustedShare
        The share if everyone gave the predictor's first answer.
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
        Log odds and their changes. A coefficient is infinite where the likelihood keeps rising,
        because no one or everyone with some combination of answers may have the event.
    standard_errors : ndarray of float64, shape (p,)
        Standard errors from the observed information, which are infinite for infinite coefficients.
    covariance : ndarray of float64, shape (p, p)
        Covariance of the coefficients, which is meaningful only if all coefficients are finite.
    low, high : ndarray of float64, shape (p,)
        Ends of the profile-likelihood intervals of the coefficients. An end is infinite if the
        likelihood never falls to the interval's threshold on that side. An interval excludes 0 if
        its test rejects 0 at 1 - level.
    adjusted : tuple of AdjustedShares
        Adjusted shares for each coefficient except the intercept.
    tests : tuple of SignificanceTest
        Likelihood-ratio test of each coefficient against zero.
    predictor_tests : tuple of SignificanceTest
        For each predictor, the likelihood-ratio test that all its coefficients are zero.
    log_likelihood : float
        Log-likelihood of the fit, without the multinomial coefficient.
    level : float
        Confidence level of the intervals.
    total : int
        Number of reports n.
    answered_share : float
        Estimated share of people who answered the outcome and all predictors. The model describes
        only these people.
    cells : int
        Number of latent cells in the table.
    """

    names: tuple[str, ...]
    coefficients: Floats
    standard_errors: Floats
    covariance: Floats
    low: Floats
    high: Floats
    adjusted: tuple[AdjustedShares, ...]
    tests: tuple[SignificanceTest, ...]
    predictor_tests: tuple[SignificanceTest, ...]
    log_likelihood: float
    level: float
    total: int
    answered_share: float
    cells: int


def fit_latent_logistic(
    *,
    counts: ArrayLike,
    variables: Sequence[Variable],
    trends: Collection[int] = (),
    names: Sequence[str] | None = None,
    level: float = LEVEL,
    after_each: Callable[[], None] = lambda: None,
) -> LatentLogisticFit:
    """Regress a randomized yes/no answer on other randomized answers.

    Parameters
    ----------
    counts : array_like of int, shape (k_0, ..., k_m)
        Number of reports showing each combination of codes: the outcome first, then the predictors.
    variables : sequence of Variable
        Outcome and predictors. The outcome has two answers; answer 1 is the event.
    trends : collection of int, optional
        Indices in `variables` of the predictors whose answers form a scale of equal steps. Each of
        these predictors has one coefficient, for a single step. Any other predictor has a
        coefficient for each answer except the first, which is the reference.
    names : sequence of str, optional
        Names of the coefficients; by default "intercept", "x1=1", ..., and "x1" for a trend.
    level : float, optional
        Confidence level, in (0, 1).
    after_each : callable, optional
        Called between the computations of intervals, some of which take seconds in a large table.

    Returns
    -------
    LatentLogisticFit
        The fit, which describes the people who answered all of the questions.

    Raises
    ------
    ValueError
        If the table, trends or names do not match the variables, the outcome does not have two
        answers, there is no predictor, or there are more than 1,024 latent cells.
    NotSettledError
        If the search does not converge.

    Notes
    -----
    The distribution of the predictors is unrestricted and estimated jointly, as are the shares of
    all combinations with a refusal, so nothing is assumed about who refuses. The fit runs EM over
    the latent cells, then Newton steps. Standard errors come from the full observed information
    over the cells that are not at 0. For the simulated coverage with 3, 5 and 7 yes/no predictors,
    see docs/methods/comparing.md. The intervals are valid for one look at the data, with the amount
    of data fixed in advance.

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
    coding = _Coding.of(variables, trends)
    labels = coding.names if names is None else tuple(names)
    if len(labels) != len(coding.names):
        raise ValueError(f"names must have {len(coding.names)} entries, got {list(labels)!r}")
    layout = CellLayout.of(variables)
    problem = LatentModel(
        counts=gathered.ravel(),
        channel=channel,
        layout=layout,
        design=coding.build(coding.answers),
    )
    fit = problem.solve()
    inside = problem.solve_inside(fit)
    covariance = problem.covariance(fit)
    errors = np.sqrt(np.diag(covariance))
    profiles = LatentProfiles(model=problem, best=inside, top=fit, level=level)
    ends = np.empty((len(labels), 2))
    for column, error in enumerate(errors):
        ends[column] = profiles.coefficient_interval(column, error=float(error))
        after_each()
    # A coefficient is infinite only if the end of its interval on that side is also infinite.
    outward = np.where(fit.coefficients < 0, ends[:, 0], ends[:, 1])
    infinite = (inside is not fit) & np.isinf(outward) & (np.abs(fit.coefficients) > FAR)
    tests = tuple(_test_without(problem, fit, [column]) for column in range(len(labels)))
    return LatentLogisticFit(
        names=labels,
        coefficients=np.where(infinite, outward, fit.coefficients),
        standard_errors=np.where(infinite, np.inf, errors),
        covariance=covariance,
        low=ends[:, 0],
        high=ends[:, 1],
        adjusted=tuple(_adjust(profiles, coding, labels[1:], after_each)),
        tests=tests,
        predictor_tests=tuple(
            tests[columns[0]] if len(columns) == 1 else _test_without(problem, fit, columns)
            for columns in coding.columns
        ),
        log_likelihood=fit.log_likelihood,
        level=level,
        total=int(gathered.sum()),
        answered_share=float(fit.masses[: layout.rows].sum()),
        cells=int(gathered.size),
    )


def _test_without(
    problem: LatentModel, fit: ModelState, columns: Sequence[int]
) -> SignificanceTest:
    design = np.delete(problem.design, columns, axis=1)
    smaller = replace(problem, design=design).solve_twice(problem.find_shares_of(fit))
    statistic = max(0.0, 2 * (fit.log_likelihood - smaller.log_likelihood))
    return SignificanceTest(
        method="latent_likelihood_ratio",
        statistic=statistic,
        degrees_of_freedom=len(columns),
        p_value=float(chdtrc(len(columns), statistic)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Coding:
    """The coding of the predictors in the columns of the design, after the intercept.

    The design has one row for each combination of the predictors' answers, in C order.
    """

    answers: NDArray[np.int64]  # the answer to each predictor in each row of the design
    steps: tuple[tuple[int, ...], ...]  # the answers that the columns of a predictor stand for
    trends: frozenset[int]  # which predictors, counted from 0, have one column

    @classmethod
    def of(cls, variables: Sequence[Variable], trends: Collection[int]) -> _Coding:
        if not set(trends) <= set(range(1, len(variables))):
            raise ValueError(
                f"trends must be places of predictors, from 1 to {len(variables) - 1}, got "
                f"{sorted(trends)}"
            )
        shape = tuple(variable.answered for variable in variables[1:])
        return cls(
            answers=np.indices(shape).reshape(len(shape), -1),
            steps=tuple(
                (size - 1,) if place in trends else tuple(range(1, size))
                for place, size in enumerate(shape, start=1)
            ),
            trends=frozenset(place - 1 for place in trends),
        )

    @property
    def columns(self) -> Iterator[range]:
        """The columns of each predictor."""
        start = 1
        for steps in self.steps:
            yield range(start, start + len(steps))
            start += len(steps)

    @property
    def names(self) -> tuple[str, ...]:
        return (
            "intercept",
            *(
                f"x{place + 1}" if place in self.trends else f"x{place + 1}={step}"
                for place, steps in enumerate(self.steps)
                for step in steps
            ),
        )

    def build(self, answers: NDArray[np.int64]) -> Floats:
        """Build the design of rows with these answers."""
        columns = [np.ones(answers.shape[1])]
        for place, steps in enumerate(self.steps):
            if place in self.trends:
                columns.append(answers[place].astype(np.float64))
            else:
                columns += [(answers[place] == step).astype(np.float64) for step in steps]
        return np.column_stack(columns)

    def build_if_all(self, place: int, answer: int) -> Floats:
        """Build the design of the same rows as if everyone gave this answer to a predictor."""
        answers = self.answers.copy()
        answers[place] = answer
        return self.build(answers)


def _adjust(
    profiles: LatentProfiles,
    coding: _Coding,
    names: Sequence[str],
    after_each: Callable[[], None],
) -> Iterator[AdjustedShares]:
    """Compute the adjusted shares of the answers that the columns stand for."""
    labels = iter(names)
    for place, steps in enumerate(coding.steps):
        first = coding.build_if_all(place, 0)
        reference = _read_adjusted(profiles, _Standardized(design=first))
        for step in steps:
            after_each()
            design = coding.build_if_all(place, step)
            yield AdjustedShares(
                name=next(labels),
                share=_read_adjusted(profiles, _Standardized(design=design)),
                reference=reference,
                difference=_read_adjusted(profiles, _Standardized(design=design, less=first)),
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Standardized:
    """The share of the event in all rows if their predictors had the values in `design`.

    If `less` is given, the share with the design `less` is subtracted.
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
    estimate, _, _ = estimand(profiles.top.masses, profiles.top.coefficients)
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
