"""Logistic regression on reports: checked exactly where possible, by simulation elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import binom, chi2

from privacy.associations.known_predictors import search
from privacy.associations.known_predictors.intervals import FittedModel
from privacy.associations.known_predictors.regression import LogisticFit, fit_logistic
from privacy.associations.known_predictors.rows import ReportRows, rest_probability
from privacy.associations.known_predictors.search import maximize, rotate_design
from privacy.associations.maximum_likelihood import NotSettledError, SeparationError
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.intervals import likelihood_ratio
from tests.support.sampling.estimates import estimate_alone

TWO_COINS: dict[str, Any] = {"other_probability": 0.25, "slope": 0.5}
DIRECT: dict[str, Any] = {"other_probability": 0, "slope": 1}
GROUPS: dict[str, Any] = {"design": [[1, 0], [1, 1]], "names": ["intercept", "group"]}
# Six cells, two predictors, three channels.
CELLS = np.array([[1, x, z] for x in (0, 1) for z in (-1.0, 0.5, 2.0)])
MIXED: dict[str, Any] = {
    "other_probability": np.array([0.25, 0.1, 0.0, 0.25, 0.1, 0.2]),
    "slope": np.array([0.5, 0.8, 1.0, 0.5, 0.6, 0.6]),
}
TRUTH = np.array([-0.7, 0.9, 0.4])


def reported(beta: NDArray[np.float64]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = MIXED["other_probability"] + MIXED["slope"] * expit(CELLS @ beta)
    return shares


def draw_reports(rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    design = np.column_stack([np.ones(rows), generator.normal(size=(rows, 2))])
    chance = expit(design @ TRUTH)
    return design, generator.binomial(1, chance)


def assert_same(one: LogisticFit, other: LogisticFit) -> None:
    assert one.coefficients == pytest.approx(other.coefficients, abs=1e-9)
    assert one.covariance == pytest.approx(other.covariance, abs=1e-9)
    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-8)
    for first, second in zip(one.odds_ratios, other.odds_ratios, strict=True):
        assert first.profile_low == pytest.approx(second.profile_low, rel=1e-5)
        assert first.profile_high == pytest.approx(second.profile_high, rel=1e-5)
    for test, same in zip(one.tests, other.tests, strict=True):
        assert test.statistic == pytest.approx(same.statistic, abs=1e-7)


# Agreement with known results ---------------------------------------------------------------


def test_without_a_channel_it_is_the_logistic_regression_of_statsmodels() -> None:
    from statsmodels import api

    design, shown = draw_reports(400, seed=3)
    theirs = api.GLM(shown, design, family=api.families.Binomial()).fit(tol=1e-15)
    ours = fit_logistic(design=design, successes=shown, totals=np.ones(400, dtype=int), **DIRECT)
    assert ours.coefficients == pytest.approx(theirs.params, abs=1e-8)
    assert ours.standard_errors == pytest.approx(theirs.bse, abs=1e-8)
    assert ours.log_likelihood == pytest.approx(theirs.llf, abs=1e-8)
    assert ours.overall_test is not None
    assert ours.overall_test.statistic == pytest.approx(2 * (theirs.llf - theirs.llnull), abs=1e-7)
    without = api.GLM(shown, design[:, :2], family=api.families.Binomial()).fit(tol=1e-15)
    assert ours.tests[2].statistic == pytest.approx(2 * (theirs.llf - without.llf), abs=1e-7)


def test_grouped_rows_agree_with_statsmodels_too() -> None:
    from statsmodels import api

    totals = np.array([40, 55, 60, 38, 71, 52])
    shown = np.array([9, 21, 30, 17, 44, 41])
    counts = np.column_stack([shown, totals - shown])
    theirs = api.GLM(counts, CELLS, family=api.families.Binomial()).fit(tol=1e-15)
    ours = fit_logistic(design=CELLS, successes=shown, totals=totals, **DIRECT)
    assert ours.coefficients == pytest.approx(theirs.params, abs=1e-8)
    assert ours.standard_errors == pytest.approx(theirs.bse, abs=1e-8)
    assert ours.goodness_of_fit is not None
    assert ours.goodness_of_fit.statistic == pytest.approx(theirs.deviance, abs=1e-8)
    assert ours.goodness_of_fit.degrees_of_freedom == theirs.df_resid


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 49), st.integers(2, 98)), min_size=2, max_size=5))
def test_a_saturated_model_returns_the_raw_share_of_every_group(
    groups: list[tuple[int, int]],
) -> None:
    mechanisms = [RandomizedResponse.from_flips(symbols=2, flips=flips) for flips, _ in groups]
    c = np.array([mechanism.other_probability for mechanism in mechanisms])
    d = np.array([mechanism.slope for mechanism in mechanisms])
    shown = np.rint(100_000 * (c + d * [percent / 100 for _, percent in groups])).astype(int)
    design = np.eye(len(groups))
    design[:, 0] = 1
    fit = fit_logistic(
        design=design,
        successes=shown,
        totals=np.full(len(groups), 100_000),
        other_probability=c,
        slope=d,
    )
    raw = (shown / 100_000 - c) / d
    predicted = fit.predict(design=design)
    assert predicted.shares == pytest.approx(raw, abs=1e-8)
    for j, mechanism in enumerate(mechanisms):
        counts = [100_000 - int(shown[j]), int(shown[j])]
        same = estimate_alone(counts=counts, mechanism=mechanism)
        assert predicted.standard_errors[j] == pytest.approx(same.standard_errors[1], rel=1e-6)
    assert fit.goodness_of_fit is None


def test_exact_expected_counts_return_the_truth_through_mixed_channels() -> None:
    totals = np.full(6, 10**13)
    shown = np.rint(totals * reported(TRUTH)).astype(np.int64)
    fit = fit_logistic(design=CELLS, successes=shown, totals=totals, **MIXED)
    assert fit.coefficients == pytest.approx(TRUTH, abs=1e-9)


def test_the_maximum_and_its_covariance_match_the_likelihood_written_out() -> None:
    totals = np.array([900, 800, 700, 850, 950, 750])
    shown = np.rint(totals * reported(TRUTH)).astype(int)
    shown += np.array([9, -12, 4, -3, 14, -8])

    def loss(beta: NDArray[np.float64]) -> float:
        chance = reported(beta)
        return -float(shown @ np.log(chance) + (totals - shown) @ np.log(1 - chance))

    fit = fit_logistic(design=CELLS, successes=shown, totals=totals, **MIXED)
    best = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-4})
    assert fit.coefficients == pytest.approx(best.x, abs=1e-5)
    assert fit.log_likelihood == pytest.approx(-best.fun, abs=1e-7)
    share, chance = expit(CELLS @ fit.coefficients), reported(fit.coefficients)
    weight = totals * (MIXED["slope"] * share * (1 - share)) ** 2 / (chance * (1 - chance))
    information = CELLS.T @ (weight[:, None] * CELLS)
    assert fit.covariance == pytest.approx(np.linalg.inv(information), abs=1e-12)
    # At an end of a profile interval, the log-likelihood maximized over the other coefficients
    # is half the quantile below the maximum.
    for j, ratio in enumerate(fit.odds_ratios):
        for end in (ratio.profile_low, ratio.profile_high):
            held = np.log(end)
            others = np.delete(fit.coefficients, j)
            lower = minimize(lambda rest, j=j, held=held: loss(np.insert(rest, j, held)), others)
            assert 2 * (lower.fun + fit.log_likelihood) == pytest.approx(
                chi2.ppf(0.95, 1), abs=1e-4
            )


@pytest.mark.parametrize("shown", [260, 300, 400, 500, 745])
def test_one_group_s_profile_interval_is_the_likelihood_ratio_interval(shown: int) -> None:
    fit = fit_logistic(design=[[1]], successes=[shown], totals=[1000], **TWO_COINS)
    interval = likelihood_ratio(successes=shown, total=1000, **TWO_COINS)
    low, high = float(interval.low), float(interval.high)
    ratio = fit.odds_ratios[0]
    assert ratio.profile_low == pytest.approx(low / (1 - low), rel=1e-5)
    assert ratio.profile_high == pytest.approx(high / (1 - high) if high < 1 else np.inf, rel=1e-5)
    assert ratio.value == pytest.approx(np.exp(logit(shown / 500 - 0.5)), rel=1e-9)
    reach = 1.959963984540054 * fit.standard_errors[0]
    assert ratio.wald_high == pytest.approx(ratio.value * np.exp(reach), rel=1e-9)
    assert ratio.wald_low == pytest.approx(ratio.value / np.exp(reach), rel=1e-9)


def test_where_reports_cannot_exclude_a_share_of_zero_the_profile_end_is_infinite() -> None:
    fit = fit_logistic(**GROUPS, successes=[400, 260], totals=[1000, 1000], **TWO_COINS)
    group = fit.odds_ratios[1]
    assert group.profile_low == 0
    assert 0 < group.wald_low < group.value < group.profile_high < 1


# Properties ---------------------------------------------------------------------------------


def test_grouping_rows_changes_nothing() -> None:
    design, shown = draw_reports(240, seed=5)
    design = np.rint(design)
    single = fit_logistic(design=design, successes=shown, totals=np.ones(240, dtype=int), **DIRECT)
    rows, which = np.unique(design, axis=0, return_inverse=True)
    grouped = fit_logistic(
        design=rows[::-1],
        successes=np.bincount(which, weights=shown).astype(int)[::-1],
        totals=np.bincount(which)[::-1],
        **DIRECT,
    )
    assert_same(single, grouped)


def test_a_column_of_years_next_to_an_intercept_loses_no_digits() -> None:
    years = np.arange(1950, 2006)
    design = np.column_stack([np.ones(56), years - 1978])
    totals = np.full(56, 300)
    shown = np.rint(totals * (0.25 + 0.5 * expit((years - 1970) / 20))).astype(int)
    shown += np.arange(56) % 7 - 3
    plain = fit_logistic(design=design, successes=shown, totals=totals, **TWO_COINS)
    design[:, 1] = years
    offset = fit_logistic(design=design, successes=shown, totals=totals, **TWO_COINS)
    assert offset.coefficients[1] == pytest.approx(plain.coefficients[1], rel=1e-10)
    assert offset.odds_ratios[1].profile_low == pytest.approx(plain.odds_ratios[1].profile_low)
    assert offset.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-8)


def test_swapping_yes_and_no_reverses_the_signs() -> None:
    totals = np.array([900, 800, 700, 850, 950, 750])
    shown = np.rint(totals * reported(TRUTH)).astype(int)
    yes = fit_logistic(design=CELLS, successes=shown, totals=totals, **MIXED)
    rest = 1 - MIXED["other_probability"] - MIXED["slope"]
    no = fit_logistic(
        design=CELLS,
        successes=totals - shown,
        totals=totals,
        other_probability=np.maximum(rest, 0),
        slope=MIXED["slope"],
    )
    assert no.coefficients == pytest.approx(-yes.coefficients, abs=1e-9)
    assert no.covariance == pytest.approx(yes.covariance, abs=1e-12)


# Tests and fit ------------------------------------------------------------------------------


def test_the_statistic_of_two_groups_is_twice_the_gain_over_one_common_share() -> None:
    fit = fit_logistic(**GROUPS, successes=[400, 500], totals=[1000, 1000], **TWO_COINS)
    apart = 400 * np.log(0.4) + 600 * np.log(0.6) + 1000 * np.log(0.5)
    together = 900 * np.log(0.45) + 1100 * np.log(0.55)
    for test in (fit.tests[1], fit.overall_test):
        assert test is not None
        assert test.statistic == pytest.approx(2 * (apart - together), abs=1e-9)
        assert test.degrees_of_freedom == 1
        assert test.p_value == pytest.approx(chi2.sf(2 * (apart - together), 1), rel=1e-9)


def test_the_common_share_is_tested_only_where_it_is_a_special_case() -> None:
    counts: dict[str, Any] = {"successes": [400, 500, 450], "totals": [1000] * 3, **TWO_COINS}
    indicators = fit_logistic(design=np.eye(3), **counts)  # they add up to an intercept
    assert indicators.overall_test is not None
    assert indicators.overall_test.degrees_of_freedom == 2
    assert fit_logistic(design=[[1], [1], [1]], **counts).overall_test is None
    assert fit_logistic(design=[[0], [1], [2]], **counts).overall_test is None


def test_single_reports_have_no_goodness_of_fit() -> None:
    design, shown = draw_reports(100, seed=8)
    fit = fit_logistic(design=design, successes=shown, totals=np.ones(100, dtype=int), **DIRECT)
    assert fit.goodness_of_fit is None


def replicate(
    beta: NDArray[np.float64], *, size: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Estimates, standard errors and statistics of the second coefficient, from many surveys.

    Call what `fit_logistic` calls, once per survey. Designs and totals are always the same, and
    profile intervals would take most of the time.
    """
    totals = np.full(6, 700)
    surveys = np.random.default_rng(seed).binomial(totals, reported(beta), size=(size, 6))
    c, d = MIXED["other_probability"], MIXED["slope"]
    rest = rest_probability(c, d)
    empty = ReportRows(design=CELLS, successes=totals, failures=totals, c=c, d=d, rest=rest)
    basis, triangle = rotate_design(empty, CELLS)
    estimates, errors, statistics = [], [], []
    for shown in surveys.astype(np.float64):
        cells = replace(empty, successes=shown, failures=totals - shown)
        best = maximize(cells, basis)
        assert best.converged
        assert not best.singular
        inverse = np.linalg.inv(triangle)
        root = inverse @ best.vectors / np.sqrt(best.values)
        estimates.append((inverse @ best.position)[1])
        errors.append(np.sqrt((root @ root.T)[1, 1]))
        model = FittedModel.of(cells, best, basis=basis, triangle=triangle)
        statistics.append(model.test_without(1).statistic)
    first = fit_logistic(design=CELLS, successes=surveys[0], totals=totals, **MIXED)
    assert first.coefficients[1] == pytest.approx(estimates[0], abs=1e-9)
    assert first.standard_errors[1] == pytest.approx(errors[0], abs=1e-9)
    assert first.tests[1].statistic == pytest.approx(statistics[0], abs=1e-7)
    return np.array(estimates), np.array(errors), np.array(statistics)


