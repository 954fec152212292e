"""The mean of a rating scale: exact sums, other ways to compute the interval, and coverage."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import chdtri, xlogy

from privacy.associations.maximum_likelihood import maximize_likelihood
from privacy.associations.profiles import LikelyShares
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.conditional import likelihood_ratio_share
from privacy.shares.intervals import likelihood_ratio
from tests.privacy.shares.scale_means import ScaleMean, estimate_scale_mean

FIVE = RandomizedResponse.from_flips(symbols=5, flips=25)
SIX = RandomizedResponse.from_flips(symbols=6, flips=25)
ONE_TO_FIVE = (1, 2, 3, 4, 5)


@st.composite
def cases(draw: st.DrawFn, *, most: int = 200, silent: int = 2, largest: int = 7) -> dict[str, Any]:
    answers = draw(st.integers(2, largest))
    k = answers + draw(st.integers(0, silent))
    steps = draw(st.lists(st.integers(1, 4), min_size=answers - 1, max_size=answers - 1))
    return {
        "points": np.cumsum([draw(st.integers(-3, 3)), *steps]).tolist(),
        "mechanism": RandomizedResponse.from_flips(symbols=k, flips=draw(st.integers(2, 45))),
        "counts": draw(st.lists(st.integers(0, most), min_size=k, max_size=k).filter(any)),
    }


def expected_reports(mechanism: RandomizedResponse, truth: ArrayLike, total: int) -> list[int]:
    return [round(share) for share in mechanism.channel() @ np.asarray(truth) * total]


# Estimates


@settings(deadline=None)
@given(case=cases(most=50))
def test_exact_expected_counts_return_the_true_mean_of_those_who_answered(
    case: dict[str, Any],
) -> None:
    people, points = np.array(case["counts"]), np.array(case["points"])
    answered = people[: len(points)]
    assume(answered.sum() > 0)
    reports = expected_reports(case["mechanism"], people / people.sum(), 10**15)
    found = estimate_scale_mean(**{**case, "counts": reports})
    truth = float(answered @ points) / answered.sum()
    assert found.mean == pytest.approx(truth, abs=1e-9)
    assert found.low - 1e-7 <= truth <= found.high + 1e-7
    assert found.high - found.low < 1e-3 * (points[-1] - points[0])


@pytest.mark.parametrize(
    ("mechanism", "truth"),
    [(FIVE, (0.1, 0.3, 0.2, 0.3, 0.1)), (SIX, (0.4, 0.1, 0.0, 0.1, 0.2, 0.2))],
)
def test_the_standard_error_matches_the_spread_of_repeated_surveys(
    mechanism: RandomizedResponse, truth: tuple[float, ...]
) -> None:
    def find(counts: list[int]) -> ScaleMean:
        return estimate_scale_mean(counts=counts, mechanism=mechanism, points=ONE_TO_FIVE)

    surveys = np.random.default_rng(1932).multinomial(
        4000, mechanism.channel() @ np.array(truth), size=300
    )
    spread = np.std([find(counts).mean or 0.0 for counts in surveys.tolist()])
    expected = find(expected_reports(mechanism, truth, 4000))
    print(f"replicates {spread:.5f} formula {expected.standard_error:.5f}")
    assert spread == pytest.approx(expected.standard_error, rel=0.15)


# With two points, the mean is a share


@settings(deadline=None)
@given(st.integers(0, 400), st.integers(1, 400), st.integers(2, 45), st.floats(0.5, 0.999))
def test_two_points_that_everybody_answers_are_a_share(
    yes: int, no: int, flips: int, level: float
) -> None:
    coins = RandomizedResponse.from_flips(symbols=2, flips=flips)
    found = estimate_scale_mean(counts=[no, yes], mechanism=coins, points=[0, 1], level=level)
    expected = likelihood_ratio(
        successes=yes,
        total=yes + no,
        other_probability=coins.other_probability,
        slope=coins.slope,
        level=level,
    )
    assert found.low == pytest.approx(float(expected.low), abs=1e-9)
    assert found.high == pytest.approx(float(expected.high), abs=1e-9)


@pytest.mark.parametrize("counts", [[300, 500, 400], [3000, 2500, 2900], [90, 130, 60]])
def test_two_points_behind_a_refusal_are_a_conditional_share(counts: list[int]) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=3, flips=25)
    found = estimate_scale_mean(counts=counts, mechanism=mechanism, points=[0, 1])
    share = likelihood_ratio_share(counts=counts, mechanism=mechanism, symbol=1, among=[0, 1])
    assert found.mean == pytest.approx(share.share)
    assert found.standard_error == pytest.approx(share.standard_error)
    assert [found.low, found.high] == pytest.approx([share.low, share.high], abs=1e-9)


# Likelihood ratio


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 200), min_size=3, max_size=3).filter(any), st.integers(2, 45))
def test_with_three_points_the_profile_falls_by_half_the_quantile_at_the_ends(
    counts: list[int], flips: int
) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=3, flips=flips)
    c, d = mechanism.other_probability, mechanism.slope
    found = estimate_scale_mean(counts=counts, mechanism=mechanism, points=[0, 1, 2])

    def height(mean: float) -> float:
        """Maximize over the last point's reported share, the only one that is free for a mean."""
        reported = 3 * c + d * mean  # of the values 0, 1, 2

        def loss(last: float) -> float:
            shares = np.array([1 - reported + last, reported - 2 * last, last])
            return -float(xlogy(counts, np.maximum(shares, 0)).sum())

        bounds = (max(0.0, reported - 1), reported / 2)
        inside = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-12})
        return -min(loss(bounds[0]), loss(bounds[1]), float(inside.fun))

    assert found.mean is not None
    limit = height(min(max(found.mean, 0.0), 2.0)) - float(chdtri(1, 0.05)) / 2
    for end, last in ((found.low, 0.0), (found.high, 2.0)):
        if end == pytest.approx(last, abs=1e-12):
            assert height(last) >= limit - 1e-5
        else:
            assert height(end) == pytest.approx(limit, abs=1e-5)


