"""Figures of two randomized questions: reference values, classical limits, and true coverage."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, inf, log, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import chdtri, xlogy
from scipy.stats import binom

from privacy.association import Association, Figure, _Cells, associate, share_among
from privacy.comparison import compare_groups
from privacy.intervals import likelihood_ratio
from privacy.mechanisms import RandomizedResponse
from privacy.profiles import LikelyShares, profile_interval
from privacy.tables import Variable, estimate_table, kronecker

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
PLAIN = Variable.plain(COINS)
LIGHT = Variable.plain(RandomizedResponse.from_flips(symbols=2, flips=5))
# Reports the truth but for one answer in four thousand million.
DIRECT = Variable.plain(RandomizedResponse(symbols=2, threshold=2**32 - 1))
THREE = RandomizedResponse.from_flips(symbols=3, flips=25)
REFUSABLE = Variable(mechanism=THREE, categories=((0,), (1,), (2,)), answered=2)
ONE_IN_A_MILLION = 1e-6
LIMIT = float(chdtri(1, 0.05))

# 6,366 women (Fair 1978): affair (no, yes) by unhappy marriage (no, yes)
AFFAIRS = np.array([[3715, 598], [1211, 842]])


def relate(counts: ArrayLike, variables: list[Variable], *, level: float = 0.95) -> Association:
    return associate(counts=counts, variables=variables, event=1, first=1, second=0, level=level)


def figures(found: Association) -> dict[str, Figure]:
    names = ("share_first", "share_second", "difference", "odds_ratio", "log_odds_ratio", "phi")
    return {name: getattr(found, name) for name in names}


# Reference values


@cache
def reference() -> Association:
    # reports (11, 10, 01, 00) = (300, 200, 250, 250)
    return relate([[250, 250], [200, 300]], [PLAIN, PLAIN])


def test_the_reference_table_gives_its_figures() -> None:
    found = reference()
    assert found.phi.raw == pytest.approx(0.408248290464, abs=5e-13)
    assert found.odds_ratio.raw == pytest.approx(6, abs=1e-11)
    assert found.log_odds_ratio.raw == pytest.approx(1.7917594692, abs=5e-11)
    assert found.log_odds_ratio.standard_error == pytest.approx(0.6544121089, abs=5e-11)
    assert found.difference.raw == pytest.approx(0.4 / 0.6 - 0.1 / 0.4, abs=1e-12)
    assert found.test.p_value == pytest.approx(0.00148188, abs=5e-9)


def test_every_interval_holds_its_estimate_and_widens_with_its_level() -> None:
    wider = figures(relate([[250, 250], [200, 300]], [PLAIN, PLAIN], level=0.99))
    for name, figure in figures(reference()).items():
        assert figure.level == 0.95
        assert figure.estimate == pytest.approx(figure.raw)
        assert wider[name].low < figure.low < figure.estimate < figure.high < wider[name].high


def test_odds_ratio_and_logarithm_are_one_figure() -> None:
    found = reference()
    assert exp(found.log_odds_ratio.low) == pytest.approx(found.odds_ratio.low, rel=1e-12)
    assert exp(found.log_odds_ratio.high) == pytest.approx(found.odds_ratio.high, rel=1e-12)
    assert found.odds_ratio.standard_error is None


def test_exchanging_groups_mirrors_the_figures() -> None:
    there, back = (
        associate(
            counts=[[250, 250], [200, 300]],
            variables=[PLAIN, PLAIN],
            event=1,
            first=first,
            second=1 - first,
        )
        for first in (1, 0)
    )
    assert (back.difference.low, back.difference.high) == pytest.approx(
        (-there.difference.high, -there.difference.low), abs=1e-4
    )
    assert back.odds_ratio.low == pytest.approx(1 / there.odds_ratio.high, rel=1e-3)
    assert back.phi.raw == pytest.approx(-there.phi.raw)


# The demo data


def test_the_demo_data_give_their_figures_when_asked_directly() -> None:
    found = relate(AFFAIRS, [DIRECT, DIRECT])
    assert found.odds_ratio.raw == pytest.approx(4.32, abs=0.005)
    assert found.difference.raw == pytest.approx(0.339, abs=0.0005)


def test_two_coins_on_the_demo_data_find_all_figures() -> None:
    reported = np.kron(PLAIN.channel(), PLAIN.channel()) @ AFFAIRS.ravel() / AFFAIRS.sum()
    counts = np.random.default_rng(21).multinomial(AFFAIRS.sum(), reported).reshape(2, 2)
    truth = figures(relate(AFFAIRS, [DIRECT, DIRECT]))
    for name, figure in figures(relate(counts, [PLAIN, PLAIN], level=0.9999)).items():
        assert figure.low < truth[name].estimate < figure.high, name
    # and the interval of an ordinary level leaves out "no difference"
    assert relate(counts, [PLAIN, PLAIN]).difference.low > 0


def test_comparing_the_groups_people_reported_would_mislead() -> None:
    reported = PLAIN.channel() @ AFFAIRS @ PLAIN.channel().T
    counts = np.round(reported * 16).astype(np.int64)
    naive = compare_groups(
        successes=[int(counts[1, 1]), int(counts[1, 0])],
        totals=[int(counts[:, 1].sum()), int(counts[:, 0].sum())],
        mechanisms=[COINS, COINS],
    )
    assert naive.difference == pytest.approx(0.128, abs=0.0005)
    assert naive.high < 0.339
    assert relate(counts, [PLAIN, PLAIN]).difference.raw == pytest.approx(0.339, abs=0.0005)


# Profile intervals against searches of another kind


@pytest.mark.parametrize("counts", [[600, 400], [70, 30], [95, 5], [3, 37]])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_profile_of_one_share_is_the_likelihood_ratio_interval(
    counts: list[int], level: float
) -> None:
    estimates = estimate_table(counts=counts, variables=[PLAIN])
    found = profile_interval(
        counts=estimates.counts,
        channel=COINS.channel(),
        shares=estimates.joint_shares,
        figure=lambda shares: shares[1],
        level=level,
        limits=(0, 1),
    )
    exact = likelihood_ratio(
        successes=counts[1], total=sum(counts), other_probability=0.25, slope=0.5, level=level
    )
    assert found == pytest.approx((float(exact.low), float(exact.high)), abs=1e-6)


def classical_profile(
    table: NDArray[np.int64], second_share: Callable[[float, float], float]
) -> Callable[[float], float]:
    """Likelihood-ratio statistic of a figure of two direct binomials.

    `second_share` gives the share of the second group from that of the first and the figure.
    """
    yes, no = table[1], table[0]

    def height(second: float, first: float) -> float:
        shares = np.array([second, first])
        return float((xlogy(yes, shares) + xlogy(no, 1 - shares)).sum())

    most = height(*(yes / (yes + no)))

    def statistic(figure: float) -> float:
        found = minimize_scalar(
            lambda first: -height(min(1 - 1e-15, max(1e-15, second_share(first, figure))), first),
            bounds=(max(0.0, figure), 1.0) if figure < 1 else (0.0, 1.0),
            method="bounded",
            options={"xatol": 1e-13},
        )
        return 2 * (most + float(found.fun))

    return statistic


def test_direct_questions_give_the_classical_profile_of_the_difference() -> None:
    table = np.array([[30, 12], [15, 40]])
    found = relate(table, [DIRECT, DIRECT]).difference
    statistic = classical_profile(table, lambda first, difference: first - difference)
    ends = [
        brentq(lambda at: statistic(at) - LIMIT, *bracket)
        for bracket in ((0.0, found.estimate), (found.estimate, 0.9))
    ]
    assert (found.low, found.high) == pytest.approx(ends, abs=2e-5)


def test_direct_questions_give_the_classical_profile_of_the_odds_ratio() -> None:
    table = np.array([[30, 12], [15, 40]])
    found = relate(table, [DIRECT, DIRECT]).log_odds_ratio
    statistic = classical_profile(
        table, lambda first, log_odds: 1 / (1 + exp(log_odds) * (1 / max(first, 1e-15) - 1))
    )

    def over_all_shares(log_odds: float) -> float:
        grid = minimize_scalar(
            lambda first: _odds_drop(table, first, log_odds),
            bounds=(1e-9, 1 - 1e-9),
            method="bounded",
            options={"xatol": 1e-13},
        )
        return float(grid.fun)

    del statistic
    ends = [
        brentq(lambda at: over_all_shares(at) - LIMIT, *bracket)
        for bracket in ((0.0, found.estimate), (found.estimate, 5.0))
    ]
    assert (found.low, found.high) == pytest.approx(ends, abs=2e-4)


def _odds_drop(table: NDArray[np.int64], first: float, log_odds: float) -> float:
    raise NotImplementedError
