"""Known groups: intervals cover as promised, with direct questions as the limiting case."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import binom, chi2

from privacy.associations import known_groups
from privacy.associations.known_groups import compare_groups, pool_strata
from privacy.associations.significance import homogeneity_test
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.intervals import likelihood_ratio
from tests.support.sampling.estimates import estimate_alone

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
LIGHT = RandomizedResponse.from_flips(symbols=2, flips=5)
# This mechanism reports the truth for all but one in four billion answers.
DIRECT = RandomizedResponse(symbols=2, threshold=2**32 - 1)
ONE_IN_A_MILLION = 1e-6

groups = st.integers(1, 400).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))
mechanisms = st.builds(
    RandomizedResponse.from_flips, symbols=st.integers(2, 5), flips=st.integers(1, 45)
)


# Newcombe's interval


def newcombe_ends(mechanism: RandomizedResponse, *, people: int) -> NDArray[np.float64]:
    """Return both ends for all pairs of counts; the shape is (2, people + 1, people + 1)."""
    counts = range(people + 1)
    c, d = mechanism.other_probability, mechanism.slope
    sides = [known_groups._Group(successes=count, total=people, c=c, d=d) for count in counts]
    ends = [[known_groups._newcombe(first, second, 0.95) for second in sides] for first in sides]
    return np.moveaxis(np.array(ends), 2, 0)


def least_coverage(mechanism: RandomizedResponse, *, people: int) -> float:
    low, high = newcombe_ends(mechanism, people=people)
    shares = np.linspace(0, 1, 51)
    reported = mechanism.other_probability + mechanism.slope * shares
    chances = binom.pmf(np.arange(people + 1), people, reported[:, None])
    coverage = [
        chances[i] @ ((low <= first - second) & (first - second <= high)) @ chances[j]
        for i, first in enumerate(shares)
        for j, second in enumerate(shares)
    ]
    return float(min(coverage))


@pytest.mark.parametrize(("epsilon", "least"), [(log(3), 0.939), (4.0, 0.902)])
def test_the_lowest_coverage_with_fifty_people_in_each_group(epsilon: float, least: float) -> None:
    # docs/methods, "Declared groups"
    mechanism = RandomizedResponse.from_epsilon(symbols=2, epsilon=epsilon)
    assert round(least_coverage(mechanism, people=50), 3) == least


@given(groups, groups)
def test_the_interval_returned_is_the_one_whose_coverage_was_computed(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    found = compare_groups(
        successes=[first[0], second[0]], totals=[first[1], second[1]], mechanisms=[COINS, COINS]
    )
    one, other = (
        known_groups._Group(successes=count, total=total, c=0.25, d=0.5)
        for count, total in (first, second)
    )
    low, high = known_groups._newcombe(one, other, 0.95)
    assert found.method == "newcombe"
    assert (found.low, found.high) == (
        min(1, max(-1, low)),
        min(1, max(-1, high)),
    )
    assert found.contradiction == (high < -1 or low > 1)


def test_direct_questions_give_the_same_newcombe_interval_as_statsmodels() -> None:
    from statsmodels.stats import proportion

    # Two examples of Newcombe 1998 (56/70 and 48/80, 9/10 and 3/10), and shares of 0 and 1
    for (x1, n1), (x2, n2) in [
        ((56, 70), (48, 80)),
        ((9, 10), (3, 10)),
        ((0, 40), (5, 90)),
        ((30, 30), (10, 60)),
    ]:
        found = compare_groups(successes=[x1, x2], totals=[n1, n2], mechanisms=[DIRECT, DIRECT])
        low, high = proportion.confint_proportions_2indep(x1, n1, x2, n2, method="newcomb")
        assert found.difference == pytest.approx(x1 / n1 - x2 / n2, abs=1e-8)
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-8)


def test_newcombe_s_published_example() -> None:
    found = compare_groups(successes=[56, 48], totals=[70, 80], mechanisms=[DIRECT, DIRECT])
    assert (round(found.low, 4), round(found.high, 4)) == (0.0524, 0.3339)


# Both methods


@given(groups, groups, mechanisms, mechanisms)
@settings(deadline=None, max_examples=60)
def test_swapping_the_groups_changes_the_sign(
    first: tuple[int, int],
    second: tuple[int, int],
    one: RandomizedResponse,
    other: RandomizedResponse,
) -> None:
    there = compare_groups(
        successes=[first[0], second[0]], totals=[first[1], second[1]], mechanisms=[one, other]
    )
    back = compare_groups(
        successes=[second[0], first[0]], totals=[second[1], first[1]], mechanisms=[other, one]
    )
    assert there.difference == pytest.approx(-back.difference, abs=1e-12)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-7)
    assert there.test.p_value == pytest.approx(back.test.p_value, abs=1e-7)
    assert -1 <= there.low <= there.high <= 1


def test_the_difference_is_that_of_the_estimates_of_each_group() -> None:
    found = compare_groups(successes=[240, 90], totals=[500, 400], mechanisms=[COINS, LIGHT])
    alone = [
        estimate_alone(counts=[260, 240], mechanism=COINS),
        estimate_alone(counts=[310, 90], mechanism=LIGHT),
    ]
    assert found.difference == pytest.approx(alone[0].shares[1] - alone[1].shares[1], abs=1e-14)
    assert found.standard_error == pytest.approx(
        np.hypot(alone[0].standard_errors[1], alone[1].standard_errors[1]), abs=1e-14
    )


@pytest.mark.parametrize("pair", [(COINS, COINS), (COINS, LIGHT)])
def test_the_interval_of_a_difference_far_from_zero_excludes_zero(
    pair: tuple[RandomizedResponse, RandomizedResponse],
) -> None:
    apart = compare_groups(successes=[700, 300], totals=[1000, 1000], mechanisms=pair)
    assert apart.low > 0
    assert apart.test.p_value < 1e-6
    alike = compare_groups(successes=[40, 30], totals=[100, 100], mechanisms=pair)
    assert alike.low < 0 < alike.high


def test_groups_with_the_same_channel_are_tested_directly_on_their_reports() -> None:
    found = compare_groups(successes=[240, 200], totals=[500, 500], mechanisms=[COINS, COINS])
    assert found.test == homogeneity_test(counts=[[240, 260], [200, 300]])


@pytest.mark.parametrize("successes", [[0, 0], [30, 20]])
def test_identical_reports_do_not_tell_groups_apart(successes: list[int]) -> None:
    found = compare_groups(successes=successes, totals=[30, 20], mechanisms=[COINS, COINS])
    assert found.test.p_value == 1
    assert found.low <= 0 <= found.high


def test_reports_that_no_difference_explains_are_a_contradiction() -> None:
    # With two coins, from 25 to 75 % of codes are yes. Here, no code in the first group is yes, and
    # every code in the second is.
    found = compare_groups(successes=[0, 500], totals=[500, 500], mechanisms=[COINS, COINS])
    assert found.contradiction
    assert (found.low, found.high) == (-1, -1)


# Profile likelihood


def profiled_statistic(
    difference: float, successes: list[int], totals: list[int], pair: list[RandomizedResponse]
) -> float:
    """Compute the likelihood-ratio statistic of a difference by an independent search."""

    def height(first: float, second: float) -> float:
        return sum(
            float(binom.logpmf(count, total, m.other_probability + m.slope * share))
            for count, total, m, share in zip(successes, totals, pair, (first, second), strict=True)
        )

    def best() -> float:
        low, high = max(0.0, -difference), min(1.0, 1 - difference)
        found = minimize_scalar(
            lambda share: -height(share + difference, share),
            bounds=(low, high),
            method="bounded",
            options={"xatol": 1e-12},
        )
        return max(
            -float(found.fun), height(low + difference, low), height(high + difference, high)
        )

    closest = [
        min(1.0, max(0.0, (count / total - m.other_probability) / m.slope))
        for count, total, m in zip(successes, totals, pair, strict=True)
    ]
    return 2 * (height(*closest) - best())


@pytest.mark.parametrize(
    ("successes", "totals"),
    [([240, 90], [500, 400]), ([20, 3], [60, 60]), ([130, 10], [500, 500]), ([45, 55], [60, 60])],
)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_with_different_channels_the_interval_is_what_a_likelihood_ratio_test_does_not_reject(
    successes: list[int], totals: list[int], level: float
) -> None:
    pair = [COINS, LIGHT]
    found = compare_groups(successes=successes, totals=totals, mechanisms=pair, level=level)
    assert found.method == "profile_likelihood"
    limit = chi2.ppf(level, 1)
    for end in (found.low, found.high):
        assert abs(end) == 1 or profiled_statistic(end, successes, totals, pair) == pytest.approx(
            limit, abs=1e-5
        )
    statistic = profiled_statistic(0.0, successes, totals, pair)
    assert found.test.method == "likelihood_ratio"
    assert found.test.degrees_of_freedom == 1
    assert found.test.statistic == pytest.approx(statistic, abs=1e-5)
    assert found.test.p_value == pytest.approx(chi2.sf(statistic, 1), abs=1e-5)
    excludes_zero = not found.low <= 0 <= found.high
    assert excludes_zero == (found.test.statistic > limit)


def test_nearly_the_same_channel_gives_nearly_the_same_interval() -> None:
    nearly = RandomizedResponse(symbols=2, threshold=3 * 2**30 + 1)
    same = compare_groups(successes=[2400, 2000], totals=[5000, 5000], mechanisms=[COINS, COINS])
    unlike = compare_groups(successes=[2400, 2000], totals=[5000, 5000], mechanisms=[COINS, nearly])
    assert unlike.method == "profile_likelihood"
    assert (unlike.low, unlike.high) == pytest.approx((same.low, same.high), abs=2e-4)


@pytest.mark.parametrize(("first", "second"), [(0.3, 0.1), (0.02, 0.02)])
def test_with_different_channels_the_interval_covers_the_true_difference(
    first: float, second: float
) -> None:
    surveys, people = 400, 150
    pair = [COINS, LIGHT]
    random = np.random.default_rng(12)
    covered = 0
    for _ in range(surveys):
        successes = [
            int(random.binomial(people, m.other_probability + m.slope * share))
            for m, share in zip(pair, (first, second), strict=True)
        ]
        found = compare_groups(successes=successes, totals=[people] * 2, mechanisms=pair)
        covered += found.low <= first - second <= found.high
    # The nominal coverage is .95; in groups this small, slightly less is acceptable.
    assert covered >= binom.ppf(ONE_IN_A_MILLION, surveys, 0.93)


# Pooling


def test_strata_under_one_channel_pool_into_one_survey() -> None:
    found = pool_strata(successes=[360, 120], totals=[1000, 500], mechanisms=[COINS, COINS])
    whole = likelihood_ratio(successes=480, total=1500, other_probability=0.25, slope=0.5)
    assert found.share == pytest.approx(2 * 480 / 1500 - 0.5, abs=1e-9)
    assert (found.low, found.high) == pytest.approx((whole.low, whole.high), abs=1e-9)


@given(groups.filter(lambda group: group[1] > 20), st.sampled_from([0.5, 0.8, 0.95, 0.99]))
@settings(deadline=None, max_examples=40)
def test_an_almost_empty_stratum_changes_nothing(group: tuple[int, int], level: float) -> None:
    nearly_nothing = RandomizedResponse(symbols=2, threshold=2**31 + 1)
    found = pool_strata(
        successes=[group[0], 1],
        totals=[group[1], 2],
        mechanisms=[LIGHT, nearly_nothing],
        level=level,
    )
    alone = likelihood_ratio(
        successes=group[0],
        total=group[1],
        other_probability=LIGHT.other_probability,
        slope=LIGHT.slope,
        level=level,
    )
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high), abs=1e-6)


def test_pooled_strata_are_also_shown_separately() -> None:
    found = pool_strata(successes=[360, 120], totals=[1000, 500], mechanisms=[COINS, LIGHT])
    for place, (count, total, mechanism) in enumerate([(360, 1000, COINS), (120, 500, LIGHT)]):
        alone = estimate_alone(counts=[total - count, count], mechanism=mechanism)
        assert found.shares[place] == pytest.approx(alone.shares[1], abs=1e-14)
        assert found.standard_errors[place] == pytest.approx(alone.standard_errors[1], abs=1e-14)
    # The more precise stratum has more weight than its share of the reports.
    weights = 1 / np.array(found.standard_errors) ** 2
    assert found.share == pytest.approx(weights @ found.shares / weights.sum(), abs=2e-3)


def test_strata_with_exactly_the_same_share_are_not_heterogeneous() -> None:
    # If 30 % say yes, 40 of 100 codes are yes with two coins, and 32 at five flips of 100.
    found = pool_strata(successes=[400, 320], totals=[1000, 1000], mechanisms=[COINS, LIGHT])
    assert found.share == pytest.approx(0.3, abs=1e-8)
    assert found.heterogeneity.statistic == pytest.approx(0, abs=1e-9)
    assert found.heterogeneity.degrees_of_freedom == 1


def test_heterogeneity_of_two_strata_is_the_test_of_their_difference() -> None:
    pair = [COINS, LIGHT]
    pooled = pool_strata(successes=[420, 90], totals=[1000, 500], mechanisms=pair)
    compared = compare_groups(successes=[420, 90], totals=[1000, 500], mechanisms=pair)
    assert pooled.heterogeneity.p_value == pytest.approx(compared.test.p_value, rel=1e-6)


def test_pooling_keeps_its_level_and_its_coverage() -> None:
    surveys, share = 500, 0.2
    trio = [COINS, LIGHT, RandomizedResponse.from_flips(symbols=3, flips=15)]
    totals = [400, 150, 300]
    random = np.random.default_rng(13)
    counts = np.column_stack(
        [
            random.binomial(total, m.other_probability + m.slope * share, size=surveys)
            for m, total in zip(trio, totals, strict=True)
        ]
    )
    found = [
        pool_strata(successes=[int(count) for count in row], totals=totals, mechanisms=trio)
        for row in counts
    ]
    covered = sum(one.low <= share <= one.high for one in found)
    rejected = sum(one.heterogeneity.p_value <= 0.05 for one in found)
    assert covered >= binom.ppf(ONE_IN_A_MILLION, surveys, 0.945)
    assert rejected <= binom.ppf(1 - ONE_IN_A_MILLION, surveys, 0.055)
    assert found[0].heterogeneity.degrees_of_freedom == 2


# Bad input

BAD_INPUT = [
    ([1, 2], [10], [COINS, COINS], 0.95, "must have the same length, got 2, 1 and 2"),
    ([1, 2], [10, 10], [COINS], 0.95, "must have the same length, got 2, 2 and 1"),
    ([0, 2], [0, 10], [COINS, COINS], 0.95, "totals must be at least 1, got 0"),
    ([11, 2], [10, 10], [COINS, COINS], 0.95, "successes must be from 0 to 10, got 11"),
    ([-1, 2], [10, 10], [COINS, COINS], 0.95, "successes must be from 0 to 10, got -1"),
    ([1, 2], [10, 10], [COINS, COINS], 1.0, r"level must lie in \(0, 1\), got 1.0"),
    ([1, 2], [10, 10], [COINS, COINS], float("nan"), r"level must lie in \(0, 1\), got nan"),
]


@pytest.mark.parametrize(("successes", "totals", "pair", "level", "message"), BAD_INPUT)
@pytest.mark.parametrize("function", [compare_groups, pool_strata])
def test_impossible_groups_are_rejected(  # type: ignore[no-untyped-def]
    function, successes, totals, pair, level, message
) -> None:
    with pytest.raises(ValueError, match=message):
        function(successes=successes, totals=totals, mechanisms=pair, level=level)


def test_only_two_groups_can_be_compared() -> None:
    with pytest.raises(ValueError, match="totals must hold two groups"):
        compare_groups(successes=[1, 2, 3], totals=[9, 9, 9], mechanisms=[COINS] * 3)


def test_a_single_stratum_is_not_pooled() -> None:
    with pytest.raises(ValueError, match="totals must hold at least two strata"):
        pool_strata(successes=[1], totals=[9], mechanisms=[COINS])