@settings(deadline=None, max_examples=10)
@given(cases(most=40))
def test_a_general_search_over_the_table_finds_the_same_ends(case: dict[str, Any]) -> None:
    # With this many reports, no likely share is below 0.
    points, people = np.array(case["points"]), np.array(case["counts"]) + 10
    answers, channel = len(points), case["mechanism"].channel()
    counts = expected_reports(case["mechanism"], people / people.sum(), 10**6)
    found = estimate_scale_mean(**{**case, "counts": counts})
    shares, _ = maximize_likelihood(counts=np.array(counts), channel=channel)
    region = LikelyShares(counts=np.array(counts), channel=channel, shares=shares, level=0.95)
    low, high = region.interval(
        estimand=lambda values: points @ values[:answers] / values[:answers].sum(),
        limits=(float(points[0]), float(points[-1])),
    )
    assert [found.low, found.high] == pytest.approx([low, high], abs=2e-3 * (high - low))


# Properties


@settings(deadline=None)
@given(case=cases())
def test_reversing_the_scale_reverses_the_interval(case: dict[str, Any]) -> None:
    counts, points = case["counts"], case["points"]
    a = len(points)
    one = estimate_scale_mean(**case)
    other = estimate_scale_mean(
        counts=[*counts[:a][::-1], *counts[a:]],
        mechanism=case["mechanism"],
        points=[-point for point in points[::-1]],
    )
    assert [other.low, other.high] == pytest.approx([-one.high, -one.low], abs=1e-6)
    if one.mean is not None and one.standard_error is not None and other.mean is not None:
        assert -other.mean == pytest.approx(one.mean, rel=1e-6, abs=1e-6)
        assert other.standard_error == pytest.approx(one.standard_error, rel=1e-6, abs=1e-9)


