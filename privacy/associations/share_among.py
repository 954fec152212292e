"""A share among some people, estimated from several randomized questions at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privacy.associations.maximum_likelihood import maximize_likelihood
from privacy.associations.profiles import LikelyShares
from privacy.associations.tables import Variable, prepare_table
from privacy.associations.two_questions import NOBODY
from privacy.checks import check_level


@dataclass(frozen=True, kw_only=True)
class ShareAmong:
    """A share among some cells of a table, with its profile-likelihood interval."""

    estimate: float | None
    low: float
    high: float
    level: float


def share_among(
    *,
    counts: ArrayLike,
    variables: Sequence[Variable],
    event: Callable[[tuple[int, ...]], bool],
    among: Callable[[tuple[int, ...]], bool],
    possible: Callable[[tuple[int, ...]], bool] | None = None,
    level: float = 0.95,
) -> ShareAmong:
    """Estimate the share of an event among some people, from several questions at once.

    Parameters
    ----------
    counts : array_like of int, shape (k_1, ..., k_m)
        Reports showing each combination of codes.
    variables : sequence of Variable
        The questions.
    event, among : callable
        Say for a tuple of categories whether it is the event, and whether it is counted. The event
        must be one of the counted tuples.
    possible : callable, optional
        Says whether a tuple of true answers can occur: a follow-up is asked if and only if its
        parent was answered accordingly. Using this makes a conditional share more precise.
    level : float, optional
        Confidence level, in (0, 1).

    Returns
    -------
    ShareAmong
        Most likely share and profile-likelihood interval; [0, 1] where it is plausible that nobody
        is counted.

    Raises
    ------
    ValueError
        If the table does not match the variables, no cell is counted or possible, the event is
        outside what is counted, or level is out of range.

    Notes
    -----
    Uses the likelihood of the joint table, restricted to possible cells. Valid for one look at the
    data, with the amount of data fixed in advance.

    Examples
    --------
    A follow-up (no, yes, not asked) that is asked if the parent is yes:

    >>> from privacy.mechanism.mechanisms import RandomizedResponse
    >>> parent = Variable.plain(RandomizedResponse.from_flips(symbols=2, flips=25))
    >>> child = Variable(
    ...     mechanism=RandomizedResponse.from_flips(symbols=3, flips=25),
    ...     categories=((0,), (1,), (2,)), answered=2,
    ... )
    >>> found = share_among(
    ...     counts=[[280, 260, 660], [280, 220, 300]], variables=[parent, child],
    ...     event=lambda cell: cell == (1, 1), among=lambda cell: cell[1] < 2,
    ...     possible=lambda cell: (cell[0] == 1) == (cell[1] < 2),
    ... )
    >>> round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
    (0.333, 0.218, 0.449)
    """
    gathered, channel = prepare_table(counts=counts, variables=variables)
    level = check_level(level)
    cells = [cell for cell in np.ndindex(gathered.shape) if possible is None or possible(cell)]
    counted = np.array([among(cell) for cell in cells], dtype=bool)
    happened = np.array([event(cell) for cell in cells], dtype=bool)
    if not counted.any():
        raise ValueError("among must count at least one possible cell, got none")
    if (happened & ~counted).any() or not happened.any():
        raise ValueError("event must hold for a cell, and only for cells that among counts")
    columns = [int(np.ravel_multi_index(cell, gathered.shape)) for cell in cells]
    restricted = channel[:, columns]
    shares, _ = maximize_likelihood(counts=gathered.ravel(), channel=restricted)

    def estimand(values: NDArray[Any]) -> Any:
        return values[happened].sum() / values[counted].sum()

    region = LikelyShares(
        counts=gathered.ravel(),
        channel=restricted,
        shares=shares,
        level=level,
        parts=[happened, counted & ~happened],
    )
    low, high = 0.0, 1.0
    # If it is plausible that nobody is counted, the share can be anything.
    if region.without(counted) is None:
        low, high = region.interval(estimand=estimand, limits=(0.0, 1.0))
    estimate = float(estimand(shares)) if shares[counted].sum() > NOBODY else None
    return ShareAmong(estimate=estimate, low=low, high=high, level=level)
