"""Tables of true answers: known values, the exact inverse, and the constrained maximum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from privacy.associations.tables import (
    MAX_CELLS,
    Variable,
    estimate_table,
)
from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse
from tests.support.latent_tables import (
    PLAIN,
    REFUSABLE,
    THREE,
    joint_channel,
    of,
    tables,
    two_by_two,
)
from tests.support.sampling.estimates import estimate_alone

# Known values


def test_a_two_by_two_table_gives_its_shares() -> None:
    assert two_by_two().shares.ravel()[::-1] == pytest.approx([0.4, 0.1, 0.2, 0.3], abs=1e-13)


def test_a_two_by_two_table_gives_its_standard_errors() -> None:
    errors = two_by_two().standard_errors.ravel()[::-1]
    assert errors == pytest.approx([0.04034229, 0.03643487, 0.03933828, 0.03804602], abs=5e-9)


# The unbiased estimate


@settings(deadline=None)
@given(st.data())
def test_exact_expected_counts_return_the_truth(data: st.DataObject) -> None:
    number = data.draw(st.integers(2, 3))
    variables, denominator = [], 1
    for _ in range(number):
        # Thresholds with a small denominator make all expected counts whole.
        k, parts = data.draw(st.sampled_from([(2, 4), (2, 8), (3, 8), (5, 16)]))
        kept = data.draw(st.integers(parts // k + 1, parts - 1))
        mechanism = RandomizedResponse(symbols=k, threshold=SCALE // parts * kept)
        variables.append(Variable.plain(mechanism))
        denominator *= parts * (k - 1)
    shape = tuple(variable.size for variable in variables)
    cells = int(np.prod(shape))
    people = np.array(
        data.draw(st.lists(st.integers(0, 9), min_size=cells, max_size=cells).filter(any))
    )
    expected = joint_channel(variables) @ people * denominator
    counts = np.round(expected).astype(np.int64)
    assert expected == pytest.approx(counts, abs=1e-6)
    found = estimate_table(counts=counts.reshape(shape), variables=variables)
    truth = people.reshape(shape) / people.sum()
    assert found.shares == pytest.approx(truth, abs=1e-9)
    # Where a share is 0, the unbiased estimate may be below 0 because of a rounding error. In this
    # case, EM runs and stops within 1e-10 of the maximum.
    assert found.joint_shares == pytest.approx(truth, abs=1e-4 if truth.min() == 0 else 1e-9)


@settings(deadline=None, max_examples=50)
@given(tables())
def test_shares_sum_to_one_and_their_sum_does_not_vary(
    case: tuple[list[Variable], NDArray[np.int64]],
) -> None:
    variables, counts = case
    found = estimate_table(counts=counts, variables=variables)
    assert found.total == counts.sum()
    assert found.shares.sum() == pytest.approx(1, abs=1e-8)
    assert found.joint_shares.sum() == pytest.approx(1, abs=1e-12)
    assert found.joint_shares.min() >= 0
    size = float(np.abs(found.covariance).max())
    assert found.covariance.sum() == pytest.approx(0, abs=1e-9 + 1e-9 * size)
    # Rounding may make a variance of 0 slightly negative.
    assert np.sqrt(np.maximum(np.diag(found.covariance), 0)) == pytest.approx(
        found.standard_errors.ravel(), abs=1e-12 + 1e-7 * size
    )


@settings(deadline=None, max_examples=50)
@given(tables())
def test_margins_of_a_table_equal_the_estimates_of_its_questions(
    case: tuple[list[Variable], NDArray[np.int64]],
) -> None:
    variables, counts = case
    found = estimate_table(counts=counts, variables=variables)
    shape = counts.shape
    for axis, variable in enumerate(variables):
        others = tuple(other for other in range(len(shape)) if other != axis)
        codes = counts.sum(axis=others)
        alone = estimate_alone(counts=codes.tolist(), mechanism=variable.mechanism)
        assert found.shares.sum(axis=others) == pytest.approx(alone.shares, abs=1e-9)
        add = np.zeros((variable.size, counts.size))
        add[np.indices(shape)[axis].ravel(), np.arange(counts.size)] = 1
        covariance = add @ found.covariance @ add.T
        reported = codes / codes.sum()
        spread = np.diag(reported) - np.outer(reported, reported)
        expected = spread / (codes.sum() * variable.mechanism.slope**2)
        assert covariance == pytest.approx(expected, abs=1e-8)


@settings(deadline=None, max_examples=50)
@given(tables(), st.randoms(use_true_random=False))
def test_relabelling_answers_or_questions_relabels_the_table(case, random) -> None:  # type: ignore[no-untyped-def]
    variables, counts = case
    before = estimate_table(counts=counts, variables=variables)
    orders = [list(range(size)) for size in counts.shape]
    for order in orders:
        random.shuffle(order)
    axes = list(range(counts.ndim))
    random.shuffle(axes)
    after = estimate_table(
        counts=counts[np.ix_(*orders)].transpose(axes), variables=[variables[axis] for axis in axes]
    )
    moved = before.shares[np.ix_(*orders)].transpose(axes)
    assert after.shares == pytest.approx(moved, abs=1e-9)
    assert after.log_likelihood == pytest.approx(before.log_likelihood, abs=1e-7, rel=1e-12)


def test_the_covariance_matches_that_of_repeated_surveys() -> None:
    variables = [of(3, 25), of(2, 10)]
    truth = np.array([0.1, 0.3, 0.25, 0.05, 0.2, 0.1])
    n, surveys = 800, 20_000
    reported = joint_channel(variables) @ truth
    counts = np.random.default_rng(71).multinomial(n, reported, size=surveys)
    inverse = np.linalg.inv(joint_channel(variables))
    replicates = counts / n @ inverse.T
    one = estimate_table(counts=counts[0].reshape(3, 2), variables=variables)
    assert one.shares.ravel() == pytest.approx(replicates[0], abs=1e-12)
    spread = np.cov(replicates.T)
    exact = inverse @ (np.diag(reported) - np.outer(reported, reported)) @ inverse.T / n
    # At 5.5 standard errors of a sample covariance, one of the 21 entries fails once in a million
    # runs.
    variances = np.diag(exact)
    error = np.sqrt((np.outer(variances, variances) + exact**2) / surveys)
    assert (np.abs(spread - exact) < 5.5 * error).all()
    assert replicates.std(axis=0) / one.standard_errors.ravel() == pytest.approx(1, abs=0.1)
    # At 5.3 standard errors, one of the 6 means fails equally rarely.
    drift = np.abs(replicates.mean(axis=0) - truth)
    assert (drift < 5.3 * np.sqrt(variances / surveys)).all()


# Categories


@settings(deadline=None, max_examples=60)
@given(st.integers(3, 8), st.integers(1, 45), st.data())
def test_gathering_codes_adds_up_rows_of_the_channel(
    k: int, flips: int, data: st.DataObject
) -> None:
    mechanism = RandomizedResponse.from_flips(symbols=k, flips=flips)
    names = data.draw(st.lists(st.integers(0, 2), min_size=k, max_size=k))
    categories = tuple(
        tuple(code for code in range(k) if names[code] == name) for name in sorted(set(names))
    )
    variable = Variable(mechanism=mechanism, categories=categories, answered=1)
    lump = np.array([[code in category for code in range(k)] for category in categories])
    # Each reported category is equally likely for every true code of the same category.
    lumped = lump @ mechanism.channel()
    for column, category in enumerate(categories):
        for code in category:
            assert lumped[:, code] == pytest.approx(variable.channel()[:, column], abs=1e-14)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 300), min_size=20, max_size=20).filter(any))
def test_gathering_codes_first_equals_adding_up_estimates_afterwards(counts: list[int]) -> None:
    five = RandomizedResponse.from_flips(symbols=5, flips=20)
    four = RandomizedResponse.from_flips(symbols=4, flips=30)
    table = np.array(counts).reshape(5, 4)
    coarse = estimate_table(
        counts=table,
        variables=[
            Variable(mechanism=five, categories=((3, 0), (1,), (2, 4)), answered=2),
            Variable(mechanism=four, categories=((0,), (2, 1), (3,)), answered=2),
        ],
    )
    fine = estimate_table(counts=table, variables=[Variable.plain(five), Variable.plain(four)])
    rows = np.array([[1, 0, 0, 1, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 1]])
    columns = np.array([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]])
    assert (coarse.counts == rows @ table @ columns.T).all()
    assert coarse.shares == pytest.approx(rows @ fine.shares @ columns.T, abs=1e-9)
    add = np.kron(rows, columns)
    assert coarse.covariance == pytest.approx(add @ fine.covariance @ add.T, abs=1e-9)


def test_gathering_makes_room_for_large_questions() -> None:
    many = RandomizedResponse.from_flips(symbols=64, flips=5)
    halves = Variable(
        mechanism=many, categories=(tuple(range(32)), tuple(range(32, 64))), answered=2
    )
    counts = np.ones((64, 64), dtype=np.int64)
    found = estimate_table(counts=counts, variables=[halves, halves])
    assert found.shares == pytest.approx(np.full((2, 2), 0.25), abs=1e-12)


@pytest.mark.parametrize(
    ("categories", "answered", "message"),
    [
        (((0,), (1,)), 2, "categories must hold each of 3 codes once"),
        (((0,), (1,), (1, 2)), 2, "categories must hold each of 3 codes once"),
        (((0, 1, 2, 3),), 1, "categories must hold each of 3 codes once"),
        (((0, 1, 2), ()), 1, "categories must hold each of 3 codes once"),
        (((0,), (1,), (2,)), 0, "answered must be from 1 to 3, got 0"),
        (((0,), (1,), (2,)), 4, "answered must be from 1 to 3, got 4"),
    ],
)
def test_categories_that_are_not_a_partition_are_rejected(
    categories: tuple[tuple[int, ...], ...], answered: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Variable(mechanism=THREE, categories=categories, answered=answered)


# Bad input


@pytest.mark.parametrize(
    ("counts", "variables", "message"),
    [
        ([[1, 2], [3, 4]], [], "variables must name at least one question"),
        ([1, 2], [PLAIN, PLAIN], r"counts must have the shape \(2, 2\), got \(2,\)"),
        ([[1, 2, 3], [4, 5, 6]], [PLAIN, PLAIN], r"counts must have the shape \(2, 2\)"),
        ([[1, -2], [3, 4]], [PLAIN, PLAIN], "counts must be whole and not negative"),
        ([[1, 2.5], [3, 4]], [PLAIN, PLAIN], "counts must be whole and not negative"),
        ([[1, float("nan")], [3, 4]], [PLAIN, PLAIN], "counts must be whole and not negative"),
        ([[0, 0], [0, 0]], [PLAIN, PLAIN], "counts must hold at least one report"),
    ],
)
def test_impossible_tables_are_rejected(
    counts: ArrayLike, variables: list[Variable], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        estimate_table(counts=counts, variables=variables)


def test_tables_with_too_many_cells_are_rejected() -> None:
    variables = [of(33, 25), of(32, 25)]
    with pytest.raises(ValueError, match=f"at most {MAX_CELLS} cells, got 1056"):
        estimate_table(counts=np.ones((33, 32), dtype=np.int64), variables=variables)


def test_refusals_are_categories_like_any_other() -> None:
    found = estimate_table(counts=[[30, 20, 10], [10, 20, 30]], variables=[PLAIN, REFUSABLE])
    assert found.shares.shape == (2, 3)
    assert found.shares.sum() == pytest.approx(1)
