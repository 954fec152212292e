"""Profile-likelihood intervals of a logistic model of true answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf, sqrt

import numpy as np
import scipy
from scipy.special import chdtri

from privacy.associations.latent_likelihood import LatentModel, ModelState, find_contrasts
from privacy.checks import Floats

_FLOOR = 1e-12  # the smallest share: a boundary that the search keeps away from
_HAIR = 1e-9
_LONGEST = 3.0  # log odds: the longest step of a search
_FLAT = 25.0  # log odds: further out, the likelihood does not change
_SLACK = 1e-6  # how far a search may overstep the threshold of the likelihood
_PULLS = 40
_BARRIERS = (0.01,)  # fall of the log-likelihood if all log odds are 1
_MORE_BARRIERS = (0.05,)  # added where the likelihood is flat at its maximum

# An estimand maps masses and coefficients to a number and its derivatives with respect to both.
Estimand = Callable[[Floats, Floats], tuple[float, Floats, Floats]]


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentProfiles:
    """All masses and coefficients that a likelihood-ratio test does not reject.

    Attributes
    ----------
    model : LatentModel
        The model with its reports.
    top : ModelState
        The maximum, with very large coefficients if the likelihood keeps rising.
    best : ModelState
        `top`, or a state close to it with moderate coefficients.
    level : float
        Confidence level of one interval, in (0, 1).
    """

    model: LatentModel
    top: ModelState
    best: ModelState
    level: float

    @cached_property
    def _allowed(self) -> float:
        return float(chdtri(1, 1 - self.level)) / 2

    def coefficient_interval(self, column: int, *, error: float) -> tuple[float, float]:
        """Find where the profile likelihood falls to the threshold; an end may be infinite."""
        value = float(self.best.coefficients[column])
        reach = sqrt(2 * self._allowed)
        own = self.model.design[:, column]
        others = replace(self.model, design=np.delete(self.model.design, column, axis=1))
        error = min(error, _LONGEST / np.abs(own).max())

        def find_excess(state: ModelState) -> float:
            """Return how far the root of the deviance exceeds its limit."""
            drop = self.top.log_likelihood - state.log_likelihood
            return sqrt(max(0.0, 2 * drop)) - reach

        def refit(at: float, near: Floats) -> tuple[LatentModel, ModelState]:
            moved = replace(others, offset=own * at)
            return moved, moved.solve_twice(near)

        def find_end(outward: int) -> float:
            near = self.model.find_shares_of(self.best)
            inner, width = value, 1.1 * reach * error
            farthest = value + outward * _FLAT / np.abs(own).max()
            while inner != farthest:
                outer = inner + outward * min(width, abs(farthest - inner))
                moved, state = refit(outer, near)
                if find_excess(state) >= 0:
                    return cross(inner, outer, near, state)
                inner, near, width = outer, moved.find_shares_of(state), 2 * width
            return outward * inf

        def cross(inner: float, outer: float, near: Floats, beyond: ModelState) -> float:
            """Find where, between the two values, the threshold is reached."""
            find = partial(scipy.optimize.brentq, a=inner, b=outer, xtol=1e-7 * error, rtol=1e-12)

            def follow(at: float) -> float:
                """Follow the peak from the outer value by Newton's method alone, without EM."""
                return find_excess(replace(others, offset=own * at).solve_close(beyond))

            if follow(inner) < 0 <= follow(outer):
                end = float(find(follow))
                if abs(find_excess(refit(end, near)[1])) < _SLACK:
                    return end
            return float(find(lambda at: find_excess(refit(at, near)[1])))

        return find_end(-1), find_end(1)

    def interval(self, estimand: Estimand) -> tuple[float, float]:
        """Find the least and greatest values of a smooth function of masses and coefficients."""
        return self._extreme(estimand, 1.0), self._extreme(estimand, -1.0)

    @cached_property
    def _start(self) -> Floats:
        """The maximum, moved far enough inside to leave room in every direction."""
        masses = self.best.masses + _HAIR
        return np.concatenate([masses / masses.sum(), self.best.coefficients])

    @cached_property
    def _axes(self) -> Floats:
        """Directions that keep the sum of the masses, each as long as one standard error."""
        masses, coefficients = self._split(np.zeros(0))
        cells, columns = len(masses), len(coefficients)
        directions = np.zeros((cells + columns, cells - 1 + columns))
        directions[:cells, : cells - 1] = find_contrasts(cells)
        directions[cells:, cells - 1 :] = np.eye(columns)
        reported = self.model.channel @ self.model.find_shares(masses, coefficients)
        changed = self.model.channel @ self.model.find_slopes(masses, coefficients) @ directions
        information = changed.T @ (changed * (self.model.counts.sum() / reported)[:, None])
        values, vectors = np.linalg.eigh(information)
        axes = directions @ (vectors / np.sqrt(np.maximum(values, values.max() * 1e-12)))
        odds = np.abs(self.model.design @ axes[cells:]).max(axis=0)
        shortened: Floats = axes * np.minimum(1.0, _LONGEST / np.maximum(odds, _HAIR))
        return shortened

    def _split(self, u: Floats) -> tuple[Floats, Floats]:
        place = self._start + self._axes @ u if u.size else self._start
        cells = len(self.best.masses)
        return np.maximum(place[:cells], _FLOOR), place[cells:]

    def _left(self, u: Floats, barrier: float = 0.0) -> float:
        """Return the log-likelihood minus its limit, which is negative outside the region.

        With `barrier`, the result falls evenly as log odds move away from 0. The likelihood is flat
        where no one or everyone has the event; the barrier keeps a search from getting stuck there.
        """
        masses, coefficients = self._split(u)
        odds = np.abs(self.model.offset + self.model.design @ coefficients)
        drop = self.top.log_likelihood - self.model.find_log_likelihood(masses, coefficients)
        return self._allowed - drop - barrier * float(odds.mean())

    def _left_gradient(self, u: Floats, barrier: float = 0.0) -> Floats:
        masses, coefficients = self._split(u)
        reported = self.model.channel @ self.model.find_shares(masses, coefficients)
        slopes = self.model.find_slopes(masses, coefficients)
        # Multiply from the left, which avoids products of two matrices.
        uphill = (self.model.counts / reported) @ self.model.channel @ slopes
        outward = np.sign(self.model.offset + self.model.design @ coefficients)
        uphill[len(masses) :] -= barrier / len(outward) * outward @ self.model.design
        gradient: Floats = uphill @ self._axes
        return gradient

    def _extreme(self, estimand: Estimand, sign: float) -> float:
        def value(u: Floats) -> float:
            return sign * estimand(*self._split(u))[0]

        def gradient(u: Floats) -> Floats:
            _, by_masses, by_coefficients = estimand(*self._split(u))
            slope: Floats = sign * np.concatenate([by_masses, by_coefficients]) @ self._axes
            return slope

        zero, cells = np.zeros(self._axes.shape[1]), len(self.best.masses)
        down = -gradient(zero)
        length = float(np.linalg.norm(down))
        if length == 0:
            return sign * value(zero)
        start = self._pull(0.95 * sqrt(2 * self._allowed) * down / length)

        def search(start: Floats, barrier: float) -> Floats:
            found = scipy.optimize.minimize(
                value,
                start,
                jac=gradient,
                method="SLSQP",
                constraints=[
                    {
                        "type": "ineq",
                        "fun": self._left,
                        "jac": self._left_gradient,
                        "args": (barrier,),
                    },
                    {
                        "type": "ineq",
                        "fun": lambda u, *_: (self._start + self._axes @ u)[:cells] - _FLOOR,
                        "jac": lambda *_: self._axes[:cells],
                    },
                ],
                options={"ftol": 1e-10, "maxiter": 200},
            )
            return self._pull(found.x)

        barriers = _BARRIERS if self.best is self.top else (*_BARRIERS, *_MORE_BARRIERS)
        ends = [search(search(start, barrier), 0.0) for barrier in barriers]
        return sign * min(map(value, [start, *ends]))

    def _pull(self, u: Floats) -> Floats:
        """Move a point towards the maximum until it lies inside the region."""
        cells = len(self.best.masses)

        def holds(u: Floats) -> bool:
            inside = bool(((self._start + self._axes @ u)[:cells] >= -_FLOOR).all())
            return inside and self._left(u) >= -_SLACK

        if holds(u):
            return u
        kept, dropped = 0.0, 1.0
        for _ in range(_PULLS):
            middle = (kept + dropped) / 2
            kept, dropped = (middle, dropped) if holds(middle * u) else (kept, middle)
        pulled: Floats = kept * u
        return pulled