@pytest.mark.slow
def test_standard_errors_match_the_spread_of_replicated_surveys() -> None:
    estimates, errors, _ = replicate(TRUTH, size=1300, seed=11)
    # The spread of 1,300 estimates is accurate to 2 %. It is off by more than 10 % less than once
    # in a million.
    assert estimates.std(ddof=1) / errors.mean() == pytest.approx(1, abs=0.1)
    assert abs(estimates.mean() - TRUTH[1]) < 4.9 * errors.mean() / np.sqrt(1300) + 0.01


@pytest.mark.slow
def test_the_likelihood_ratio_test_keeps_its_level() -> None:
    _, _, statistics = replicate(np.array([-0.7, 0.0, 0.4]), size=2000, seed=12)
    for level in (0.05, 0.2):
        rejected = int((statistics > chi2.isf(level, 1)).sum())
        assert binom.cdf(rejected, 2000, level) > 5e-7
        assert binom.sf(rejected - 1, 2000, level) > 5e-7


# Bad input ----------------------------------------------------------------------------------

LINE = np.column_stack([np.ones(20), np.arange(20.0)])
STEP = (np.arange(20) > 9).astype(int)


@pytest.mark.parametrize(
    ("design", "successes", "totals", "channel", "names"),
    [
        (GROUPS["design"], [400, 200], [1000, 1000], TWO_COINS, ("x2",)),  # raw share below 0
        (GROUPS["design"], [400, 250], [1000, 1000], TWO_COINS, ("x2",)),  # exactly 0
        (GROUPS["design"], [400, 750], [1000, 1000], TWO_COINS, ("x2",)),  # exactly 1
        (GROUPS["design"], [100, 500], [1000, 1000], TWO_COINS, ("x1", "x2")),
        (GROUPS["design"], [400, 0], [1000, 1000], DIRECT, ("x2",)),
        ([[1]], [10], [10], DIRECT, ("x1",)),
        (LINE, STEP, np.ones(20, dtype=int), DIRECT, ("x1", "x2")),
        (LINE, STEP, np.ones(20, dtype=int), TWO_COINS, ("x1", "x2")),
    ],
)
def test_the_error_names_coefficients_that_grow_without_bound(
    design: Any, successes: Any, totals: Any, channel: dict[str, Any], names: tuple[str, ...]
) -> None:
    with pytest.raises(SeparationError, match="grows without bound") as refusal:
        fit_logistic(design=design, successes=successes, totals=totals, **channel)
    assert refusal.value.names == names
    assert all(repr(name) in str(refusal.value) for name in names)
    assert "Merge" in str(refusal.value)


