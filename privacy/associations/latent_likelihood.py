"""The likelihood of a logistic model of true answers, and its maximum.

The table of true answers is latent: the model is fitted to the table of reports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, xlogy

from privacy.associations.maximum_likelihood import maximize_likelihood
from privacy.associations.tables import Variable
from privacy.checks import Floats

_ZERO = 1e-7  # a cell with a smaller share counts as empty and is left out of the information
_FARTHEST = 4.0  # log odds of a share of 1.8 %
FAR = 6.0  # log odds: a larger coefficient may be infinite
_NEAR = 0.2  # how far finite coefficients may fall short of the limiting log-likelihood
_SMOOTH = 1e-3
_SMALLEST = 1e-7  # EM never moves a share away from 0
_FLATTEST = 1e-12
_NEWTON_ROUNDS = 50
_CONVERGED = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class CellLayout:
    """The positions of the model's cells in the flat table.

    A model has one mass for each row, that is, for each combination of answers to the predictors.
    The coefficients split this mass into the event and the other answer. The masses of all other
    cells are free.
    """

    events: NDArray[np.int64]
    others: NDArray[np.int64]
    free: NDArray[np.int64]

    @property
    def rows(self) -> int:
        return len(self.events)

    @classmethod
    def of(cls, variables: Sequence[Variable]) -> CellLayout:
        shape = tuple(variable.size for variable in variables)
        index = np.arange(math.prod(shape)).reshape(shape)
        answered = index[tuple(slice(variable.answered) for variable in variables)]
        taken = np.zeros(index.size, dtype=bool)
        taken[answered.ravel()] = True
        return cls(
            events=answered[1].ravel(), others=answered[0].ravel(), free=np.flatnonzero(~taken)
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelState:
    masses: Floats  # rows, then free cells; they sum to one
    coefficients: Floats
    log_likelihood: float


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentModel:
    counts: NDArray[np.int64]
    channel: Floats
    layout: CellLayout
    design: Floats
    offset: Floats | float = 0.0  # part of each row's log odds that is fixed
    # Fraction of people added to each row, half of them with the event.
    added: float = 0.0

    def solve(self, *, near: Floats | None = None) -> ModelState:
        """Run EM until it is close to the maximum, then Newton's method.

        EM starts close to the shares `near`, but with no share of 0. It would hardly move from a
        start at which an event is certain.
        """
        start = None if near is None else np.maximum(near, _SMALLEST)
        coefficients: Floats | None = None

        def fit_model(expected: Floats) -> Floats:
            nonlocal coefficients
            masses = self._masses(expected / expected.sum())
            totals = expected[self.layout.events] + expected[self.layout.others]
            added = self.added * (totals + totals.mean())  # also to empty rows
            coefficients = _fit_expected(
                events=expected[self.layout.events] + added / 2,
                totals=totals + added,
                design=self.design,
                offset=self.offset,
                start=coefficients,
            )
            return self.find_shares(masses, coefficients)

        shares, _ = maximize_likelihood(
            counts=self.counts, channel=self.channel, start=start, project=fit_model
        )
        assert coefficients is not None
        found = ModelState(
            masses=self._masses(shares),
            coefficients=coefficients,
            log_likelihood=self.find_log_likelihood(self._masses(shares), coefficients),
        )
        return found if self.added else self._polish(found)

    def solve_twice(self, near: Floats) -> ModelState:
        """Solve from two starts: from one start alone, EM may end at a lower peak."""
        states = self.solve(near=near), self.solve()
        return max(states, key=lambda state: state.log_likelihood)

    def solve_close(self, state: ModelState) -> ModelState:
        """Solve by Newton's method alone, from the maximum of a model that is almost the same."""
        height = self.find_log_likelihood(state.masses, state.coefficients)
        return self._polish(replace(state, log_likelihood=height))

    def solve_inside(self, limit: ModelState) -> ModelState:
        """Find moderate coefficients whose likelihood is almost the likelihood of `limit`.

        Where a row's event share may be 0 or 1, the likelihood hardly changes, or keeps rising, as
        coefficients grow.
        """
        if not self._is_far(limit):
            return limit
        for power in range(1, 12):
            inside = replace(self, added=10.0**-power).solve(near=self.find_shares_of(limit))
            if limit.log_likelihood - inside.log_likelihood < _NEAR:
                break
        return inside

    def _is_far(self, state: ModelState) -> bool:
        has_people = state.masses[: self.layout.rows] > _ZERO
        odds = np.abs(self.design @ state.coefficients)[has_people]
        return bool(odds.max() > _FARTHEST) or not has_people.all()

    def find_events(self, coefficients: Floats) -> Floats:
        """Return the share of the event in each row."""
        events: Floats = expit(self.offset + self.design @ coefficients)
        return events

    def _masses(self, shares: Floats) -> Floats:
        layout = self.layout
        return np.concatenate([shares[layout.events] + shares[layout.others], shares[layout.free]])

    def find_shares(self, masses: Floats, coefficients: Floats) -> Floats:
        layout = self.layout
        shares = np.zeros(self.channel.shape[1])
        event = self.find_events(coefficients)
        shares[layout.events] = masses[: layout.rows] * event
        shares[layout.others] = masses[: layout.rows] * (1 - event)
        shares[layout.free] = masses[layout.rows :]
        return shares

    def find_shares_of(self, state: ModelState) -> Floats:
        return self.find_shares(state.masses, state.coefficients)

    def find_log_likelihood(self, masses: Floats, coefficients: Floats) -> float:
        reported = self.channel @ self.find_shares(masses, coefficients)
        if (reported <= 0)[self.counts > 0].any():
            return -math.inf
        return float(xlogy(self.counts, reported).sum())

    def _polish(self, state: ModelState) -> ModelState:
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

    def _step(self, state: ModelState, step: Floats) -> ModelState | None:
        """Halve the step until the likelihood does not fall; return None if it always falls.

        Masses stop at 0. Otherwise a mass near 0 would shorten all further steps.
        """
        cells = len(state.masses)
        for halvings in range(30):
            masses = np.maximum(state.masses + step[:cells] / 2**halvings, 0)
            masses /= masses.sum()
            coefficients = state.coefficients + step[cells:] / 2**halvings
            height = self.find_log_likelihood(masses, coefficients)
            if height >= state.log_likelihood:
                return replace(
                    state, masses=masses, coefficients=coefficients, log_likelihood=height
                )
        return None

    def find_slopes(self, masses: Floats, coefficients: Floats) -> Floats:
        """Return the derivatives of all shares with respect to masses and coefficients."""
        layout, rows, cells = self.layout, self.layout.rows, len(masses)
        event = self.find_events(coefficients)
        spread = masses[:rows] * event * (1 - event)
        slopes = np.zeros((self.channel.shape[1], cells + self.design.shape[1]))
        slopes[layout.events, np.arange(rows)] = event
        slopes[layout.others, np.arange(rows)] = 1 - event
        slopes[layout.free, rows + np.arange(len(layout.free))] = 1
        slopes[layout.events, cells:] = spread[:, None] * self.design
        slopes[layout.others, cells:] = -spread[:, None] * self.design
        return slopes

    def _derivatives(self, state: ModelState) -> tuple[Floats, Floats, Floats]:
        """Return the score and observed information along directions that keep the masses' sum."""
        layout, rows = self.layout, self.layout.rows
        cells, columns = len(state.masses), self.design.shape[1]
        event = self.find_events(state.coefficients)
        spread = state.masses[:rows] * event * (1 - event)
        slopes = self.find_slopes(state.masses, state.coefficients)
        reported = self.channel @ self.find_shares(state.masses, state.coefficients)
        gradient = (self.counts / reported) @ self.channel
        changed = self.channel @ slopes
        information = changed.T @ (changed * (self.counts / reported**2)[:, None])
        # Subtract the second derivatives of the shares, weighted by the gradient.
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

    def covariance(self, state: ModelState) -> Floats:
        """Return the coefficients' covariance, which is huge where reports carry no information."""
        _, information, directions = self._derivatives(state)
        values, vectors = np.linalg.eigh(information)
        values = np.maximum(values, _FLATTEST * values.max())
        back = (directions @ (vectors / np.sqrt(values)))[len(state.masses) :]
        covariance: Floats = back @ back.T
        return covariance


