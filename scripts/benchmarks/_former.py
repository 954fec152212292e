"""The intervals that Murmur computed before version 8 of its methods, for comparison only."""

from __future__ import annotations

from collections.abc import Callable
from math import lgamma, log, log1p

from scipy.optimize import minimize_scalar

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.intervals import likelihood_ratio

_HALVINGS = 40
_PRIOR = 0.5


def dirichlet_interval(
    *, cells: tuple[int, int, int], answers: int, mechanism: RandomizedResponse, level: float
) -> tuple[float, float]:
    """The share of a code among the answers, from a mixture over three cells, projected.

    The cells are the reports of the code, of the other answers and of all other codes.
    """
    c, d = mechanism.other_probability, mechanism.slope
    floors = (c, (answers - 1) * c, (mechanism.symbols - answers) * c)
    mixture = _log_beta([count + _PRIOR for count in cells]) - _log_beta([_PRIOR] * 3)
    limit = mixture + log1p(-level)

    def best(ratio: float) -> float:
        """The highest log-likelihood of cells with this ratio, over the share who answer."""

        def fall(answered: float) -> float:
            truth = (answered * ratio, answered * (1 - ratio), 1 - answered)
            return -sum(
                count * log(floor + d * part)
                for count, floor, part in zip(cells, floors, truth, strict=True)
            )

        return -float(minimize_scalar(fall, bounds=(0, 1), method="bounded").fun)

    total = sum(cells)
    of_code, of_others = (cells[i] / total - floors[i] for i in (0, 1))
    inside = min(max(of_code / (of_code + of_others), 0.0), 1.0)
    return _both_ends(lambda ratio: best(ratio) > limit, inside=inside)


def quotient_interval(
    *,
    item: tuple[int, RandomizedResponse],
    gate: tuple[int, RandomizedResponse],
    total: int,
    level: float,
) -> tuple[float, float]:
    """The share of an item among those who answered, from two intervals at half the error each."""

    def ends(count: int, mechanism: RandomizedResponse) -> tuple[float, float]:
        found = likelihood_ratio(
            successes=count,
            total=total,
            other_probability=mechanism.other_probability,
            slope=mechanism.slope,
            level=(1 + level) / 2,
        )
        return float(found.low), float(found.high)

    (part_low, part_high), (whole_low, whole_high) = ends(*item), ends(*gate)
    if whole_low == 0:
        return 0.0, 1.0
    return min(1.0, part_low / whole_high), min(1.0, part_high / whole_low)


def _both_ends(keeps: Callable[[float], bool], *, inside: float) -> tuple[float, float]:
    return _find_end(keeps, inside, end=0.0), _find_end(keeps, inside, end=1.0)


def _find_end(keeps: Callable[[float], bool], inside: float, *, end: float) -> float:
    if keeps(end):
        return end
    kept, dropped = inside, end
    for _ in range(_HALVINGS):
        middle = (kept + dropped) / 2
        kept, dropped = (middle, dropped) if keeps(middle) else (kept, middle)
    return dropped


def _log_beta(parameters: list[float]) -> float:
    return sum(lgamma(a) for a in parameters) - lgamma(sum(parameters))
