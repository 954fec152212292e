"""Logistic regression of a randomized yes/no answer on predictors that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from scipy.optimize import brentq
from scipy.special import chdtrc, expit, ndtri, xlogy

from privacy.associations.tables import NotSettledError
from privacy.checks import Floats, check_level, check_whole_counts

_TINY = np.finfo(np.float64).tiny
_MAX_ITERATIONS = 500
_MAX_HALVINGS = 60
# Squared length of a step in standard errors: 1e-10 of one is far below any use of the result,
# and still well above rounding.
_CONVERGED = 1e-20
_NEAR = 0.01  # likewise: within a tenth of a standard error
# Information left in a direction, relative to what it was at coefficients of zero. Rounding
# reaches about 1e-16; a share of 1e-6 behind two coins still leaves 1e-11.
_SINGULAR = 1e-13
_COLLINEAR = 1e-10  # part of a column, of length one, that the columns before do not explain
_LEAST_EXPECTED = 5.0  # reports of either kind in a cell, for chi-square to describe the deviance


class SeparationError(ValueError):
    """The likelihood has no maximum at finite coefficients.

    Attributes
    ----------
    names : tuple of str
        The coefficients that grow without bound.
    """

    def __init__(self, message: str, *, names: tuple[str, ...]) -> None:
        super().__init__(message)
        self.names = names


@dataclass(frozen=True, kw_only=True)
class ChiSquareTest:
    """Twice a difference of log-likelihoods, referred to chi-square.

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
    """By what factor the odds of the true answer change per unit of a predictor.

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


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictedShares:
    """True shares that a fitted model predicts.

    Attributes
    ----------
    shares : ndarray of float64, shape (rows,)
        As fractions.
    standard_errors : ndarray of float64, shape (rows,)
        Of `shares`, by the delta method.
    """

    shares: Floats
    standard_errors: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class LogisticFit:
    """A fitted logistic regression; arrays and tuples are in the order of the columns.

    Attributes
    ----------
    names : tuple of str, length p
        Of the predictors.
    coefficients, standard_errors : ndarray of float64, shape (p,)
        Log odds ratios of the true answer, per unit of each predictor.
    covariance : ndarray of float64, shape (p, p)
        Of `coefficients`: inverse of the expected information.
    log_likelihood : float
        Of the single reports, without binomial coefficients: grouping rows leaves it as it is.
    iterations : int
        Fisher scoring steps.
    level : float
        Confidence level of the intervals in `odds_ratios`.
    odds_ratios : tuple of OddsRatio, length p
        With intervals.
    tests : tuple of ChiSquareTest, length p
        Likelihood-ratio test of each coefficient being zero, from a fit without its column.
    overall_test : ChiSquareTest or None
        Likelihood-ratio test against the same share in all rows; None if that is no special
        case of the model (no intercept among the columns or their sums) or is the model.
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
            If design has another number of columns or values that are not finite.

        Examples
        --------
        >>> fit = fit_logistic(design=[[1.0]], successes=[400], totals=[1000],
        ...     other_probability=0.25, slope=0.5)
        >>> predicted = fit.predict(design=[[1.0]])
        >>> round(float(predicted.shares[0]), 9), round(float(predicted.standard_errors[0]), 9)
        (0.3, 0.030983867)
        """
        rows = _check_design(design)
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
        One column per predictor; an intercept is a column of ones, it is not added.
    successes : array of int, shape (rows,)
        Reports in each row showing the event.
    totals : array of int, shape (rows,)
        Reports in each row, at least 1.
    other_probability : float or array of float, shape (rows,)
        c, the probability that the event is reported when it is not true.
    slope : float or array of float, shape (rows,)
        d, by how much that probability rises when it is true. With c = 0 and d = 1 this is
        ordinary logistic regression.
    names : sequence of str, optional
        Of the predictors; x1, x2, ... if absent.
    level : float, optional
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    LogisticFit
        Coefficients, standard errors, intervals for odds ratios, tests.

    Raises
    ------
    SeparationError
        If the likelihood rises as coefficients grow without bound, as where a group's raw
        share lies outside (0, 1). The message names them and says what to do.
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

    Nothing here holds under repeated looks at growing data.

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
    cells = _group(
        _check_rows(design, successes, totals, other_probability=other_probability, slope=slope)
    )
    columns = _check_names(names, cells.design.shape[1])
    _check_rank(cells.design, columns)

    basis, triangle = _basis(cells, cells.design)
    best = _maximize(cells, basis)
    if best.singular:
        raise _separation(cells, best, triangle, columns)
    if not best.converged:
        raise NotSettledError(f"scoring must settle, and did not in {best.iterations} iterations")
    inverse = solve_triangular(triangle, np.eye(len(columns)))
    coefficients = inverse @ best.position
    root = inverse @ best.vectors / np.sqrt(best.values)
    covariance = root @ root.T
    errors = np.sqrt(np.diag(covariance))
    fit = LogisticFit(
        names=columns,
        coefficients=coefficients,
        standard_errors=errors,
        covariance=covariance,
        log_likelihood=best.log_likelihood,
        iterations=best.iterations,
        level=level,
        odds_ratios=(),
        tests=(),
        overall_test=_test_overall(cells, best),
        goodness_of_fit=_test_goodness_of_fit(cells, best),
    )
    # Both need the fit itself: each looks at one coefficient with the others fitted anew.
    every = range(len(columns))
    return replace(
        fit,
        odds_ratios=tuple(_odds_ratio(cells, fit, basis, triangle, j) for j in every),
        tests=tuple(_test_without(cells, best, basis, triangle, j) for j in every),
    )


# Data ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class _Cells:
    """Distinct rows of design and channel with their counts, as floats."""

    design: Floats
    successes: Floats
    failures: Floats
    c: Floats
    d: Floats
    rest: Floats  # 1 - c - d, the probability of not reporting the event when it is true


def _check_design(design: ArrayLike) -> Floats:
    rows = np.asarray(design, dtype=np.float64)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"design must have the shape (rows, predictors), got {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError(f"design must be finite, got {rows[~np.isfinite(rows)][0]}")
    return rows


def _check_counts(name: str, counts: ArrayLike, rows: int) -> Floats:
    values = check_whole_counts(name, counts)
    if values.shape != (rows,):
        raise ValueError(f"{name} must have one entry for each of {rows} rows, got {values.shape}")
    return values.astype(np.float64)


def _check_channel(name: str, value: ArrayLike, rows: int) -> Floats:
    values = np.asarray(value, dtype=np.float64)
    if values.shape not in ((), (rows,)):
        raise ValueError(
            f"{name} must be one number or one for each of {rows} rows, got {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite, got {value!r}")
    return np.broadcast_to(values, (rows,))


def _check_rows(
    design: ArrayLike,
    successes: ArrayLike,
    totals: ArrayLike,
    *,
    other_probability: ArrayLike,
    slope: ArrayLike,
) -> _Cells:
    table = _check_design(design)
    rows, predictors = table.shape
    shown = _check_counts("successes", successes, rows)
    reports = _check_counts("totals", totals, rows)
    c = _check_channel("other_probability", other_probability, rows)
    d = _check_channel("slope", slope, rows)
    if reports.min() < 1:
        raise ValueError(
            f"totals must be at least 1 (leave out rows without reports), got {reports.min():.0f}"
        )
    if (shown > reports).any():
        bad = int(np.argmax(shown > reports))
        raise ValueError(
            f"successes must lie from 0 to totals, got {shown[bad]:.0f} of {reports[bad]:.0f}"
        )
    if c.min() < 0:
        raise ValueError(f"other_probability must be at least 0, got {c.min()}")
    if d.min() <= 0:
        raise ValueError(f"slope must be positive, got {d.min()}")
    if (c + d).max() > 1 + 1e-12:
        raise ValueError(f"other_probability + slope must be at most 1, got {(c + d).max()}")
    if rows < predictors:
        raise ValueError(f"design must have at least {predictors} rows with reports, got {rows}")
    return _Cells(
        design=table, successes=shown, failures=reports - shown, c=c, d=d, rest=_rest(c, d)
    )


def _rest(c: Floats, d: Floats) -> Floats:
    rest = 1 - c - d
    return np.where(rest < 1e-15, 0.0, rest)  # rounding of c + d = 1


def _group(rows: _Cells) -> _Cells:
    """Add up rows that agree in design and channel: same likelihood, less to compute."""
    keys, which = np.unique(
        np.column_stack([rows.design, rows.c, rows.d]), axis=0, return_inverse=True
    )
    return _Cells(
        design=np.ascontiguousarray(keys[:, :-2]),
        successes=np.bincount(which, weights=rows.successes).astype(np.float64),
        failures=np.bincount(which, weights=rows.failures).astype(np.float64),
        c=keys[:, -2],
        d=keys[:, -1],
        rest=_rest(keys[:, -2], keys[:, -1]),
    )


def _check_names(names: Sequence[str] | None, predictors: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"x{j + 1}" for j in range(predictors))
    if len(names) != predictors or len(set(names)) != predictors:
        raise ValueError(f"names must be {predictors} different names, got {list(names)!r}")
    return tuple(names)


def _check_rank(design: Floats, names: tuple[str, ...]) -> None:
    lengths = np.linalg.norm(design, axis=0)
    scaled = design / np.where(lengths > 0, lengths, 1.0)
    left = np.zeros(len(names))  # of each column, what those before it do not explain
    diagonal = np.abs(np.diagonal(np.linalg.qr(scaled).R))
    left[: len(diagonal)] = diagonal  # distinct rows may be fewer than columns
    if (left < _COLLINEAR).any():
        j = int(np.argmax(left < _COLLINEAR))
        raise ValueError(
            f"design must have independent columns: {names[j]!r} is zero or a combination of "
            f"{list(names[:j])!r}; leave it out"
        )


# Likelihood and its maximum -----------------------------------------------------------------


def _log_likelihood(cells: _Cells, log_odds: Floats) -> float:
    shown = cells.c + cells.d * expit(log_odds)
    not_shown = cells.rest + cells.d * expit(-log_odds)
    # The rarer kind by itself, the other one from it: the logarithm of a number close to one
    # would lose the digits of what it lacks.
    rarer = np.maximum(np.minimum(shown, not_shown), _TINY)
    log_rarer, log_other = np.log(rarer), np.log1p(-rarer)
    swapped = shown > not_shown
    return float(
        cells.successes @ np.where(swapped, log_other, log_rarer)
        + cells.failures @ np.where(swapped, log_rarer, log_other)
    )


def _derivatives(cells: _Cells, log_odds: Floats) -> tuple[Floats, Floats, Floats]:
    """Return each cell's score by its log odds, and the expected and observed information."""
    c, d, rest = cells.c, cells.d, cells.rest
    yes, no = expit(log_odds), expit(-log_odds)
    # s / l and (1 - s) / (1 - l) tend to 1 / d where the channel adds nothing: never 0 / 0.
    per_yes = np.where(c > 0, yes / np.maximum(c + d * yes, _TINY), 1 / d)
    per_no = np.where(rest > 0, no / np.maximum(rest + d * no, _TINY), 1 / d)
    # Derivatives of ln l and of -ln(1 - l).
    rise, fall = d * no * per_yes, d * yes * per_no
    score = cells.successes * rise - cells.failures * fall
    expected = (cells.successes + cells.failures) * rise * fall
    observed = cells.successes * rise * (rise - no + yes)
    observed += cells.failures * fall * (fall - yes + no)
    return score, expected, observed


