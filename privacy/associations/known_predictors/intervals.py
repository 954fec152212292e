"""Likelihood-ratio tests and profile-likelihood intervals of a logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import brentq
from scipy.special import chdtrc, expit, ndtri, xlogy

from privacy.associations.known_predictors.rows import (
    ReportRows,
)
from privacy.associations.known_predictors.search import (
    SINGULAR,
    Maximum,
    maximize,
    rotate_design,
)
from privacy.checks import Floats

_LEAST_EXPECTED = 5.0  # reports of either kind in a cell that make the deviance chi-square


@dataclass(frozen=True, kw_only=True)
class ChiSquareTest:
    """Twice a difference of log-likelihoods, compared with chi-square.

    Attributes
    ----------
    statistic : float
        At least 0.
    degrees_of_freedom : int
        At least 1.
    p_value : float
        Probability of a statistic at least this large if the smaller model holds.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


@dataclass(frozen=True, kw_only=True)
class OddsRatio:
    """The factor by which the odds of the true answer change per unit of a predictor.

    Attributes
    ----------
    name : str
        The predictor.
    value : float
        exp of its coefficient.
    wald_low, wald_high : float
        exp of coefficient -/+ quantile times standard error.
    profile_low, profile_high : float
        Where the profile likelihood first falls to the test's limit on either side; 0 or
        infinity if it never does. Prefer these ends.
    """

    name: str
    value: float
    wald_low: float
    wald_high: float
    profile_low: float
    profile_high: float


