"""Logistic regression of a randomized yes/no answer on predictors that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from privacy.associations.known_predictors.intervals import ChiSquareTest, FittedModel, OddsRatio
from privacy.associations.known_predictors.rows import (
    check_design,
    check_names,
    check_rank,
    check_rows,
    group_rows,
)
from privacy.associations.known_predictors.search import (
    explain_separation,
    maximize,
    rotate_design,
)
from privacy.associations.maximum_likelihood import NotSettledError
from privacy.checks import Floats, check_level


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictedShares:
    """True shares that a fitted model predicts.

    Attributes
    ----------
    shares : ndarray of float64, shape (rows,)
        Predicted shares, as fractions.
    standard_errors : ndarray of float64, shape (rows,)
        Standard errors of `shares`, by the delta method.
    """

    shares: Floats
    standard_errors: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class LogisticFit:
    """A fitted logistic regression; arrays and tuples are in the order of the columns.

    Attributes
    ----------
    names : tuple of str, length p
        Names of the predictors.
    coefficients, standard_errors : ndarray of float64, shape (p,)
        Log odds ratios of the true answer, per unit of each predictor.
    covariance : ndarray of float64, shape (p, p)
        Covariance of `coefficients`: the inverse of the expected information.
    log_likelihood : float
        Log-likelihood of the individual reports, without binomial coefficients: grouping rows
        does not change it.
    iterations : int
        Fisher scoring steps.
    level : float
        Confidence level of the intervals in `odds_ratios`.
    odds_ratios : tuple of OddsRatio, length p
        With intervals.
    tests : tuple of ChiSquareTest, length p
        Likelihood-ratio test of each coefficient being zero, from a fit without its column.
    overall_test : ChiSquareTest or None
        Likelihood-ratio test against the same share in all rows; None if that is not a special case
        of the model (no intercept among the columns or their sums) or is the model itself.
    goodness_of_fit : ChiSquareTest or None
        Deviance against free reported shares in all distinct rows (of design and channel), so
        raw shares outside [0, 1] count as misfit too. None if there are no more distinct
        rows than predictors, or if a distinct row has fewer than 5 expected reports of either
        kind: then chi-square does not describe the deviance.
    """

    names: tuple[str, ...]
    coefficients: Floats
    standard_errors: Floats
    covariance: Floats
    log_likelihood: float
    iterations: int
    level: float
    odds_ratios: tuple[OddsRatio, ...]
    tests: tuple[ChiSquareTest, ...]
    overall_test: ChiSquareTest | None
    goodness_of_fit: ChiSquareTest | None

    def predict(self, *, design: ArrayLike) -> PredictedShares:
        """Predict the true share at given predictors.

        Parameters
        ----------
        design : array of float, shape (rows, p)
            Columns as in the fit.

        Returns
        -------
        PredictedShares
            Shares s = logistic(x b) with standard errors s (1 - s) sqrt(x V x').

        Raises
        ------
        ValueError
            If design has a different number of columns or values that are not finite.

        Examples
        --------
        >>> fit = fit_logistic(design=[[1.0]], successes=[400], totals=[1000],
        ...     other_probability=0.25, slope=0.5)
        >>> predicted = fit.predict(design=[[1.0]])
        >>> round(float(predicted.shares[0]), 9), round(float(predicted.standard_errors[0]), 9)
        (0.3, 0.030983867)
        """
        rows = check_design(design)
        if rows.shape[1] != len(self.names):
            raise ValueError(f"design must have {len(self.names)} columns, got {rows.shape[1]}")
        log_odds = rows @ self.coefficients
        shares = np.asarray(expit(log_odds), dtype=np.float64)
        variances = np.einsum("ij,jk,ik->i", rows, self.covariance, rows)
        errors = shares * expit(-log_odds) * np.sqrt(np.maximum(variances, 0.0))
        return PredictedShares(shares=shares, standard_errors=errors)


def fit_logistic(
    *,
    design: ArrayLike,
    successes: ArrayLike,
    totals: ArrayLike,
    other_probability: ArrayLike,
    slope: ArrayLike,
    names: Sequence[str] | None = None,
    level: float = 0.95,
) -> LogisticFit:
    """Fit log odds of the true answer, linear in the predictors, to randomized reports.

    Parameters
    ----------
    design : array of float, shape (rows, p)
        One column per predictor; an intercept is a column of ones and is not added automatically.
    successes : array of int, shape (rows,)
        Reports in each row showing the event.
    totals : array of int, shape (rows,)
        Reports in each row, at least 1.
    other_probability : float or array of float, shape (rows,)
        c, the probability that the event is reported when it is not true.
    slope : float or array of float, shape (rows,)
        d, the amount by which that probability rises when it is true. With c = 0 and d = 1
        this is ordinary logistic regression.
    names : sequence of str, optional
        Names of the predictors; x1, x2, ... if absent.
    level : float, optional
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    LogisticFit
        Coefficients, standard errors, intervals for odds ratios, tests.

    Raises
    ------
    SeparationError
        If the likelihood rises as coefficients grow without bound, for example where a group's raw
        share lies outside (0, 1). The message names the coefficients and says what to do.
    ValueError
        If an argument has the wrong shape, is not finite or is out of range, if there are
        fewer rows than predictors, or if a column is a combination of those before it.
    NotSettledError
        If the iteration neither converges nor diverges.

    Notes
    -----
    A report shows the event with probability l = c + d s, s = logistic(x b). Fisher scoring
    from b = 0 with score x (y - l) d s (1 - s) / (l (1 - l)) and weight W = (d s (1 - s))**2 /
    (l (1 - l)) per report; a step is halved while it lowers the likelihood, and steps shorter
    than a tenth of a standard error are Newton's. The covariance is the inverse of X' W X. A
    saturated model reproduces the groups' raw shares (S / n - c) / d.

    For c > 0 or c + d < 1 the log-likelihood is not concave, and it is bounded as a coefficient
    grows: it may have several local maxima, of which the one reached from 0 is returned, and
    ends of profile intervals may be infinite. Where a model without a column, or one with a
    coefficient held fixed, has its maximum at infinity, the likelihood's limit is taken.

    None of these results is valid under repeated looks at growing data.

    References
    ----------
    Scheers, N. J. and Dayton, C. M. (1988), Covariate randomized response models, JASA
    83(404), pp. 969-974 (logistic regression behind randomized response).
    McCullagh, P. and Nelder, J. A. (1989), Generalized linear models, section 2.5 (scoring).

    Examples
    --------
    Two groups, raw shares .3 and .5 (log odds ratio ln(7 / 3) = .847):

    >>> fit = fit_logistic(design=[[1, 0], [1, 1]], successes=[400, 500], totals=[1000, 1000],
    ...     other_probability=0.25, slope=0.5, names=["intercept", "group"])
    >>> [round(float(value), 6) for value in fit.coefficients]
    [-0.847298, 0.847298]
    >>> round(fit.odds_ratios[1].value, 6), round(fit.tests[1].p_value, 7)
    (2.333333, 6.8e-06)
    """
    level = check_level(level)
    cells = group_rows(
        check_rows(design, successes, totals, other_probability=other_probability, slope=slope)
    )
    columns = check_names(names, cells.design.shape[1])
    check_rank(cells.design, columns)

    basis, triangle = rotate_design(cells, cells.design)
    best = maximize(cells, basis)
    if best.singular:
        raise explain_separation(cells, best, triangle, columns)
    if not best.converged:
        raise NotSettledError(f"scoring did not converge in {best.iterations} iterations")
    model = FittedModel.of(cells, best, basis=basis, triangle=triangle)
    every = range(len(columns))
    return LogisticFit(
        names=columns,
        coefficients=model.coefficients,
        standard_errors=model.standard_errors,
        covariance=model.covariance,
        log_likelihood=best.log_likelihood,
        iterations=best.iterations,
        level=level,
        odds_ratios=tuple(model.odds_ratio(j, name=columns[j], level=level) for j in every),
        tests=tuple(model.test_without(j) for j in every),
        overall_test=model.test_overall(),
        goodness_of_fit=model.test_goodness_of_fit(),
    )