def _basis(cells: _Cells, design: Floats) -> tuple[Floats, Floats]:
    """Rotate the columns so that the information at log odds of zero is the identity.

    Steps and thresholds then do not depend on units, and years beside an intercept cost no
    digits. Coefficients are the triangle's inverse times positions in the basis.
    """
    weight = _derivatives(cells, np.zeros(len(design)))[1]
    triangle: Floats = np.linalg.qr(np.sqrt(weight)[:, None] * design).R
    return solve_triangular(triangle, design.T, trans="T").T, triangle


@dataclass(frozen=True, kw_only=True, eq=False)
class _Maximum:
    position: Floats
    log_odds: Floats
    log_likelihood: float
    iterations: int
    converged: bool
    values: Floats  # eigenvalues and eigenvectors of the information
    vectors: Floats
    weight: Floats

    @property
    def singular(self) -> bool:
        return bool((self.values <= _SINGULAR).any())


def _maximize(
    cells: _Cells,
    basis: Floats,
    *,
    offset: Floats | float = 0.0,
    start: Floats | None = None,
) -> _Maximum:
    """Fisher scoring with step halving; directions without information are left alone.

    The last part of the way is Newton's: behind a channel, observed and expected information
    differ, and where the first exceeds twice the second, scoring jumps to and fro across the
    maximum with steps too small for the likelihood to tell.
    """
    position = np.zeros(basis.shape[1]) if start is None else start
    log_odds = offset + basis @ position
    log_likelihood = _log_likelihood(cells, log_odds)
    # Rounding of a score, in standard errors, grows with the square root of the reports.
    enough = max(_CONVERGED, 1e-30 * float((cells.successes + cells.failures).sum()))
    iterations = 0
    converged = False
    while True:
        score, weight, observed = _derivatives(cells, log_odds)
        values, vectors = np.linalg.eigh(basis.T @ (weight[:, None] * basis))
        usable = vectors[:, values > _SINGULAR]
        along = usable.T @ (basis.T @ score)
        move = along / values[values > _SINGULAR]
        if along @ move < _NEAR:
            reduced = basis @ usable
            curves, axes = np.linalg.eigh(reduced.T @ (observed[:, None] * reduced))
            if (curves > _SINGULAR).all():
                move = axes @ ((axes.T @ along) / curves)
        step = usable @ move
        converged = bool(along @ move <= enough)
        if converged or iterations == _MAX_ITERATIONS:
            break
        # Rounding of the sum must not be mistaken for a fall.
        floor = log_likelihood - 1e-14 * abs(log_likelihood)
        for _ in range(_MAX_HALVINGS):
            candidate = position + step
            candidate_odds = offset + basis @ candidate
            reached = _log_likelihood(cells, candidate_odds)
            if reached >= floor:
                break
            step = step / 2
        else:
            break
        position, log_odds, log_likelihood = candidate, candidate_odds, reached
        iterations += 1
    return _Maximum(
        position=position,
        log_odds=log_odds,
        log_likelihood=log_likelihood,
        iterations=iterations,
        converged=converged,
        values=values,
        vectors=vectors,
        weight=weight,
    )