@lru_cache(maxsize=2)  # 8 MB for 1,024 cells
def find_contrasts(cells: int) -> Floats:
    """Return orthonormal directions in which `cells` masses keep their sum."""
    return np.linalg.qr(np.eye(cells) - 1 / cells)[0][:, : cells - 1]


def _keep_sum(active: NDArray[np.bool_], columns: int) -> Floats:
    """Return directions in which the active masses keep their sum and the coefficients are free."""
    cells, places = len(active), np.flatnonzero(active)
    basis = find_contrasts(len(places))
    directions = np.zeros((cells + columns, basis.shape[1] + columns))
    directions[places, : basis.shape[1]] = basis
    directions[cells:, basis.shape[1] :] = np.eye(columns)
    return directions


def _fit_expected(
    *,
    events: Floats,
    totals: Floats,
    design: Floats,
    offset: Floats | float,
    start: Floats | None,
) -> Floats:
    """Do the M step: fit an ordinary logistic regression to expected counts by Newton's method."""
    if start is None:
        # Start from least squares on the log odds, which gives a close start for any offset.
        shares = (events + _SMOOTH * totals.mean()) / (totals + 2 * _SMOOTH * totals.mean())
        weights = np.sqrt(totals * shares * (1 - shares))
        odds = (logit(shares) - offset) * weights
        start = np.linalg.lstsq(design * weights[:, None], odds, rcond=_FLATTEST)[0]
    coefficients = start

    def height(values: Floats) -> float:
        odds = offset + design @ values
        return float(events @ odds - totals @ np.logaddexp(0, odds))

    best = height(coefficients)
    for _ in range(_NEWTON_ROUNDS):
        event = expit(offset + design @ coefficients)
        score = design.T @ (events - totals * event)
        information = design.T @ (design * (totals * event * (1 - event))[:, None])
        # Take the shortest step, because the reports may carry no information about some direction.
        step = np.linalg.lstsq(information, score, rcond=_FLATTEST)[0]
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
    return coefficients
