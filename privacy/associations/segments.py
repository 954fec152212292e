"""Segments: typical profiles of answers to several yes/no questions, by k-means on their table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privacy.associations.maximum_likelihood import maximize_likelihood
from privacy.associations.tables import Variable, prepare_table
from privacy.checks import Floats, check_distribution, check_shares, check_whole

MOST_QUESTIONS = 6
SEGMENTS = (2, 3)
# The most likely share of an empty row is often not exactly 0.
_LEAST_SHARE = 1e-9
# The most likely shares are exact to about ten digits; values that differ by less count as ties.
_DIGITS = 10
_ROWS_TO_START_FROM = 10
_MOST_ROUNDS = 1000  # far more than are needed


class TooFewRowsError(ValueError):
    """The table has fewer different rows than the segments requested."""


@dataclass(frozen=True, kw_only=True)
class Segments:
    """Profiles of answers, ordered by size, largest first.

    Segments of the same size are ordered by their shares of Yes, highest first.

    Attributes
    ----------
    sizes : ndarray of float64, shape (segments,)
        Shares of people in the segments; they sum to one.
    centres : ndarray of float64, shape (segments, questions)
        Share of Yes to each question in each segment.
    objective : float
        Mean squared distance of people from the centre of their segment.
    """

    sizes: Floats
    centres: Floats
    objective: float


@dataclass(frozen=True, kw_only=True)
class EstimatedSegments:
    """Segments of the most likely table, and how far scrambling and sampling move them.

    Attributes
    ----------
    total : int
        Number of reports.
    segments : Segments
        Segments of the most likely table.
    spread : ndarray of float64, shape (segments,)
        Root mean square shift of the shares of each segment in the parametric bootstrap.
    size_spread : ndarray of float64, shape (segments,)
        Root mean square shift of the size of each segment.
    """

    total: int
    segments: Segments
    spread: Floats
    size_spread: Floats


def find_segments(*, shares: ArrayLike, segments: int) -> Segments:
    """Divide the rows of a table of yes/no answers by k-means.

    Parameters
    ----------
    shares : array_like of float, shape (2, ..., 2)
        Share of people with each combination of answers, with one axis for each of two to six
        questions. Index 0 is No and 1 is Yes.
    segments : int
        Number of segments, 2 or 3.

    Returns
    -------
    Segments
        The best division that the iteration reaches.

    Raises
    ------
    ValueError
        If the table does not have two to six axes of length 2, its shares are not a distribution,
        or segments is neither 2 nor 3.
    TooFewRowsError
        If fewer rows than `segments` have a share above 1e-9. This is a subclass of ValueError.

    Notes
    -----
    Rows are points with coordinates 0 and 1, weighted by their shares. The iteration starts from
    every set of different rows among the ten with the largest shares; with up to three questions,
    these are all rows. When no row changes its segment, the iteration moves the row whose move to
    another segment lowers the objective most, and continues until no move lowers it. These moves
    matter because many rows are equally far from two centres. Nothing is random. The division with
    the smallest objective is returned. A row with the same distance from two centres belongs to the
    first of them, and the first of several equal objectives wins; values count as equal if they
    agree to ten decimals. The result may still be a local minimum.

    References
    ----------
    Lloyd, S. P. (1982), IEEE Transactions on Information Theory 28(2).
    Hartigan, J. A. and Wong, M. A. (1979), Applied Statistics 28(1), algorithm AS 136 (moving one
    row).

    Examples
    --------
    >>> found = find_segments(shares=[[0.5, 0.1], [0.0, 0.4]], segments=2)
    >>> found.sizes.round(3).tolist(), found.centres.round(3).tolist()
    ([0.5, 0.5], [[0.8, 1.0], [0.0, 0.0]])
    """
    check_whole("segments", segments, at_least=SEGMENTS[0], at_most=SEGMENTS[-1])
    table = check_shares("shares", shares)
    if not 2 <= table.ndim <= MOST_QUESTIONS or set(table.shape) != {2}:
        raise ValueError(
            f"shares must have two to {MOST_QUESTIONS} axes of length 2, got {table.shape}"
        )
    weights = check_distribution("shares", table.ravel(), symbols=table.size)
    kept = weights > _LEAST_SHARE
    if kept.sum() < segments:
        raise TooFewRowsError(
            f"shares must have {segments} rows for {segments} segments, got {int(kept.sum())}"
        )
    points = np.stack(np.unravel_index(np.flatnonzero(kept), table.shape), axis=1).astype(float)
    return _iterate(points, weights[kept] / weights[kept].sum(), segments)


def _iterate(points: Floats, weights: Floats, segments: int) -> Segments:
    """Improve all starts together; arrays have the axes start, row, segment and question."""
    heaviest = np.argsort(-weights.round(_DIGITS), kind="stable")[:_ROWS_TO_START_FROM]
    starts = points[np.array(list(combinations(heaviest, segments)))]
    nearest = _measure(points, starts).argmin(axis=-1)
    for _ in range(_MOST_ROUNDS):
        members = (nearest[:, :, None] == np.arange(segments)) * weights[:, None]
        sizes = members.sum(axis=1)
        sums = np.einsum("srk,rm->skm", members, points)
        centres = sums / np.maximum(sizes, _LEAST_SHARE / 2)[:, :, None]
        distances = _measure(points, centres)
        before = nearest
        # A segment without rows attracts none until an exchange gives it one.
        nearest = np.where(sizes[:, None] > 0, distances, np.inf).argmin(axis=-1)
        settled = np.flatnonzero((nearest == before).all(axis=1))
        _exchange(nearest, settled, weights, sizes[settled], distances[settled])
        if (nearest == before).all():
            break
    objectives = (members * distances).sum(axis=(1, 2)).round(_DIGITS)
    best = int(objectives.argmin())
    order = np.lexsort([*-centres[best].T[::-1].round(_DIGITS), -sizes[best].round(_DIGITS)])
    return Segments(
        sizes=sizes[best][order], centres=centres[best][order], objective=float(objectives[best])
    )


def _measure(points: Floats, centres: Floats) -> Floats:
    """Return the squared distance of every row from every centre."""
    squares: Floats = ((points[:, None] - centres[:, None]) ** 2).sum(axis=-1).round(_DIGITS)
    return squares


def _exchange(
    nearest: NDArray[np.int64],
    settled: NDArray[np.int64],
    weights: Floats,
    sizes: Floats,
    distances: Floats,
) -> None:
    """From each settled start, make the move that lowers the objective most, if any does."""
    own = nearest[settled][:, :, None] == np.arange(sizes.shape[1])
    weight, size = weights[:, None], sizes[:, None]
    # Moving a row moves both centres; a segment's only row is at its centre and gains nothing.
    left = np.maximum(size - weight, _LEAST_SHARE / 2)
    gain = (weight * size / left * distances * own).sum(axis=-1)
    cost = np.where(own, np.inf, weight * size / (size + weight) * distances)
    saved = gain - cost.min(axis=-1)
    row = saved.argmax(axis=1)
    better = saved.max(axis=1, initial=-np.inf) > 10.0**-_DIGITS
    nearest[settled[better], row[better]] = cost.argmin(axis=-1)[better, row[better]]


def estimate_segments(
    *,
    counts: ArrayLike,
    variables: Sequence[Variable],
    segments: int,
    draws: int = 100,
    after_each: Callable[[], None] = lambda: None,
) -> EstimatedSegments:
    """Find the segments of the most likely table of true answers, and how far they may move.

    Parameters
    ----------
    counts : array_like of int, shape (2, ..., 2)
        Number of reports showing each combination of codes, with axes in the order of `variables`.
    variables : sequence of Variable
        Two to six yes/no questions, each with the categories No and Yes.
    segments : int
        Number of segments, 2 or 3.
    draws : int, optional
        Number of bootstrap samples, at least 1.
    after_each : callable, optional
        Called after each sample.

    Returns
    -------
    EstimatedSegments
        The segments and the spread of their centres.

    Raises
    ------
    ValueError
        As for `find_segments` and `tables.estimate_table`, or if draws is out of range.
    NotSettledError
        If EM does not converge.

    Notes
    -----
    For each sample, as many people as there are reports are drawn from the most likely table, their
    answers are scrambled, and the estimate is repeated. The segments of the sample are matched to
    the estimated ones so that the centres move least, each weighted by the size of its estimated
    segment. A sample whose table has too few rows counts as a shift of 1 everywhere. The seed is
    fixed. The spread describes how far shares typically move. It is not an interval: the most
    likely table has less noise than its sampling distribution where shares are 0, and matching
    makes shifts smaller where segments are not distinct.

    References
    ----------
    Efron, B. and Tibshirani, R. J. (1993), An Introduction to the Bootstrap, Chapman and Hall,
    section 6.5 (parametric bootstrap).

    Examples
    --------
    >>> from privacy.mechanism.mechanisms import RandomizedResponse
    >>> coins = Variable.plain(RandomizedResponse.from_flips(symbols=2, flips=25))
    >>> found = estimate_segments(
    ...     counts=[[3000, 2200], [2000, 2800]], variables=[coins, coins], segments=2
    ... )
    >>> found.segments.sizes.round(2).tolist(), (found.spread < 0.2).tolist()
    ([0.5, 0.5], [True, True])
    """
    check_whole("draws", draws, at_least=1)
    gathered, channel = prepare_table(counts=counts, variables=variables)
    inverse = np.linalg.inv(channel)
    cells, total = gathered.ravel(), int(gathered.sum())

    def estimate(reports: NDArray[np.int64]) -> Floats:
        start = np.asarray(inverse @ (reports / total), dtype=np.float64)
        shares, _ = maximize_likelihood(counts=reports, channel=channel, start=start)
        return shares

    likely = estimate(cells)
    found = find_segments(shares=likely.reshape(gathered.shape), segments=segments)
    draw = np.random.default_rng(0)
    shifts = np.empty((draws, 2, segments))
    for place in range(draws):
        sample = estimate(draw.multinomial(total, channel @ likely))
        shifts[place] = _measure_shift(found, sample.reshape(gathered.shape))
        after_each()
    spread, size_spread = np.sqrt(shifts.mean(axis=0))
    return EstimatedSegments(total=total, segments=found, spread=spread, size_spread=size_spread)


def _measure_shift(found: Segments, shares: Floats) -> Floats:
    """Return the mean squared shift of each segment's shares, and the squared shift of its size."""
    number = len(found.sizes)
    try:
        other = find_segments(shares=shares, segments=number)
    except TooFewRowsError:
        return np.ones((2, number))
    orders = np.array(list(permutations(range(number))))
    shares_moved = ((other.centres[orders] - found.centres) ** 2).mean(axis=2)
    best = int((shares_moved @ found.sizes).argmin())
    return np.stack([shares_moved[best], (other.sizes[orders[best]] - found.sizes) ** 2])
