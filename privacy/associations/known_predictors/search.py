"""The likelihood of a logistic regression behind randomized response, and its maximum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit

from privacy.associations.known_predictors.rows import (
    ReportRows,
)
from privacy.associations.maximum_likelihood import SeparationError
from privacy.checks import Floats

_TINY = np.finfo(np.float64).tiny
_MAX_ITERATIONS = 500
_MAX_HALVINGS = 60
# Squared length of a step in standard errors: 1e-10 of one is far below any precision that matters
# and still well above rounding.
_CONVERGED = 1e-20
_NEAR = 0.01  # squared as well: within a tenth of a standard error
# Information left in a direction, relative to what it was at coefficients of zero. Rounding
# reaches about 1e-16; a share of 1e-6 behind two coins still leaves 1e-11.
SINGULAR = 1e-13


def _log_likelihood(cells: ReportRows, log_odds: Floats) -> float:
    shown = cells.c + cells.d * expit(log_odds)
    not_shown = cells.rest + cells.d * expit(-log_odds)
    # Take the logarithm of the rarer kind, and compute the other from it: the logarithm
    # of a number near one would lose digits.
    rarer = np.maximum(np.minimum(shown, not_shown), _TINY)
    log_rarer, log_other = np.log(rarer), np.log1p(-rarer)
    swapped = shown > not_shown
    return float(
        cells.successes @ np.where(swapped, log_other, log_rarer)
        + cells.failures @ np.where(swapped, log_rarer, log_other)
    )


def _derivatives(cells: ReportRows, log_odds: Floats) -> tuple[Floats, Floats, Floats]:
    """Return each cell's score for its log odds, and the expected and observed information."""
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


def rotate_design(cells: ReportRows, design: Floats) -> tuple[Floats, Floats]:
    """Rotate the columns so that the information at log odds of zero is the identity.

    Steps and thresholds then do not depend on units, and a column of years next to an
    intercept costs no digits. Coefficients are the triangle's inverse times positions in the basis.
    """
    weight = _derivatives(cells, np.zeros(len(design)))[1]
    triangle: Floats = np.linalg.qr(np.sqrt(weight)[:, None] * design).R
    return solve_triangular(triangle, design.T, trans="T").T, triangle


@dataclass(frozen=True, kw_only=True, eq=False)
class Maximum:
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
        return bool((self.values <= SINGULAR).any())


def maximize(
    cells: ReportRows,
    basis: Floats,
    *,
    offset: Floats | float = 0.0,
    start: Floats | None = None,
) -> Maximum:
    """Fisher scoring with step halving; directions without information are left alone.

    The last steps are Newton's: behind a channel, observed and expected information differ, and
    where the first exceeds twice the second, scoring jumps back and forth across the maximum with
    steps too small to show in the likelihood.
    """
    position = np.zeros(basis.shape[1]) if start is None else start
    log_odds = offset + basis @ position
    log_likelihood = _log_likelihood(cells, log_odds)
    # The rounding error of a score, in standard errors, grows with the square root of the number
    # of reports.
    enough = max(_CONVERGED, 1e-30 * float((cells.successes + cells.failures).sum()))
    iterations = 0
    while True:
        step = _find_step(cells, basis, log_odds)
        if step.length <= enough or iterations == _MAX_ITERATIONS:
            break
        move = step.move
        # Rounding of the sum must not be mistaken for a fall.
        floor = log_likelihood - 1e-14 * abs(log_likelihood)
        for _ in range(_MAX_HALVINGS):
            candidate_odds = offset + basis @ (position + move)
            reached = _log_likelihood(cells, candidate_odds)
            if reached >= floor:
                break
            move = move / 2
        else:
            break
        position, log_odds, log_likelihood = position + move, candidate_odds, reached
        iterations += 1
    return Maximum(
        position=position,
        log_odds=log_odds,
        log_likelihood=log_likelihood,
        iterations=iterations,
        converged=bool(step.length <= enough),
        values=step.values,
        vectors=step.vectors,
        weight=step.weight,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Step:
    """The next step from a position, and the information at that position."""

    move: Floats
    length: float  # squared, in standard errors
    values: Floats
    vectors: Floats
    weight: Floats


def _find_step(cells: ReportRows, basis: Floats, log_odds: Floats) -> _Step:
    """Find the step of Fisher scoring, or of Newton's method once it is near the maximum."""
    score, weight, observed = _derivatives(cells, log_odds)
    values, vectors = np.linalg.eigh(basis.T @ (weight[:, None] * basis))
    usable = vectors[:, values > SINGULAR]
    along = usable.T @ (basis.T @ score)
    move = along / values[values > SINGULAR]
    if along @ move < _NEAR:
        reduced = basis @ usable
        curves, axes = np.linalg.eigh(reduced.T @ (observed[:, None] * reduced))
        if (curves > SINGULAR).all():
            move = axes @ ((axes.T @ along) / curves)
    return _Step(
        move=usable @ move, length=along @ move, values=values, vectors=vectors, weight=weight
    )


def explain_separation(
    cells: ReportRows, reached: Maximum, triangle: Floats, names: tuple[str, ...]
) -> SeparationError:
    lost = reached.vectors[:, reached.values <= SINGULAR]
    # How much each coefficient moves the log odds along a lost direction.
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