def _separation(
    cells: _Cells, reached: _Maximum, triangle: Floats, names: tuple[str, ...]
) -> SeparationError:
    lost = reached.vectors[:, reached.values <= _SINGULAR]
    # How far each coefficient moves the log odds when one walks in a lost direction.
    moves = np.abs(solve_triangular(triangle, lost)).max(axis=1)
    moves *= np.sqrt((cells.design**2).mean(axis=0))
    growing = tuple(
        name for name, move in zip(names, moves, strict=True) if move > moves.max() / 10
    )
    at_edge = int((np.abs(reached.log_odds) > 9).sum())
    quoted = ", ".join(repr(name) for name in growing)
    return SeparationError(
        f"no finite estimate: the reports fit best as the coefficient of {quoted} grows without "
        f"bound (true shares of 0 or 1 in {at_edge} of {len(cells.design)} distinct rows). Merge "
        "these groups with others, leave the predictor out, or collect more reports",
        names=growing,
    )


# Tests and intervals ------------------------------------------------------------------------


def _test(statistic: float, degrees_of_freedom: int) -> ChiSquareTest:
    statistic = max(0.0, statistic)  # rounding
    return ChiSquareTest(
        statistic=statistic,
        degrees_of_freedom=degrees_of_freedom,
        p_value=float(chdtrc(degrees_of_freedom, statistic)),
    )


