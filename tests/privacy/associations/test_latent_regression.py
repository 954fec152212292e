"""Regression on latent answers: exact where possible, infinite where reports say too little."""

from __future__ import annotations

from itertools import product
from math import inf, log

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, chi2

from privacy.associations import latent_regression
from privacy.associations.latent_profiles import LatentProfiles
from privacy.associations.latent_regression import fit_latent_logistic
from privacy.associations.tables import Variable, estimate_table
from privacy.associations.two_questions import associate
from privacy.mechanism.mechanisms import RandomizedResponse
from tests.support.latent_tables import (
    CHOICE,
    DIRECT,
    LIGHT,
    ONE_IN_A_MILLION,
    PLAIN,
    REFUSABLE,
    expected_counts,
    surveys_of,
    true_table,
)

# A saturated model


@pytest.mark.parametrize(
    ("counts", "variables"),
    [
        ([[250, 250], [200, 300]], [PLAIN, PLAIN]),
        ([[900, 700], [500, 800]], [PLAIN, LIGHT]),
        ([[400, 350], [240, 300]], [LIGHT, PLAIN]),
    ],
)
def test_one_yes_no_predictor_gives_the_log_odds_of_the_table(
    counts: list[list[int]], variables: list[Variable]
) -> None:
    shares = estimate_table(counts=counts, variables=variables).shares
    assert shares.min() > 0
    fit = fit_latent_logistic(counts=counts, variables=variables)
    log_odds = np.log(shares[1] / shares[0])
    assert fit.names == ("intercept", "x1=1")
    assert fit.coefficients == pytest.approx([log_odds[0], log_odds[1] - log_odds[0]], abs=1e-6)
    related = associate(counts=counts, variables=variables, event=1, first=1, second=0)
    assert related.log_odds_ratio.raw == pytest.approx(fit.coefficients[1], abs=1e-6)
    # In a saturated model, the observed information gives the same error as the delta method.
    assert related.log_odds_ratio.standard_error == pytest.approx(fit.standard_errors[1], rel=1e-6)
    assert fit.answered_share == pytest.approx(1)
    assert (fit.total, fit.cells) == (np.sum(counts), 4)


def test_an_odds_ratio_of_6_gives_a_coefficient_of_ln_6() -> None:
    # reports (11, 10, 01, 00) = (300, 200, 250, 250)
    fit = fit_latent_logistic(counts=[[250, 250], [200, 300]], variables=[PLAIN, PLAIN])
    assert fit.coefficients[1] == pytest.approx(1.7917594692, abs=1e-8)
    assert fit.standard_errors[1] == pytest.approx(0.6544121089, abs=1e-8)


# The truth, and direct questions


@pytest.mark.parametrize(
    ("coefficients", "sizes"),
    [
        ([-1.0, 0.7], [2]),
        ([-0.5, 0.8, -0.6], [2, 2]),
        ([0.3, -0.4, 0.9, 0.5], [2, 2, 2]),
        ([-0.4, 0.6, -0.9], [3]),
        ([-0.4, 0.6, -0.9, 0.5], [3, 2]),
    ],
)
def test_expected_counts_return_the_true_coefficients(
    coefficients: list[float], sizes: list[int]
) -> None:
    variables = [PLAIN] + [PLAIN if size == 2 else CHOICE for size in sizes]
    weights = np.arange(1, 1 + np.prod(sizes)) / np.arange(1, 1 + np.prod(sizes)).sum()
    truth = true_table(coefficients, sizes=sizes, weights=weights)
    counts = expected_counts(truth, variables, people=10**13)
    fit = fit_latent_logistic(counts=counts, variables=variables)
    assert fit.coefficients == pytest.approx(coefficients, abs=1e-6)
    assert [test.degrees_of_freedom for test in fit.tests] == [1] * len(coefficients)


