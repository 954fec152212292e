"""Weighted estimates agree with unweighted ones where they must, and elsewhere with simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.weighting import post_stratify, weighted_share
from tests.support.sampling.estimates import estimate_alone

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)


# Strata -------------------------------------------------------------------------------------


def test_two_strata_by_hand() -> None:
    # 3/4 · .1 + 1/4 · .4 = .175; 9/16 · .0004 + 1/16 · .0009 = .00028125
    combined = post_stratify(estimates=[0.1, 0.4], variances=[0.0004, 0.0009], weights=[0.75, 0.25])
    assert combined.share == pytest.approx(0.175, abs=1e-15)
    assert combined.variance == pytest.approx(0.00028125, abs=1e-16)
    assert combined.standard_error == pytest.approx(np.sqrt(0.00028125), abs=1e-15)


strata = st.lists(
    st.tuples(st.floats(-1, 2), st.floats(0, 1), st.floats(0.01, 100)), min_size=1, max_size=8
)


@given(strata, st.floats(1e-200, 1e200))
def test_only_proportions_of_the_weights_matter(
    rows: list[tuple[float, float, float]], scale: float
) -> None:
    estimates, variances, weights = (np.array(column) for column in zip(*rows, strict=True))
    one = post_stratify(estimates=estimates, variances=variances, weights=weights)
    other = post_stratify(estimates=estimates, variances=variances, weights=weights * scale)
    assert one.weights.sum() == pytest.approx(1, abs=1e-12)
    assert other.share == pytest.approx(one.share, abs=1e-12)
    assert other.variance == pytest.approx(one.variance, abs=1e-12)
    assert estimates.min() - 1e-12 <= one.share <= estimates.max() + 1e-12


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(1, 500)), min_size=1, max_size=6))
def test_strata_weighted_by_their_reports_give_the_pooled_estimate(
    counts: list[tuple[int, int]],
) -> None:
    each = [estimate_alone(counts=pair, mechanism=COINS) for pair in counts]
    combined = post_stratify(
        estimates=[estimates.shares[1] for estimates in each],
        variances=[estimates.standard_errors[1] ** 2 for estimates in each],
        weights=[sum(pair) for pair in counts],
    )
    pooled = estimate_alone(counts=np.sum(counts, axis=0).tolist(), mechanism=COINS)
    assert combined.share == pytest.approx(pooled.shares[1], abs=1e-12)
    # Strata explain part of the variance and never add to it.
    assert combined.standard_error <= pooled.standard_errors[1] + 1e-12


def test_a_stratum_of_weight_zero_does_not_count() -> None:
    combined = post_stratify(estimates=[0.1, 0.9], variances=[0.01, 0.5], weights=[2, 0])
    assert (combined.share, combined.variance) == (0.1, 0.01)


def test_shares_outside_the_unit_interval_are_not_clipped() -> None:
    combined = post_stratify(estimates=[-0.3, 0.1], variances=[0.01, 0.01], weights=[1, 1])
    assert combined.share == pytest.approx(-0.1, abs=1e-15)


def test_post_stratification_corrects_a_skewed_sample_and_its_error_is_right() -> None:
    # Two strata have equal size and true shares of .1 and .5, but 80 % of reports are from the
    # first.
    size = 20_000
    numbers, truth = np.array([1600, 400]), np.array([0.1, 0.5])
    shown = np.random.default_rng(21).binomial(numbers, 0.25 + truth / 2, size=(size, 2))
    reported = shown / numbers
    each = (reported - 0.25) * 2
    variances = reported * (1 - reported) / numbers * 4
    combined = [
        post_stratify(estimates=e, variances=v, weights=[1, 1])
        for e, v in zip(each, variances, strict=True)
    ]
    shares = np.array([estimate.share for estimate in combined])
    errors = np.array([estimate.standard_error for estimate in combined])
    assert abs(shares.mean() - 0.3) < 4.9 * errors.mean() / np.sqrt(size)
    # The spread of 20,000 estimates is accurate to .5 %.
    assert shares.std(ddof=1) / errors.mean() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": [0.5, -0.5]}, "weights must not be negative, got -0.5"),
        ({"weights": [0, 0]}, "weights must not all be 0"),
        ({"weights": [1, np.nan]}, "weights must be finite, got nan"),
        ({"weights": [1, np.inf]}, "weights must be finite, got inf"),
        ({"weights": [0.5, 0.3, 0.2]}, "one entry for every stratum, got 2, 2 and 3"),
        ({"estimates": [0.1]}, "one entry for every stratum, got 1, 2 and 2"),
        ({"estimates": [0.1, np.nan]}, "estimates must be finite.*nan in stratum 1; merge"),
        ({"estimates": [0.1, None]}, "estimates must be finite.*stratum 1"),
        ({"variances": [np.inf, 0.1]}, "variances must be finite.*inf in stratum 0"),
        ({"variances": [0.1, -0.1]}, "variances must not be negative, got -0.1"),
        ({"estimates": [], "variances": [], "weights": []}, "at least one number"),
        ({"weights": [[0.5, 0.5]]}, "weights must be a list"),
    ],
)
def test_impossible_strata_are_rejected(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {
        "estimates": [0.1, 0.4],
        "variances": [0.01, 0.01],
        "weights": [0.5, 0.5],
    }
    with pytest.raises(ValueError, match=message):
        post_stratify(**good | change)


# Unit weights -------------------------------------------------------------------------------


@given(st.integers(0, 300), st.integers(1, 300), st.floats(1e-100, 1e100), st.integers(2, 9))
def test_equal_weights_give_the_unweighted_estimate(
    yes: int, no: int, weight: float, symbols: int
) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=symbols, flips=25)
    reports = np.repeat([1, 0], [yes, no])
    weighted = weighted_share(
        reports=reports, weights=np.full(yes + no, weight), mechanism=mechanism
    )
    counts = [no, yes] + [0] * (symbols - 2)
    plain = estimate_alone(counts=counts, mechanism=mechanism)
    assert weighted.share == pytest.approx(plain.shares[1], abs=1e-9)
    assert weighted.standard_error == pytest.approx(plain.standard_errors[1], abs=1e-9)
    assert weighted.effective_sample_size == pytest.approx(yes + no, rel=1e-9)
    assert weighted.effective_successes == pytest.approx(yes, abs=1e-6)
    assert weighted.approximate


def test_effective_counts_by_hand() -> None:
    # Weights 1, 1, 1, 2: (5)²/7 = 25/7 reports, 3/5 of them yes: (.6 − .25)/.5 = .7
    weighted = weighted_share(reports=[1, 0, 0, 1], weights=[1, 1, 1, 2], mechanism=COINS)
    assert weighted.reported_share == pytest.approx(0.6, abs=1e-15)
    assert weighted.effective_sample_size == pytest.approx(25 / 7, abs=1e-14)
    assert weighted.effective_successes == pytest.approx(15 / 7, abs=1e-14)
    assert weighted.share == pytest.approx(0.7, abs=1e-14)
    assert weighted.standard_error == pytest.approx(np.sqrt(0.24 / (25 / 7)) / 0.5, abs=1e-14)


@given(st.lists(st.tuples(st.booleans(), st.floats(0.01, 100)), min_size=1, max_size=50))
def test_unequal_weights_never_count_for_more_than_there_are_reports(
    rows: list[tuple[bool, float]],
) -> None:
    reports, weights = zip(*rows, strict=True)
    weighted = weighted_share(reports=reports, weights=weights, mechanism=COINS)
    assert 1 - 1e-9 <= weighted.effective_sample_size <= len(rows) + 1e-9
    assert 0 <= weighted.effective_successes <= weighted.effective_sample_size


def test_reports_of_weight_zero_do_not_count() -> None:
    with_zero = weighted_share(reports=[1, 0, 1, 1], weights=[1, 2, 1, 0], mechanism=COINS)
    without = weighted_share(reports=[1, 0, 1], weights=[1, 2, 1], mechanism=COINS)
    assert with_zero == without


def test_the_standard_error_matches_the_spread_for_weights_unrelated_to_answers() -> None:
    size = 5000
    generator = np.random.default_rng(22)
    weights = generator.gamma(2.0, size=800)
    reports = generator.random((size, 800)) < 0.25 + 0.5 * 0.2
    each = [weighted_share(reports=row, weights=weights, mechanism=COINS) for row in reports]
    shares = np.array([estimate.share for estimate in each])
    errors = np.array([estimate.standard_error for estimate in each])
    assert abs(shares.mean() - 0.2) < 4.9 * errors.mean() / np.sqrt(size)
    # The spread of 5,000 estimates is accurate to 1 %.
    assert shares.std(ddof=1) / errors.mean() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": [1, -1, 1]}, "weights must not be negative, got -1"),
        ({"weights": [0, 0, 0]}, "weights must not all be 0"),
        ({"weights": [1, np.nan, 1]}, "weights must be finite, got nan"),
        ({"weights": [1, 1]}, "one entry for each of 3 reports, got 2"),
        ({"reports": [0, 1, 2]}, "reports must be 0 or 1"),
        ({"reports": [0, 1, -1]}, "reports must be 0 or 1"),
        ({"reports": [0, 1, 0.5]}, "reports must be 0 or 1"),
        ({"reports": [0, 1, np.nan]}, "reports must be 0 or 1"),
        ({"reports": [], "weights": []}, "at least one report"),
        ({"reports": [[0, 1, 1]]}, "at least one report"),
    ],
)
def test_impossible_reports_and_weights_are_rejected(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"reports": [0, 1, 1], "weights": [1, 1, 2], "mechanism": COINS}
    with pytest.raises(ValueError, match=message):
        weighted_share(**good | change)