def _test_without(
    cells: _Cells, best: _Maximum, basis: Floats, triangle: Floats, j: int
) -> ChiSquareTest:
    rotation, _ = np.linalg.qr(np.delete(triangle, j, axis=1))
    smaller = _maximize(cells, basis @ rotation)
    return _test(2 * (best.log_likelihood - smaller.log_likelihood), 1)


def _test_overall(cells: _Cells, best: _Maximum) -> ChiSquareTest | None:
    ones = np.ones((len(cells.design), 1))
    solution = np.linalg.lstsq(cells.design, ones, rcond=None)[0]
    nested = np.abs(cells.design @ solution - ones).max() < 1e-8
    predictors = cells.design.shape[1]
    if not nested or predictors == 1:
        return None
    smaller = _maximize(cells, _basis(cells, ones)[0])
    return _test(2 * (best.log_likelihood - smaller.log_likelihood), predictors - 1)


def _test_goodness_of_fit(cells: _Cells, best: _Maximum) -> ChiSquareTest | None:
    rows, predictors = cells.design.shape
    totals = cells.successes + cells.failures
    expected = totals * (cells.c + cells.d * expit(best.log_odds))
    if rows <= predictors or min(expected.min(), (totals - expected).min()) < _LEAST_EXPECTED:
        return None
    free = xlogy(cells.successes, cells.successes / totals).sum()
    free += xlogy(cells.failures, cells.failures / totals).sum()
    return _test(2 * (float(free) - best.log_likelihood), rows - predictors)