def test_direct_questions_give_the_fit_of_statsmodels() -> None:
    from statsmodels import api as statsmodels

    counts = np.array([[[50, 40, 30], [35, 30, 20]], [[20, 30, 45], [30, 25, 44]]])
    three = Variable.plain(RandomizedResponse(symbols=3, threshold=2**32 - 1))
    fit = fit_latent_logistic(counts=counts, variables=[DIRECT, DIRECT, three])
    indicators = np.array(
        [[1.0, first, second == 1, second == 2] for first, second in np.ndindex(*counts.shape[1:])]
    )
    outcome = np.repeat([0, 1], 6)
    rows = np.repeat(np.vstack([indicators, indicators]), counts.ravel(), axis=0)
    theirs = statsmodels.Logit(np.repeat(outcome, counts.ravel()), rows).fit(
        disp=0, tol=1e-12, method="newton"
    )
    assert fit.names == ("intercept", "x1=1", "x2=1", "x2=2")
    assert fit.coefficients == pytest.approx(theirs.params, abs=1e-6)
    assert fit.standard_errors == pytest.approx(theirs.bse, abs=1e-6)
    assert fit.covariance == pytest.approx(theirs.cov_params(), abs=1e-6)
    for column, at in product(range(4), ("low", "high")):
        held = statsmodels.GLM(
            np.repeat(outcome, counts.ravel()),
            np.delete(rows, column, axis=1),
            family=statsmodels.families.Binomial(),
            offset=rows[:, column] * getattr(fit, at)[column],
        ).fit(tol=1e-12)
        assert 2 * (theirs.llf - held.llf) == pytest.approx(chi2.ppf(0.95, df=1), abs=1e-5)
    dropped = [[column] for column in range(4)]
    for columns, test in zip([*dropped, [2, 3]], [*fit.tests, fit.predictor_tests[1]], strict=True):
        without = statsmodels.Logit(
            np.repeat(outcome, counts.ravel()), np.delete(rows, columns, axis=1)
        ).fit(disp=0, tol=1e-12)
        assert test.statistic == pytest.approx(2 * (theirs.llf - without.llf), abs=1e-5)


# Standard errors, coverage and level


