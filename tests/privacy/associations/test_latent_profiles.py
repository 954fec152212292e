"""Intervals of a regression agree with those of two questions and with the regression's tests."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from privacy.associations.latent_regression import LatentLogisticFit, fit_latent_logistic
from privacy.associations.tables import Variable
from privacy.associations.two_questions import associate
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


@pytest.mark.parametrize(
    ("counts", "variables"),
    [
        ([[250, 250], [200, 300]], [PLAIN, PLAIN]),
        ([[900, 700], [500, 800]], [LIGHT, PLAIN]),
        ([[400, 350], [240, 260]], [PLAIN, DIRECT]),
        (
            expected_counts(
                np.array([[0.2, 0.12, 0.06], [0.12, 0.2, 0.06], [0.06, 0.06, 0.12]]),
                [REFUSABLE, REFUSABLE],
                people=20_000,
            ).tolist(),
            [REFUSABLE, REFUSABLE],
        ),
    ],
)
def test_one_predictor_has_the_intervals_of_two_questions(
    counts: list[list[int]], variables: list[Variable]
) -> None:
    fit = fit_latent_logistic(counts=counts, variables=variables, level=0.9)
    found = associate(counts=counts, variables=variables, event=1, first=1, second=0, level=0.9)
    assert fit.low[1] == pytest.approx(log(found.odds_ratio.low), abs=1e-4)
    assert fit.high[1] == pytest.approx(log(found.odds_ratio.high), abs=1e-4)
    [adjusted] = fit.adjusted
    for one, other in (
        (adjusted.share, found.share_first),
        (adjusted.reference, found.share_second),
        (adjusted.difference, found.difference),
    ):
        assert (one.estimate, one.low, one.high) == pytest.approx(
            (other.estimate, other.low, other.high), abs=1e-4
        )


def test_a_predictor_with_three_answers_is_compared_with_its_first() -> None:
    truth = true_table([-0.4, 0.6, -0.9, 0.5], sizes=[3, 2])
    counts = expected_counts(truth, [PLAIN, CHOICE, PLAIN], people=10**9)
    fit = fit_latent_logistic(counts=counts, variables=[PLAIN, CHOICE, PLAIN])
    assert [one.name for one in fit.adjusted] == ["x1=1", "x1=2", "x2=1"]
    event = truth[1] / truth.sum(axis=0)
    share_of_x2 = truth.sum(axis=(0, 1))
    by_x1 = event @ share_of_x2
    assert [one.share.estimate for one in fit.adjusted[:2]] == pytest.approx(by_x1[1:], abs=1e-3)
    assert fit.adjusted[0].reference == fit.adjusted[1].reference
    assert fit.adjusted[1].difference.estimate == pytest.approx(by_x1[2] - by_x1[0], abs=1e-3)


def test_an_end_that_the_reports_do_not_determine_is_infinite() -> None:
    truth = np.array([[0.25, 0.485], [0.25, 0.015]])
    counts = expected_counts(truth, [PLAIN, PLAIN], people=1000)
    fit = fit_latent_logistic(counts=counts, variables=[PLAIN, PLAIN])
    assert fit.low[1] == -inf
    assert np.isfinite(fit.high[1])
    assert fit.adjusted[0].share.low < 1e-6


def test_with_one_factor_the_intervals_are_those_of_the_whole_table() -> None:
    """This holds even for an unbounded odds ratio: perhaps nobody in the group has the event."""
    share, event = np.array([0.6, 0.32, 0.08]), 0.1
    truth = np.stack([share * (1 - event), share * event])
    variables = [PLAIN, CHOICE]
    # From one of its two starting points, EM ends at a lower peak in the last table.
    for table in list(surveys_of(truth, variables, people=2000, surveys=12, seed=5))[8:]:
        fit = fit_latent_logistic(counts=table, variables=variables)
        for answer, adjusted in enumerate(fit.adjusted, start=1):
            whole = associate(
                counts=table, variables=variables, event=1, first=answer, second=0, level=0.95
            )
            for ours, theirs in (
                (adjusted.share, whole.share_first),
                (adjusted.reference, whole.share_second),
                (adjusted.difference, whole.difference),
            ):
                assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=2e-3)
            ends = (whole.log_odds_ratio.low, whole.log_odds_ratio.high)
            assert (fit.low[answer], fit.high[answer]) == pytest.approx(ends, abs=1e-3)


def is_related(fit: LatentLogisticFit) -> NDArray[np.bool_]:
    """Return whether the interval of each odds ratio excludes 1."""
    related: NDArray[np.bool_] = (fit.low > 0) | (fit.high < 0)
    return related[1:]


def check_agreement(fit: LatentLogisticFit) -> None:
    """Check that the test, the odds ratio and the adjusted difference agree with each other."""
    by_test = [test.p_value <= 1 - fit.level for test in fit.tests[1:]]
    by_difference = [one.difference.low > 0 or one.difference.high < 0 for one in fit.adjusted]
    assert is_related(fit).tolist() == by_test == by_difference


NULL = true_table([-0.85, 0.0, 0.0, 0.0], sizes=[2, 2, 2])


@pytest.mark.long
@pytest.mark.parametrize("predictor", [PLAIN, DIRECT], ids=["scrambled", "declared"])
def test_of_models_without_any_relation_few_call_one_related(predictor: Variable) -> None:
    surveys, variables = 25, [PLAIN, PLAIN, predictor, PLAIN]
    tables = surveys_of(NULL, variables, people=3000, surveys=surveys, seed=41)
    fits = [
        fit_latent_logistic(counts=one, variables=variables, level=1 - 0.05 / 3) for one in tables
    ]
    for fit in fits:
        check_agreement(fit)
    called = sum(is_related(fit).any() for fit in fits)
    assert called <= binom.isf(ONE_IN_A_MILLION, surveys, 0.05)


@pytest.mark.long
def test_adjusted_shares_and_differences_cover_the_truth() -> None:
    surveys, variables = 40, [PLAIN, PLAIN, PLAIN]
    truth = true_table([-1.0, 1.2, -0.6], sizes=[2, 2])
    event, rows = truth[1] / truth.sum(axis=0), truth.sum(axis=0)
    by_first = event @ rows.sum(axis=0)
    tables = surveys_of(truth, variables, people=3000, surveys=surveys, seed=42)
    missed = np.zeros(3)
    for table in tables:
        found = fit_latent_logistic(counts=table, variables=variables).adjusted[0]
        expected = (by_first[1], by_first[0], by_first[1] - by_first[0])
        for place, (one, true) in enumerate(
            zip((found.share, found.reference, found.difference), expected, strict=True)
        ):
            missed[place] += not one.low <= true <= one.high
    assert (missed <= binom.isf(ONE_IN_A_MILLION, surveys, 0.05)).all()
