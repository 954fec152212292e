"""Draw noise and choices with OpenDP, only in workers, so that no page waits for a draw.

No other module imports OpenDP. Before each draw, OpenDP states the loss, which must equal the loss
charged to the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isclose, sqrt
from typing import Any

from aggregator.releases.library import SERIES, find_version, is_expected
from privacy.central.composition import round_up_fraction
from surveys.releasing.noise import Mechanism, ReleasePlan

WHOLE = "i64"  # OpenDP's plain integers end at 2**31
TOLERANCE = 1e-9


class NotDrawable(Exception):
    """Nothing is drawn; the message is for the researcher."""


@dataclass(frozen=True, kw_only=True)
class Sampler:
    """Draws once from whole numbers: a noisy copy of each, or the index of a chosen one."""

    draw: Callable[[Sequence[int]], Any]
    library: str


def prepare_sampler(plan: ReleasePlan) -> Sampler:
    """Load OpenDP and check the loss that it states; raise NotDrawable if either step fails.

    The first load takes half a second, so do this before a transaction opens.
    """
    version = _find_version()
    try:
        measurement, loss = _BUILDERS[plan.mechanism](plan)
    except Exception as error:
        raise NotDrawable(_cannot("OpenDP, which draws it, does not work")) from error
    expected = plan.rho if plan.mechanism == Mechanism.GAUSSIAN else float(plan.epsilon_each)
    _check_loss(loss, expected)
    return Sampler(draw=measurement, library=f"OpenDP {version}")


def _find_version() -> str:
    version = find_version()
    if not version:
        raise NotDrawable(_cannot("OpenDP, which draws it, is not installed"))
    if not is_expected(version):
        raise NotDrawable(_cannot(f"it needs OpenDP {SERIES}x, but version {version} is installed"))
    return version


def _check_loss(stated: float, charged: float | None) -> None:
    if charged is None or not isclose(stated, charged, rel_tol=TOLERANCE):
        raise NotDrawable(
            _cannot("OpenDP states a loss that differs from the one charged to the ledger")
        )


@dataclass(frozen=True, kw_only=True)
class AlertSampler:
    """Adds noise to whole numbers: once to the threshold, and at every check to the distance."""

    draw_threshold: Callable[[int], int]
    draw_look: Callable[[int], int]
    library: str


def prepare_alert_sampler(plan: ReleasePlan) -> AlertSampler:
    """Load OpenDP and check its stated loss; may raise NotDrawable.

    One report moves the distance by one. In the proof, half of the loss comes from moving the
    threshold by one, and half from moving the distance by two.
    """
    version = _find_version()
    try:
        threshold, first = _number_laplace(plan.scale / 2, distance=plan.sensitivity)
        look, second = _number_laplace(plan.scale, distance=2 * plan.sensitivity)
    except Exception as error:
        raise NotDrawable(_cannot("OpenDP, which draws it, does not work")) from error
    _check_loss(first + second, float(plan.epsilon_each))
    return AlertSampler(draw_threshold=threshold, draw_look=look, library=f"OpenDP {version}")


def _number_laplace(scale: Fraction, *, distance: int) -> tuple[Any, float]:
    from opendp import prelude as dp

    dp.enable_features("contrib")
    measurement: Any = dp.m.make_laplace(
        dp.atom_domain(T=WHOLE), dp.absolute_distance(T=WHOLE), scale=_round_up(scale)
    )
    return measurement, measurement.map(distance)


def _cannot(reason: str) -> str:
    return (
        f"The server cannot draw this release yet: {reason}. Nothing is lost, and the price stays "
        "the same. Tell the server’s administrator."
    )


def _round_up(scale: Fraction) -> float:
    """Round up, so that no less noise is added than the ledger was charged for."""
    return round_up_fraction("scale", scale)


# Distances are between two sets of reports that differ by one added report.
def _laplace(plan: ReleasePlan) -> tuple[Any, float]:
    from opendp import prelude as dp

    dp.enable_features("contrib")
    measurement: Any = dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T=WHOLE)),
        dp.l1_distance(T=WHOLE),
        scale=_round_up(plan.scale),
    )
    return measurement, measurement.map(plan.sensitivity)


def _gaussian(plan: ReleasePlan) -> tuple[Any, float]:
    from opendp import prelude as dp

    dp.enable_features("contrib")
    measurement: Any = dp.m.make_gaussian(
        dp.vector_domain(dp.atom_domain(T=WHOLE)),
        dp.l2_distance(T=float),
        scale=_round_up(plan.scale),
    )
    return measurement, measurement.map(sqrt(plan.sensitivity))


def _permute_and_flip(plan: ReleasePlan) -> tuple[Any, float]:
    from opendp import prelude as dp

    dp.enable_features("contrib")
    measurement: Any = dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T=WHOLE)),
        dp.linf_distance(T=WHOLE, monotonic=plan.is_monotone),
        dp.max_divergence(),
        scale=_round_up(plan.scale),
    )
    return measurement, measurement.map(plan.sensitivity)


_BUILDERS: dict[str, Callable[[ReleasePlan], tuple[Any, float]]] = {
    Mechanism.LAPLACE: _laplace,
    Mechanism.GAUSSIAN: _gaussian,
    Mechanism.PERMUTE_AND_FLIP: _permute_and_flip,
}