@pytest.fixture
def without_adjusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the adjusted shares, which are slow and are tested with the profiles."""
    monkeypatch.setattr(latent_regression, "_adjust", lambda *_: ())


@pytest.mark.long
@pytest.mark.usefixtures("without_adjusted")
@pytest.mark.parametrize(
    ("coefficients", "people", "surveys"),
    [
        ([-0.6, 0.9], 2000, 150),
        ([-0.5, 0.6, -0.4], 5000, 60),
        ([-0.3, 0.5, 0.4, -0.5], 20_000, 40),
    ],
)
def test_standard_errors_and_intervals_hold_in_repeated_surveys(
    coefficients: list[float], people: int, surveys: int
) -> None:
    sizes = [2] * (len(coefficients) - 1)
    variables = [PLAIN] * len(coefficients)
    tables = surveys_of(
        true_table(coefficients, sizes=sizes), variables, people=people, surveys=surveys, seed=31
    )
    fits = [fit_latent_logistic(counts=table, variables=variables) for table in tables]
    found = np.array([fit.coefficients for fit in fits])
    claimed = np.median([fit.standard_errors for fit in fits], axis=0)
    # A standard deviation from 150 surveys is itself uncertain by 6 %.
    assert found.std(axis=0) / claimed == pytest.approx(1, abs=5 / np.sqrt(2 * surveys))
    covered = sum(((fit.low <= coefficients) & (coefficients <= fit.high)) for fit in fits)
    assert (covered >= binom.ppf(ONE_IN_A_MILLION, surveys, 0.94)).all()


@pytest.mark.usefixtures("without_adjusted")
def test_the_test_of_a_predictor_with_no_effect_keeps_its_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(LatentProfiles, "coefficient_interval", lambda *_, **__: (-inf, inf))
    surveys, variables = 200, [PLAIN, PLAIN, PLAIN]
    truth = true_table([-0.5, 0.8, 0.0], sizes=[2, 2])
    tables = surveys_of(truth, variables, people=3000, surveys=surveys, seed=32)
    tests = [fit_latent_logistic(counts=table, variables=variables).tests[2] for table in tables]
    rejected = sum(test.p_value <= 0.05 for test in tests)
    assert rejected <= binom.ppf(1 - ONE_IN_A_MILLION, surveys, 0.05)
    assert {test.method for test in tests} == {"latent_likelihood_ratio"}


def test_reported_predictors_taken_as_true_would_weaken_every_coefficient() -> None:
    truth = true_table([-1.0, 1.5], sizes=[2])
    counts = expected_counts(truth, [PLAIN, PLAIN], people=10**6)
    naive = fit_latent_logistic(counts=counts, variables=[PLAIN, DIRECT])
    latent = fit_latent_logistic(counts=counts, variables=[PLAIN, PLAIN])
    assert latent.coefficients[1] == pytest.approx(1.5, abs=1e-3)
    assert 0 < naive.coefficients[1] < 1.0


# Factors and trends


def test_the_steps_of_a_trend_have_one_coefficient() -> None:
    # The log odds rise by .5 for each step of a rating from 0 to 2.
    event = expit(-0.7 + 0.5 * np.arange(3))
    truth = np.stack([(1 - event) / 3, event / 3])
    counts = expected_counts(truth, [PLAIN, CHOICE], people=10**12)
    fit = fit_latent_logistic(counts=counts, variables=[PLAIN, CHOICE], trends=[1])
    assert fit.names == ("intercept", "x1")
    assert fit.coefficients == pytest.approx([-0.7, 0.5], abs=1e-6)
    [adjusted] = fit.adjusted
    assert adjusted.reference.estimate == pytest.approx(event[0], abs=1e-6)
    assert adjusted.share.estimate == pytest.approx(event[2], abs=1e-6)


def test_the_test_of_a_factor_is_the_likelihood_it_adds() -> None:
    counts = np.array([[[300, 260, 140], [250, 270, 150]], [[200, 240, 90], [230, 250, 160]]])
    variables = [PLAIN, PLAIN, CHOICE]
    whole = fit_latent_logistic(counts=counts, variables=variables)
    first, factor = whole.predictor_tests
    assert first == whole.tests[1]
    assert factor.degrees_of_freedom == 2
    # Without the factor, the joint distribution of both predictors is still unrestricted.
    step = fit_latent_logistic(counts=counts, variables=variables, trends=[2])
    assert factor.statistic is not None
    assert factor.statistic > 2 * (whole.log_likelihood - step.log_likelihood) > 0
    assert factor.statistic == pytest.approx(
        2 * (whole.log_likelihood - step.log_likelihood) + (step.predictor_tests[1].statistic or 0),
        abs=1e-4,
    )
    assert factor.p_value == pytest.approx(chi2.sf(factor.statistic, df=2), rel=1e-9)


# Refusals


def test_people_who_refuse_are_left_out_of_the_model_but_counted() -> None:
    answering = true_table([-0.5, 0.9], sizes=[2])
    truth = np.zeros((3, 3))
    truth[:2, :2] = 0.7 * answering
    # People with the event refuse more often here; the model assumes nothing about who refuses.
    truth[2] = [0.02, 0.15, 0.05]
    truth[:2, 2] = [0.03, 0.05]
    counts = expected_counts(truth, [REFUSABLE, REFUSABLE], people=10**12)
    fit = fit_latent_logistic(counts=counts, variables=[REFUSABLE, REFUSABLE])
    assert fit.names == ("intercept", "x1=1")
    assert fit.coefficients == pytest.approx([-0.5, 0.9], abs=1e-6)
    assert fit.answered_share == pytest.approx(0.7, abs=1e-6)
    assert fit.cells == 9


def test_a_way_to_refuse_costs_precision_even_if_nobody_uses_it() -> None:
    answering = true_table([-0.5, 0.9], sizes=[2])
    padded = np.zeros((3, 3))
    padded[:2, :2] = answering
    plain = fit_latent_logistic(
        counts=expected_counts(answering, [PLAIN, PLAIN], people=10_000), variables=[PLAIN, PLAIN]
    )
    refusable = fit_latent_logistic(
        counts=expected_counts(padded, [REFUSABLE, REFUSABLE], people=10_000),
        variables=[REFUSABLE, REFUSABLE],
    )
    assert refusable.coefficients == pytest.approx(plain.coefficients, abs=0.02)
    assert (refusable.standard_errors > plain.standard_errors).all()


# Where the reports say too little


@pytest.mark.parametrize(
    ("event_share", "other_share"), [(0.0, 0.3), (1.0, 0.3)], ids=["nobody", "everybody"]
)
def test_a_coefficient_without_bound_is_infinite(event_share: float, other_share: float) -> None:
    truth = np.array([[1 - other_share, 1 - event_share], [other_share, event_share]]) / 2
    counts = expected_counts(truth, [LIGHT, LIGHT], people=4000)
    # There are fewer (or more) reports of the event than the channel alone would produce.
    counts[1, 1] += -40 if event_share == 0 else 40
    fit = fit_latent_logistic(counts=counts, variables=[LIGHT, LIGHT])
    assert fit.coefficients[1] == (inf if event_share else -inf)
    # The intercept describes people with the other answer, and the intervals are those for the
    # whole table.
    assert fit.coefficients[0] == pytest.approx(log(other_share / (1 - other_share)), abs=0.05)
    whole = associate(
        counts=counts, variables=[LIGHT, LIGHT], event=1, first=1, second=0, level=0.95
    )
    ends = (fit.low[1], fit.high[1])
    assert ends == pytest.approx((whole.log_odds_ratio.low, whole.log_odds_ratio.high), abs=1e-3)
    [adjusted] = fit.adjusted
    for ours, theirs in (
        (adjusted.share, whole.share_first),
        (adjusted.reference, whole.share_second),
        (adjusted.difference, whole.difference),
    ):
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=2e-4)


def test_an_answer_that_nobody_gave_has_no_limits_and_leaves_the_others() -> None:
    truth = true_table([-0.5, 0.9], sizes=[2])
    padded = np.concatenate([truth, np.zeros((2, 1))], axis=1)
    counts = expected_counts(padded, [PLAIN, CHOICE], people=4000)
    counts[:, 2] -= 60
    fit = fit_latent_logistic(counts=counts, variables=[PLAIN, CHOICE])
    assert (fit.low[2], fit.high[2]) == (-inf, inf)
    assert fit.coefficients[:2] == pytest.approx([-0.5, 0.9], abs=0.2)
    assert -inf < fit.low[1] < fit.coefficients[1] < fit.high[1] < inf


def test_a_rare_event_can_be_regressed_on_a_predictor() -> None:
    # For an intercept of 0, half of one group must have the event. The other group would then need
    # an impossible share. This must not prevent the fit.
    truth = true_table([-2.2, 0.5], sizes=[2])
    counts = expected_counts(truth, [PLAIN, PLAIN], people=5000)
    fit = fit_latent_logistic(counts=counts, variables=[PLAIN, PLAIN])
    assert fit.coefficients == pytest.approx([-2.2, 0.5], abs=0.02)
    assert fit.tests[0].p_value < 0.001
    assert fit.tests[1].p_value > 0.05
    assert np.isfinite(fit.standard_errors).all()


# Bad input

TWO = np.full((2, 2), 100)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"variables": [PLAIN], "counts": [1, 2]}, "an outcome and at least one predictor, got 1"),
        (
            {"variables": [CHOICE, PLAIN], "counts": np.full((3, 2), 9)},
            "must start with an outcome that has two answers, got 3",
        ),
        ({"counts": np.full((2, 3), 9)}, r"counts must have the shape \(2, 2\)"),
        ({"counts": np.zeros((2, 2))}, "counts must hold at least one report"),
        ({"counts": -TWO}, "counts must be whole and not negative"),
        ({"counts": TWO + 0.5}, "counts must be whole and not negative"),
        ({"level": 1.0}, r"level must lie in \(0, 1\), got 1.0"),
        ({"level": 0.0}, r"level must lie in \(0, 1\), got 0.0"),
        ({"trends": [0]}, r"trends must be places of predictors, from 1 to 1, got \[0\]"),
        ({"trends": [2]}, r"trends must be places of predictors, from 1 to 1, got \[2\]"),
        ({"names": ["a"]}, r"names must have 2 entries, got \['a'\]"),
    ],
)
def test_models_that_cannot_be_fitted_are_rejected(where: dict[str, object], message: str) -> None:
    usual: dict[str, object] = {"counts": TWO, "variables": [PLAIN, PLAIN]}
    with pytest.raises(ValueError, match=message):
        fit_latent_logistic(**(usual | where))  # type: ignore[arg-type]


def test_models_with_too_many_cells_are_rejected() -> None:
    counts = np.ones((2,) * 11, dtype=np.int64)
    with pytest.raises(ValueError, match="at most 1024 cells, got 2048"):
        fit_latent_logistic(counts=counts, variables=[PLAIN] * 11)