def test_a_very_small_share_is_not_mistaken_for_zero() -> None:
    fit = fit_logistic(design=[[1]], successes=[1], totals=[10**9], **DIRECT)
    assert fit.coefficients[0] == pytest.approx(logit(1e-9), abs=1e-9)
    assert fit.standard_errors[0] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"design": [[1, 0]], "successes": [4], "totals": [9]}, "at least 2 rows.*got 1"),
        ({"design": [[1, 1], [1, 1]]}, "independent columns: 'group'.*'intercept'"),
        ({"design": [[0, 1], [0, 2]]}, "independent columns: 'intercept' is zero"),
        ({"design": [1, 2]}, "design must have the shape"),
        ({"design": np.ones((2, 0))}, "design must have the shape"),
        ({"design": [[1, np.nan], [1, 1]]}, "design must be finite, got nan"),
        ({"design": [[1, 0], [1, np.inf]]}, "design must be finite, got inf"),
        ({"totals": [1000, 0], "successes": [400, 0]}, "totals must be at least 1.*got 0"),
        ({"successes": [400, 1001]}, "from 0 to totals, got 1001 of 1000"),
        ({"successes": [-1, 500]}, "successes must be whole and not negative"),
        ({"successes": [400, np.nan]}, "successes must be whole and not negative"),
        ({"successes": [400.5, 500]}, "successes must be whole and not negative"),
        ({"successes": [400]}, "successes must have one entry"),
        ({"totals": [1000, 1000, 1000]}, "totals must have one entry"),
        ({"other_probability": -0.1}, "other_probability must be at least 0, got -0.1"),
        ({"other_probability": [0.25, np.nan]}, "other_probability must be finite"),
        ({"other_probability": [0.25] * 3}, "other_probability must be one number or one for"),
        ({"slope": 0}, "slope must be positive, got 0"),
        ({"slope": [0.5, -0.5]}, "slope must be positive, got -0.5"),
        ({"slope": 0.8}, "must be at most 1, got 1.05"),
        ({"names": ["group", "group"]}, "2 different names"),
        ({"names": ["group"]}, "2 different names"),
        ({"level": 1.0}, "level must lie in"),
    ],
)
def test_impossible_data_are_rejected(change: dict[str, Any], message: str) -> None:
    good = {**GROUPS, "successes": [400, 500], "totals": [1000, 1000], **TWO_COINS}
    with pytest.raises(ValueError, match=message):
        fit_logistic(**good | change)


@pytest.mark.parametrize(
    ("design", "message"),
    [([[1.0]], "2 columns, got 1"), ([[1.0, np.nan]], "finite"), ([1.0, 2.0], "the shape")],
)
def test_predictors_that_do_not_fit_the_model_are_rejected(design: Any, message: str) -> None:
    fit = fit_logistic(**GROUPS, successes=[400, 500], totals=[1000, 1000], **TWO_COINS)
    with pytest.raises(ValueError, match=message):
        fit.predict(design=design)


def test_scoring_that_does_not_converge_gives_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_MAX_ITERATIONS", 1)
    with pytest.raises(NotSettledError, match="in 1 iterations"):
        fit_logistic(**GROUPS, successes=[300, 700], totals=[1000, 1000], **TWO_COINS)