@settings(deadline=None)
@given(case=cases())
def test_a_higher_level_gives_a_wider_interval_within_the_scale(case: dict[str, Any]) -> None:
    levels = (0.5, 0.8, 0.95, 0.999)
    every = [estimate_scale_mean(**case, level=level) for level in levels]
    for narrow, wide in pairwise(every):
        assert case["points"][0] <= wide.low <= wide.high <= case["points"][-1]
        assert wide.low <= narrow.low + 1e-9
        assert narrow.high <= wide.high + 1e-9


# Ends


def test_without_a_positive_share_of_answers_there_is_no_mean() -> None:
    for counts in ([150, 160, 155, 150, 150, 600], [0, 0, 0, 0, 0, 3], [1, 0, 0, 0, 0, 40]):
        found = estimate_scale_mean(counts=counts, mechanism=SIX, points=ONE_TO_FIVE)
        assert (found.mean, found.standard_error) == (None, None)
        assert (found.low, found.high) == (1, 5)


def test_where_nobody_may_have_answered_every_mean_is_possible() -> None:
    found = estimate_scale_mean(
        counts=[24, 24, 26, 27, 26, 72],
        mechanism=SIX,
        points=ONE_TO_FIVE,
    )
    assert found.mean is not None
    assert (found.low, found.high) == (1, 5)


@pytest.mark.parametrize("counts", [[1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 1, 0, 0, 1]])
def test_one_or_two_reports_give_a_wide_interval(counts: list[int]) -> None:
    found = estimate_scale_mean(counts=counts, mechanism=FIVE, points=ONE_TO_FIVE)
    assert found.mean is not None
    assert found.low <= min(max(found.mean, 1), 5) <= found.high
    assert found.high - found.low > 3.5


def test_all_reports_at_one_end_are_no_contradiction() -> None:
    counts = expected_reports(FIVE, (0, 0, 0, 0, 1), 1000)
    found = estimate_scale_mean(counts=counts, mechanism=FIVE, points=ONE_TO_FIVE)
    assert found.mean == pytest.approx(5, abs=0.01)
    assert 4 < found.low < found.high == 5


@pytest.mark.parametrize("counts", [[0, 1, 28, 3], [0, 4, 16, 12]])
def test_a_mean_beyond_a_point_that_nobody_reports_has_an_interval(counts: list[int]) -> None:
    four = RandomizedResponse.from_flips(symbols=4, flips=25)
    found = estimate_scale_mean(counts=counts, mechanism=four, points=range(4))
    assert found.mean is not None
    assert found.mean > 3
    assert [found.low, found.high] == pytest.approx([2.650458, 3.0], abs=1e-6)


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"counts": [1, 2]}, "counts must have 5 entries, got [1, 2]"),
        ({"counts": [0] * 5}, "counts must hold at least one report, got none"),
        (
            {"counts": [1, 2, 3, 4, -1]},
            "counts must be whole and not negative, got [1, 2, 3, 4, -1]",
        ),
        ({"points": [1]}, "points must be from 2 to 5 numbers, got [1]"),
        ({"points": range(6)}, "points must be from 2 to 5 numbers, got range(0, 6)"),
        ({"points": [1, 3, 2]}, "points must be ascending, got [1, 3, 2]"),
        ({"points": [1, float("inf")]}, "points must be a finite number, got inf"),
        ({"level": 1.0}, "level must lie in (0, 1), got 1.0"),
    ],
)
def test_impossible_arguments_are_rejected(arguments: dict[str, Any], message: str) -> None:
    usual = {"counts": [5] * 5, "mechanism": FIVE, "points": ONE_TO_FIVE}
    with pytest.raises(ValueError) as refused:
        estimate_scale_mean(**{**usual, **arguments})
    assert str(refused.value) == message
