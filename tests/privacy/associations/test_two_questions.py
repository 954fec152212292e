"""Estimates for two randomized questions: known values, classical limits, and true coverage."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, inf

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import chdtri, expit, logit, xlogy
from scipy.stats import binom

from privacy.associations.known_groups import compare_groups
from privacy.associations.profiles import LikelyShares, profile_interval
from privacy.associations.tables import Variable, estimate_table, kronecker
from privacy.associations.two_questions import Association, AssociationEstimate, _Cells, associate
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.intervals import likelihood_ratio

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
PLAIN = Variable.plain(COINS)
LIGHT = Variable.plain(RandomizedResponse.from_flips(symbols=2, flips=5))
# This mechanism reports the truth for all but one in four billion answers.
DIRECT = Variable.plain(RandomizedResponse(symbols=2, threshold=2**32 - 1))
THREE = RandomizedResponse.from_flips(symbols=3, flips=25)
REFUSABLE = Variable(mechanism=THREE, categories=((0,), (1,), (2,)), answered=2)
ONE_IN_A_MILLION = 1e-6
LIMIT = float(chdtri(1, 0.05))

# 6,366 women (Fair 1978): affair (no, yes) by unhappy marriage (no, yes)
AFFAIRS = np.array([[3715, 598], [1211, 842]])


def relate(counts: ArrayLike, variables: list[Variable], *, level: float = 0.95) -> Association:
    return associate(counts=counts, variables=variables, event=1, first=1, second=0, level=level)


def figures(found: Association) -> dict[str, AssociationEstimate]:
    names = ("share_first", "share_second", "difference", "odds_ratio", "log_odds_ratio", "phi")
    return {name: getattr(found, name) for name in names}


def known(value: float | None) -> float:
    assert value is not None
    return value


# Known values


@cache
def reference() -> Association:
    # reports (11, 10, 01, 00) = (300, 200, 250, 250)
    return relate([[250, 250], [200, 300]], [PLAIN, PLAIN])


def test_a_two_by_two_table_gives_its_estimates() -> None:
    found = reference()
    assert found.phi.raw == pytest.approx(0.408248290464, abs=5e-13)
    assert found.odds_ratio.raw == pytest.approx(6, abs=1e-11)
    assert found.log_odds_ratio.raw == pytest.approx(1.7917594692, abs=5e-11)
    assert found.log_odds_ratio.standard_error == pytest.approx(0.6544121089, abs=5e-11)
    assert found.difference.raw == pytest.approx(0.4 / 0.6 - 0.1 / 0.4, abs=1e-12)
    # G² is computed on the reports, because no share is at 0.
    assert found.test.p_value == pytest.approx(0.00146766, abs=5e-9)


def test_every_interval_holds_its_estimate_and_widens_with_its_level() -> None:
    wider = figures(relate([[250, 250], [200, 300]], [PLAIN, PLAIN], level=0.99))
    for name, figure in figures(reference()).items():
        assert figure.level == 0.95
        assert figure.estimate == pytest.approx(figure.raw)
        assert wider[name].low < figure.low < known(figure.estimate)
        assert known(figure.estimate) < figure.high < wider[name].high


def test_the_log_odds_ratio_is_the_logarithm_of_the_odds_ratio() -> None:
    found = reference()
    assert exp(found.log_odds_ratio.low) == pytest.approx(found.odds_ratio.low, rel=1e-12)
    assert exp(found.log_odds_ratio.high) == pytest.approx(found.odds_ratio.high, rel=1e-12)
    assert found.odds_ratio.standard_error is None


def test_swapping_the_groups_mirrors_the_estimates() -> None:
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
    assert back.phi.raw == pytest.approx(-known(there.phi.raw))


# The demo data


def test_direct_questions_reproduce_the_demo_data() -> None:
    found = relate(AFFAIRS, [DIRECT, DIRECT])
    assert found.odds_ratio.raw == pytest.approx(4.32, abs=0.005)
    assert found.difference.raw == pytest.approx(0.339, abs=0.0005)


def test_two_coins_on_the_demo_data_cover_all_estimates() -> None:
    reported = np.kron(PLAIN.channel(), PLAIN.channel()) @ AFFAIRS.ravel() / AFFAIRS.sum()
    counts = np.random.default_rng(21).multinomial(AFFAIRS.sum(), reported).reshape(2, 2)
    truth = figures(relate(AFFAIRS, [DIRECT, DIRECT]))
    for name, figure in figures(relate(counts, [PLAIN, PLAIN], level=0.9999)).items():
        assert figure.low < known(truth[name].estimate) < figure.high, name
    # The 95 % interval of the difference excludes 0.
    assert relate(counts, [PLAIN, PLAIN]).difference.low > 0


def test_comparing_reported_groups_would_mislead() -> None:
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


# Profile intervals against a different kind of search


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
        estimand=lambda shares: shares[1],
        level=level,
        limits=(0, 1),
    )
    exact = likelihood_ratio(
        successes=counts[1], total=sum(counts), other_probability=0.25, slope=0.5, level=level
    )
    assert found == pytest.approx((float(exact.low), float(exact.high)), abs=1e-6)


def classical_interval(
    table: NDArray[np.int64],
    *,
    move: Callable[[float, float], float],
    around: float,
    reach: float,
) -> tuple[float, float]:
    """Find the profile-likelihood interval of an estimand of two shares from direct questions.

    `move` computes the first share from the second share and the estimand.
    """
    no, yes = table
    raw = yes / (yes + no)

    def height(second: float, first: float) -> float:
        shares = np.array([second, first])
        return float((xlogy(yes, shares) + xlogy(no, 1 - shares)).sum())

    def excess(figure: float) -> float:
        def lost(second: float) -> float:
            first = move(second, figure)
            return -height(second, first) if 0 < first < 1 else 1e9

        found = minimize_scalar(lost, bounds=(0, 1), method="bounded", options={"xatol": 1e-12})
        return 2 * (height(*raw) + float(found.fun)) - LIMIT

    return (
        float(brentq(excess, around - reach, around)),
        float(brentq(excess, around, around + reach)),
    )


@pytest.mark.parametrize("table", [[[30, 12], [15, 40]], [[500, 420], [130, 180]]])
def test_direct_questions_give_the_classical_profile_intervals(table: list[list[int]]) -> None:
    found = relate(table, [DIRECT, DIRECT])
    reports = np.array(table)
    difference = classical_interval(
        reports,
        move=lambda second, figure: second + figure,
        around=known(found.difference.raw),
        reach=0.25,
    )
    assert (found.difference.low, found.difference.high) == pytest.approx(difference, abs=2e-4)
    log_odds = classical_interval(
        reports,
        move=lambda second, figure: float(expit(logit(second) + figure)),
        around=known(found.log_odds_ratio.raw),
        reach=2,
    )
    assert (found.log_odds_ratio.low, found.log_odds_ratio.high) == pytest.approx(
        log_odds, abs=1e-3
    )


def test_direct_questions_give_the_odds_ratio_of_statsmodels() -> None:
    from statsmodels.stats import contingency_tables as contingency

    table = [[30, 12], [15, 40]]
    theirs = contingency.Table2x2(table)
    found = relate(table, [DIRECT, DIRECT])
    assert found.log_odds_ratio.raw == pytest.approx(theirs.log_oddsratio, abs=1e-7)
    assert found.log_odds_ratio.standard_error == pytest.approx(theirs.log_oddsratio_se, abs=1e-7)
    # statsmodels gives Wald's interval. With counts as large as these, the profile interval is
    # close to it.
    assert (found.log_odds_ratio.low, found.log_odds_ratio.high) == pytest.approx(
        theirs.log_oddsratio_confint(), abs=0.05
    )


def likeliest_ends(
    counts: NDArray[np.int64], channel: NDArray[np.float64], random: np.random.Generator
) -> NDArray[np.float64]:
    """Return the smallest and largest difference among random tables in the likelihood region."""
    weights = random.dirichlet(np.full(4, 0.5), size=400_000)
    best = estimate_table(counts=counts, variables=[PLAIN, PLAIN])
    # Half of the tables are near the estimate, because the likelihood region may be small.
    weights[::2] = best.joint_shares.ravel() + (weights[::2] - best.joint_shares.ravel()) * 0.3
    heights = np.log(weights @ channel.T) @ counts.ravel()
    kept = weights[2 * (best.log_likelihood - heights) <= LIMIT]
    groups = kept[:, 1] + kept[:, 3], kept[:, 0] + kept[:, 2]
    differences = kept[:, 3] / groups[0] - kept[:, 2] / groups[1]
    return np.array([differences.min(), differences.max()])


@pytest.mark.parametrize(
    "counts",
    [
        [[120, 90], [60, 130]],
        [[50, 10], [40, 5]],  # the first group may be empty
        [[9, 7], [22, 2]],
        [[12, 37], [19, 82]],
        [[150, 40], [45, 15]],  # all cells near the edge
    ],
)
def test_no_likely_table_lies_outside_the_interval(counts: list[list[int]]) -> None:
    found = relate(counts, [PLAIN, PLAIN]).difference
    low, high = likeliest_ends(
        np.array(counts), kronecker([PLAIN.channel(), PLAIN.channel()]), np.random.default_rng(22)
    )
    assert found.low <= low + 1e-4
    assert found.high >= high - 1e-4
    # Random tables come near the ends but do not reach them.
    assert found.high - found.low < 1.25 * (high - low) + 0.1


# Coverage


@pytest.mark.parametrize(
    ("truth", "people"),
    [
        (AFFAIRS / AFFAIRS.sum(), 2000),
        pytest.param([[0.55, 0.2], [0.25, 0.0]], 1000, marks=pytest.mark.long),
    ],
)
def test_the_difference_is_covered(truth: ArrayLike, people: int) -> None:
    surveys = 120
    shares = np.asarray(truth)
    cells = _Cells(shape=(2, 2), outcome=PLAIN, event=1, first=1, second=0)
    difference = float(cells.difference(shares.ravel()))
    channel = kronecker([PLAIN.channel(), PLAIN.channel()])
    random = np.random.default_rng(23)
    covered = 0
    for reports in random.multinomial(people, channel @ shares.ravel(), size=surveys):
        found = estimate_table(counts=reports.reshape(2, 2), variables=[PLAIN, PLAIN])
        region = LikelyShares(
            counts=reports,
            channel=channel,
            shares=found.joint_shares.ravel(),
            level=0.95,
            parts=cells.masks,
        )
        low, high = region.interval(estimand=cells.difference, limits=(-1, 1))
        covered += low <= difference <= high
    assert covered >= binom.ppf(ONE_IN_A_MILLION, surveys, 0.93)


# Groups that may be empty


def test_a_group_that_may_be_empty_leaves_its_share_open() -> None:
    found = relate([[50, 10], [40, 5]], [PLAIN, PLAIN])
    assert (found.share_first.low, found.share_first.high) == (0, 1)
    assert found.share_first.raw is None
    assert found.share_first.estimate is None
    assert (found.odds_ratio.low, found.odds_ratio.high) == (0, inf)
    assert (found.log_odds_ratio.low, found.log_odds_ratio.high) == (-inf, inf)
    assert found.odds_ratio.estimate is None
    # The share of the other group is known and bounds the difference.
    assert found.difference.low == pytest.approx(-found.share_second.high, abs=0.02)
    assert found.difference.high >= 1 - found.share_second.high
    assert found.difference.high < 1


def test_an_empty_cell_makes_an_infinite_odds_ratio() -> None:
    # Everybody in the first group has the event, and half of the second group does.
    truth = np.array([[0.25, 0.0], [0.25, 0.5]])
    counts = np.round(np.kron(LIGHT.channel(), LIGHT.channel()) @ truth.ravel() * 4000)
    counts[1] -= 60  # there are fewer than the channel alone would produce
    found = relate(counts.reshape(2, 2).astype(np.int64), [LIGHT, LIGHT])
    assert found.odds_ratio.raw is None
    assert found.odds_ratio.estimate == inf
    assert found.odds_ratio.high == inf
    assert 1 < found.odds_ratio.low < inf
    assert found.share_first.high == 1
    assert found.share_first.estimate == 1


@pytest.mark.parametrize("counts", [[[1, 0], [0, 0]], [[5, 1], [0, 0]], [[0, 3], [0, 2]]])
def test_a_handful_of_reports_gives_wide_intervals_and_no_error(counts: list[list[int]]) -> None:
    found = relate(counts, [PLAIN, PLAIN])
    for figure in figures(found).values():
        assert figure.low <= figure.high
    assert found.difference.high - found.difference.low > 1
    assert found.test.p_value == 1


# Refusals and more answers


def test_refusals_belong_to_no_group_and_do_not_count_as_the_event() -> None:
    truth = np.zeros((3, 3))
    truth[:2, :2] = 0.7 * np.array([[0.5, 0.1], [0.2, 0.2]])
    truth[2] = [0.05, 0.1, 0.05]
    truth[:2, 2] = 0.05
    reported = np.kron(REFUSABLE.channel(), REFUSABLE.channel()) @ truth.ravel()
    counts = np.round(reported * 10**6).astype(np.int64).reshape(3, 3)
    found = relate(counts, [REFUSABLE, REFUSABLE])
    assert found.share_first.raw == pytest.approx(2 / 3, abs=1e-3)
    assert found.share_second.raw == pytest.approx(2 / 7, abs=1e-3)
    assert found.odds_ratio.raw == pytest.approx(5, abs=0.05)
    assert found.test.method == "latent_likelihood_ratio"
    assert found.difference.low < 2 / 3 - 2 / 7 < found.difference.high


def test_refusals_widen_every_interval() -> None:
    # The same people are asked with and without a way to refuse, which nobody uses.
    truth = np.array([[0.4, 0.2], [0.1, 0.3]])
    plain = np.round(np.kron(PLAIN.channel(), PLAIN.channel()) @ truth.ravel() * 4000)
    padded = np.zeros((3, 3))
    padded[:2, :2] = truth
    wide = np.round(np.kron(REFUSABLE.channel(), REFUSABLE.channel()) @ padded.ravel() * 4000)
    narrow = relate(plain.reshape(2, 2).astype(np.int64), [PLAIN, PLAIN]).difference
    found = relate(wide.reshape(3, 3).astype(np.int64), [REFUSABLE, REFUSABLE]).difference
    assert found.low < narrow.low < narrow.high < found.high


def test_any_of_several_answers_can_be_the_event_and_any_two_the_groups() -> None:
    choice = Variable.plain(THREE)
    truth = np.array([[10, 5, 5], [5, 10, 5], [15, 15, 30]]) / 100
    reported = np.kron(choice.channel(), choice.channel()) @ truth.ravel() * 10**6
    found = associate(
        counts=np.round(reported).astype(np.int64).reshape(3, 3),
        variables=[choice, choice],
        event=2,
        first=2,
        second=0,
    )
    assert found.share_first.raw == pytest.approx(30 / 40, abs=1e-4)
    assert found.share_second.raw == pytest.approx(15 / 30, abs=1e-4)
    assert found.odds_ratio.raw == pytest.approx(3, abs=1e-3)
    assert found.test.degrees_of_freedom == 4


# Bad input


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"event": 2}, "event must be one of the 2 answers, numbered from 0, got 2"),
        ({"event": -1}, "event must be one of the 2 answers, numbered from 0, got -1"),
        ({"first": 2}, "first must be one of the 2 answers, numbered from 0, got 2"),
        ({"second": 2}, "second must be one of the 2 answers, numbered from 0, got 2"),
        ({"second": 1}, "first and second must differ, got 1 twice"),
        ({"variables": [REFUSABLE]}, "variables must be two questions, got 1"),
        ({"counts": np.ones((2, 3))}, r"counts must have the shape \(3, 3\), got \(2, 3\)"),
        ({"counts": np.zeros((3, 3))}, "counts must hold at least one report"),
        ({"counts": -np.ones((3, 3))}, "counts must be whole and not negative"),
        ({"level": 1.0}, r"level must lie in \(0, 1\), got 1.0"),
    ],
)
def test_questions_that_cannot_be_related_are_rejected(
    where: dict[str, object], message: str
) -> None:
    usual = {
        "counts": np.ones((3, 3)),
        "variables": [REFUSABLE, REFUSABLE],
        "event": 1,
        "first": 1,
        "second": 0,
    }
    with pytest.raises(ValueError, match=message):
        associate(**(usual | where))  # type: ignore[arg-type]