def _odds_ratio(
    cells: _Cells, fit: LogisticFit, basis: Floats, triangle: Floats, j: int
) -> OddsRatio:
    quantile = float(-ndtri((1 - fit.level) / 2))
    value = float(fit.coefficients[j])
    reach = quantile * float(fit.standard_errors[j])
    # In the basis: the other columns span the rotation, and all that has to be held fixed of
    # this one is the part of it that the others cannot undo.
    rotation, others = np.linalg.qr(np.delete(triangle, j, axis=1))
    explained = rotation.T @ triangle[:, j]
    own = basis @ (triangle[:, j] - rotation @ explained)
    position = others @ np.delete(fit.coefficients, j) + value * explained
    low, high = (
        _profile_end(
            cells,
            fit.log_likelihood,
            basis=basis @ rotation,
            own=own,
            position=position,
            estimate=value,
            error=float(fit.standard_errors[j]),
            step=step,
        )
        for step in (-quantile, quantile)
    )
    with np.errstate(over="ignore"):
        ratios = np.exp(np.array([value, value - reach, value + reach, low, high])).tolist()
    return OddsRatio(
        name=fit.names[j],
        value=ratios[0],
        wald_low=ratios[1],
        wald_high=ratios[2],
        profile_low=ratios[3],
        profile_high=ratios[4],
    )


def _profile_end(
    cells: _Cells,
    log_likelihood: float,
    *,
    basis: Floats,
    own: Floats,
    position: Floats,
    estimate: float,
    error: float,
    step: float,
) -> float:
    """Walk outward until the signed root of the profile deviance reaches the step."""
    spread = float(np.abs(own).max())
    direction, limit = (1 if step > 0 else -1), abs(step)

    def refit(value: float, near: _Maximum, at: float) -> _Maximum:
        # The others follow along the ridge of the likelihood.
        usable = near.values > _SINGULAR
        vectors = near.vectors[:, usable]
        pull = vectors.T @ (basis.T @ (near.weight * own)) / near.values[usable]
        start = near.position - (value - at) * (vectors @ pull)
        return _maximize(cells, basis, offset=own * value, start=start)

    def excess(reached: _Maximum) -> float:
        return sqrt(max(0.0, 2 * (log_likelihood - reached.log_likelihood))) - limit

    inner = estimate
    inner_fit = _maximize(cells, basis, offset=own * inner, start=position)
    width = direction * min(1.1 * limit * error, 4 / spread)
    while abs(inner - estimate) * spread < 1000:  # by then it is flat and never falls so far
        outer = inner + width
        outer_fit = refit(outer, inner_fit, inner)
        if excess(outer_fit) < 0:
            inner, inner_fit = outer, outer_fit
            width *= 2
            continue
        near, at = inner_fit, inner
        end = float(
            brentq(
                lambda value, near=near, at=at: excess(refit(value, near, at)),
                inner,
                outer,
                xtol=1e-7 * error,
                rtol=1e-14,
            )
        )
        # Another maximum, reached afresh, may be higher: then the end lies further out.
        afresh = _maximize(cells, basis, offset=own * end)
        if excess(afresh) > -1e-6:
            return end
        inner, inner_fit = end, afresh
    return direction * inf
