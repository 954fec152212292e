"""Tests on reports keep their level, and agree with standard software."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom, chi2_contingency, fisher_exact

from privacy.associations.significance import (
    SMALLEST_EXPECTED,
    adjust_for_multiplicity,
    homogeneity_test,
    independence_test,
)
from privacy.associations.tables import Variable, kronecker
from privacy.mechanism.mechanisms import RandomizedResponse

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
PLAIN = Variable.plain(COINS)
THREE = RandomizedResponse.from_flips(symbols=3, flips=25)
CHOICE = Variable.plain(THREE)
REFUSABLE = Variable(mechanism=THREE, categories=((0,), (1,), (2,)), answered=2)
ONE_IN_A_MILLION = 1e-6

small_tables = st.lists(st.integers(0, 30), min_size=4, max_size=4).map(
    lambda cells: np.array(cells).reshape(2, 2)
)


def simulate(
    truth: ArrayLike, variables: list[Variable], *, people: int, surveys: int, seed: int
) -> NDArray[np.int64]:
    shares = np.asarray(truth, dtype=np.float64)
    reported = kronecker([variable.channel() for variable in variables]) @ shares.ravel()
    counts = np.random.default_rng(seed).multinomial(people, reported, size=surveys)
    return counts.reshape(surveys, *shares.shape)


def with_refusals(*, both_refuse: float, first: float, second: float) -> NDArray[np.float64]:
    """Return independent answers of people who answer both questions or neither."""
    truth = np.zeros((3, 3))
    truth[2, 2] = both_refuse
    truth[:2, :2] = (1 - both_refuse) * np.outer([1 - first, first], [1 - second, second])
    return truth


def most_rejections(surveys: int, *, level: float = 0.05) -> int:
    return int(binom.ppf(1 - ONE_IN_A_MILLION, surveys, level))


def fewest_rejections(surveys: int, *, power: float) -> int:
    return int(binom.ppf(ONE_IN_A_MILLION, surveys, power))


# Independence and homogeneity


def test_a_two_by_two_table_gives_its_statistic() -> None:
    found = independence_test(counts=[[250, 250], [200, 300]], variables=[PLAIN, PLAIN])
    assert found.method == "pearson"
    assert found.degrees_of_freedom == 1
    assert found.statistic == pytest.approx(10.10101010, abs=5e-9)
    assert found.p_value == pytest.approx(0.00148188, abs=5e-9)


@given(st.lists(st.integers(1, 400), min_size=12, max_size=12))
def test_pearson_s_test_matches_scipy(cells: list[int]) -> None:
    table = np.array(cells).reshape(3, 4)
    found = homogeneity_test(counts=table)
    theirs = chi2_contingency(table, correction=False)
    assert found.method == "pearson"
    assert found.statistic == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-9)
    assert found.degrees_of_freedom == theirs.dof
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


@given(
    small_tables.filter(lambda table: min(*table.sum(axis=0), *table.sum(axis=1)) > 0),
)
def test_small_tables_of_four_cells_get_fisher_s_test(table: NDArray[np.int64]) -> None:
    found = homogeneity_test(counts=table)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    if expected.min() < SMALLEST_EXPECTED:
        assert found.method == "fisher_exact"
        assert found.statistic is None
        assert found.degrees_of_freedom is None
        assert found.p_value == pytest.approx(fisher_exact(table).pvalue, rel=1e-9)
    else:
        assert found.method == "pearson"


def test_rows_and_columns_without_reports_are_left_out() -> None:
    full = homogeneity_test(counts=[[30, 20], [25, 40]])
    assert homogeneity_test(counts=[[30, 0, 20], [0, 0, 0], [25, 0, 40]]) == full


@pytest.mark.parametrize("counts", [[[3, 0], [0, 0]], [[0, 7], [0, 5]], [[4, 6], [0, 0]]])
def test_identical_reports_are_no_evidence_against_independence(
    counts: list[list[int]],
) -> None:
    assert independence_test(counts=counts, variables=[PLAIN, PLAIN]).p_value == 1


@pytest.mark.parametrize(
    ("truth", "variables", "people"),
    [
        (np.outer([0.8, 0.2], [0.7, 0.3]), [PLAIN, PLAIN], 400),
        (np.outer([1.0, 0.0], [0.5, 0.5]), [PLAIN, PLAIN], 1000),
        (np.outer([0.7, 0.2, 0.1], [0.9, 0.1]), [CHOICE, PLAIN], 600),
    ],
)
def test_independence_of_answers_is_rejected_no_more_often_than_promised(
    truth: NDArray[np.float64], variables: list[Variable], people: int
) -> None:
    surveys = 4000
    tables = simulate(truth, variables, people=people, surveys=surveys, seed=5)
    rejected = sum(
        independence_test(counts=table, variables=variables).p_value <= 0.05 for table in tables
    )
    # With a finite number of people, Pearson's level is within a few thousandths of .05.
    assert fewest_rejections(surveys, power=0.047) <= rejected
    assert rejected <= most_rejections(surveys, level=0.053)


def test_strong_dependence_is_found() -> None:
    # The answers of 80 in 100 people agree: the noncentrality is 2000 (.5 · .5 · .6)² = 45, so
    # rejection is almost certain.
    truth = [[0.4, 0.1], [0.1, 0.4]]
    tables = simulate(truth, [PLAIN, PLAIN], people=2000, surveys=200, seed=6)
    rejected = sum(
        independence_test(counts=table, variables=[PLAIN, PLAIN]).p_value <= 0.05
        for table in tables
    )
    assert rejected >= fewest_rejections(200, power=0.999)


# Independence among those who answer


@pytest.mark.parametrize(
    ("both_refuse", "first", "second", "people"),
    [(0.3, 0.4, 0.4, 2000), (0.25, 0.5, 0.5, 3000), (0.3, 0.1, 0.2, 1000)],
)
def test_people_who_refuse_both_do_not_make_their_answers_dependent(
    both_refuse: float, first: float, second: float, people: int
) -> None:
    surveys = 100
    variables = [REFUSABLE, REFUSABLE]
    truth = with_refusals(both_refuse=both_refuse, first=first, second=second)
    tables = simulate(truth, variables, people=people, surveys=surveys, seed=7)
    latent = [independence_test(counts=table, variables=variables) for table in tables]
    assert {(test.method, test.degrees_of_freedom) for test in latent} == {
        ("latent_likelihood_ratio", 1)
    }
    assert sum(test.p_value <= 0.05 for test in latent) <= most_rejections(surveys)
    # Pearson's test rejects independence on the same reports, only because people refuse both
    # questions or neither.
    naive = sum(homogeneity_test(counts=table).p_value <= 0.05 for table in tables)
    assert naive > most_rejections(surveys, level=0.5)


def test_dependent_answers_are_found_among_those_who_answer() -> None:
    truth = np.zeros((3, 3))
    truth[2, 2] = 0.2
    truth[:2, :2] = 0.8 * np.array([[0.4, 0.1], [0.1, 0.4]])
    tables = simulate(truth, [REFUSABLE, REFUSABLE], people=5000, surveys=60, seed=8)
    rejected = sum(
        independence_test(counts=table, variables=[REFUSABLE, REFUSABLE]).p_value <= 0.05
        for table in tables
    )
    assert rejected >= fewest_rejections(60, power=0.98)


def test_one_question_with_refusals_is_enough_for_the_latent_test() -> None:
    found = independence_test(counts=[[200, 150, 90], [160, 210, 80]], variables=[PLAIN, REFUSABLE])
    assert found.method == "latent_likelihood_ratio"
    # Only answers count. The whole table, which has three columns, would give two degrees of
    # freedom.
    assert found.degrees_of_freedom == 1


def test_expected_counts_of_independent_answers_fit_perfectly() -> None:
    truth = with_refusals(both_refuse=0.2, first=0.3, second=0.6)
    reported = np.kron(REFUSABLE.channel(), REFUSABLE.channel()) @ truth.ravel()
    counts = np.round(reported * 10**5).astype(np.int64).reshape(3, 3)
    found = independence_test(counts=counts, variables=[REFUSABLE, REFUSABLE])
    assert found.statistic == pytest.approx(0, abs=0.01)
    assert found.p_value > 0.9


# Several tests at once


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_p_values_match_statsmodels(p_values: list[float]) -> None:
    from statsmodels.stats import multitest

    with mock.patch("gc.collect"):  # otherwise, statsmodels collects garbage each time it is called
        theirs = multitest.multipletests(p_values, method="holm")[1]
    assert adjust_for_multiplicity(p_values) == pytest.approx(list(theirs), abs=1e-14)


def test_an_empty_list_of_tests_needs_no_adjustment() -> None:
    assert adjust_for_multiplicity([]) == []


# Bad input


@pytest.mark.parametrize(
    ("variables", "counts", "message"),
    [
        ([PLAIN], [1, 2], "variables must be two questions, got 1"),
        ([PLAIN] * 3, [[[1, 2], [3, 4]]] * 2, "variables must be two questions, got 3"),
        ([PLAIN, PLAIN], [[1, 2, 3], [4, 5, 6]], r"counts must have the shape \(2, 2\)"),
        ([PLAIN, PLAIN], [[1, -2], [3, 4]], "counts must be whole and not negative"),
        ([PLAIN, PLAIN], [[0, 0], [0, 0]], "counts must hold at least one report"),
        (
            [PLAIN, Variable(mechanism=COINS, categories=((0,), (1,)), answered=1)],
            [[1, 2], [3, 4]],
            "variables must each have at least two answers, got 2 and 1",
        ),
    ],
)
def test_questions_that_cannot_be_tested_are_rejected(
    variables: list[Variable], counts: ArrayLike, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        independence_test(counts=counts, variables=variables)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([1, 2], "counts must be a table of two dimensions, got 1"),
        ([[1, -2], [3, 4]], "counts must be whole and not negative"),
        ([[1, 2.5], [3, 4]], "counts must be whole and not negative"),
        ([[1, float("nan")], [3, 4]], "counts must be whole and not negative"),
        ([[1, 2], [0, 0]], "at least two rows and two columns"),
        ([[1, 0], [2, 0]], "at least two rows and two columns"),
    ],
)
def test_groups_that_cannot_be_compared_are_rejected(counts: ArrayLike, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        homogeneity_test(counts=counts)


@pytest.mark.parametrize("p_value", [-0.1, 1.1, float("nan")])
def test_p_values_outside_the_unit_interval_are_rejected(p_value: float) -> None:
    with pytest.raises(ValueError, match=r"p_values must lie in \[0, 1\]"):
        adjust_for_multiplicity([0.5, p_value])