def _test(statistic: float, degrees_of_freedom: int) -> ChiSquareTest:
    statistic = max(0.0, statistic)  # rounding
    return ChiSquareTest(
        statistic=statistic,
        degrees_of_freedom=degrees_of_freedom,
        p_value=float(chdtrc(degrees_of_freedom, statistic)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedModel:
    """A maximum of the likelihood, the starting point for tests and intervals of coefficients.

    Attributes
    ----------
    rows : ReportRows
        Distinct rows of design and channel.
    best : Maximum
        The maximum, as coordinates of the rotated design.
    basis : ndarray of float64, shape (rows, p)
        The rotated design.
    triangle : ndarray of float64, shape (p, p)
        The design is the basis times this.
    coefficients, standard_errors : ndarray of float64, shape (p,)
        Coefficients of the design's columns, with standard errors.
    covariance : ndarray of float64, shape (p, p)
        Covariance of `coefficients`.
    """

    rows: ReportRows
    best: Maximum
    basis: Floats
    triangle: Floats
    coefficients: Floats
    standard_errors: Floats
    covariance: Floats

    @classmethod
    def of(cls, rows: ReportRows, best: Maximum, *, basis: Floats, triangle: Floats) -> FittedModel:
        """Convert coordinates of the basis to coefficients."""
        inverse = solve_triangular(triangle, np.eye(len(triangle)))
        root = inverse @ best.vectors / np.sqrt(best.values)
        covariance = root @ root.T
        return cls(
            rows=rows,
            best=best,
            basis=basis,
            triangle=triangle,
            coefficients=inverse @ best.position,
            standard_errors=np.sqrt(np.diag(covariance)),
            covariance=covariance,
        )

    def test_without(self, j: int) -> ChiSquareTest:
        """Test whether a coefficient is zero by fitting a model without its column."""
        rotation, _ = np.linalg.qr(np.delete(self.triangle, j, axis=1))
        smaller = maximize(self.rows, self.basis @ rotation)
        return _test(2 * (self.best.log_likelihood - smaller.log_likelihood), 1)

    def test_overall(self) -> ChiSquareTest | None:
        """Test for the same share in all rows; None if that is not a special case of the model."""
        design = self.rows.design
        ones = np.ones((len(design), 1))
        solution = np.linalg.lstsq(design, ones, rcond=None)[0]
        nested = np.abs(design @ solution - ones).max() < 1e-8
        predictors = design.shape[1]
        if not nested or predictors == 1:
            return None
        smaller = maximize(self.rows, rotate_design(self.rows, ones)[0])
        return _test(2 * (self.best.log_likelihood - smaller.log_likelihood), predictors - 1)

    def test_goodness_of_fit(self) -> ChiSquareTest | None:
        """Test the model against free shares; None where the deviance is not chi-square."""
        cells = self.rows
        rows, predictors = cells.design.shape
        totals = cells.successes + cells.failures
        expected = totals * (cells.c + cells.d * expit(self.best.log_odds))
        if rows <= predictors or min(expected.min(), (totals - expected).min()) < _LEAST_EXPECTED:
            return None
        free = xlogy(cells.successes, cells.successes / totals).sum()
        free += xlogy(cells.failures, cells.failures / totals).sum()
        return _test(2 * (float(free) - self.best.log_likelihood), rows - predictors)

    def odds_ratio(self, j: int, *, name: str, level: float) -> OddsRatio:
        """Find a coefficient's odds ratio with its Wald and profile-likelihood intervals."""
        quantile = float(-ndtri((1 - level) / 2))
        value, error = float(self.coefficients[j]), float(self.standard_errors[j])
        reach = quantile * error
        # Expressed in the basis, `rotation` spans the other columns. Only the part of this column
        # that they cannot reproduce has to be held fixed.
        rotation, others = np.linalg.qr(np.delete(self.triangle, j, axis=1))
        explained = rotation.T @ self.triangle[:, j]
        profile = _Profile(
            rows=self.rows,
            basis=self.basis @ rotation,
            own=self.basis @ (self.triangle[:, j] - rotation @ explained),
            highest=self.best.log_likelihood,
            limit=abs(quantile),
        )
        position = others @ np.delete(self.coefficients, j) + value * explained
        low, high = (
            profile.end(value, error=error, position=position, outward=outward)
            for outward in (-1, 1)
        )
        with np.errstate(over="ignore"):
            ratios = np.exp(np.array([value, value - reach, value + reach, low, high])).tolist()
        return OddsRatio(
            name=name,
            value=ratios[0],
            wald_low=ratios[1],
            wald_high=ratios[2],
            profile_low=ratios[3],
            profile_high=ratios[4],
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Profile:
    """The likelihood as a function of one coefficient, with all others refitted at each value."""

    rows: ReportRows
    basis: Floats
    own: Floats
    highest: float
    limit: float

    def fit(self, value: float, *, start: Floats | None = None) -> Maximum:
        return maximize(self.rows, self.basis, offset=self.own * value, start=start)

    def refit(self, value: float, near: Maximum, at: float) -> Maximum:
        """Fit at a value, starting from a fit nearby."""
        # The other coefficients start on the ridge of the likelihood.
        usable = near.values > SINGULAR
        vectors = near.vectors[:, usable]
        pull = vectors.T @ (self.basis.T @ (near.weight * self.own)) / near.values[usable]
        return self.fit(value, start=near.position - (value - at) * (vectors @ pull))

    def excess(self, reached: Maximum) -> float:
        """Return the root of the deviance minus the limit; negative inside the interval."""
        return sqrt(max(0.0, 2 * (self.highest - reached.log_likelihood))) - self.limit

    def end(self, estimate: float, *, error: float, position: Floats, outward: int) -> float:
        """Walk outward from the estimate until the root of the deviance reaches the limit."""
        spread = float(np.abs(self.own).max())
        inner, inner_fit = estimate, self.fit(estimate, start=position)
        width = outward * min(1.1 * self.limit * error, 4 / spread)
        while abs(inner - estimate) * spread < 1000:  # beyond, it is flat and falls no further
            outer = inner + width
            outer_fit = self.refit(outer, inner_fit, inner)
            if self.excess(outer_fit) < 0:
                inner, inner_fit = outer, outer_fit
                width *= 2
                continue
            near, at = inner_fit, inner
            end = float(
                brentq(
                    lambda value, near=near, at=at: self.excess(self.refit(value, near, at)),
                    inner,
                    outer,
                    xtol=1e-7 * error,
                    rtol=1e-14,
                )
            )
            # A fit from the default start may find a higher maximum: then the end lies further out.
            afresh = self.fit(end)
            if self.excess(afresh) > -1e-6:
                return end
            inner, inner_fit = end, afresh
        return outward * inf
