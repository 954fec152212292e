"""Segments divide the table best, are in the documented order, and move as far as stated."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from privacy.associations.segments import (
    Segments,
    TooFewRowsError,
    estimate_segments,
    find_segments,
)
from privacy.associations.tables import Variable, kronecker
from privacy.mechanism.mechanisms import RandomizedResponse

COINS = Variable.plain(RandomizedResponse.from_flips(symbols=2, flips=25))
Shares = NDArray[np.float64]


def list_rows(questions: int) -> Shares:
    return np.array(list(product((0.0, 1.0), repeat=questions)))


def divide_best(shares: Shares, segments: int) -> float:
    """Try every division of the rows, and return the least sum of squares around the centres."""
    rows, weights = list_rows(shares.ndim), shares.ravel()
    labels = np.array(list(product(range(segments), repeat=len(rows))))
    members = (labels[:, :, None] == np.arange(segments)) * weights[:, None]
    sizes, sums = members.sum(axis=1), np.einsum("drs,rq->dsq", members, rows)
    between = ((sums**2).sum(axis=2) / np.maximum(sizes, 1e-300)).sum(axis=1)
    return float(weights @ rows.sum(axis=1) - between.max())


@pytest.mark.parametrize("segments", [2, 3])
@given(counts=st.lists(st.integers(0, 20), min_size=8, max_size=8))
def test_no_division_of_three_questions_is_better(segments: int, counts: list[int]) -> None:
    shares = np.array(counts).reshape(2, 2, 2) / max(sum(counts), 1)
    if np.count_nonzero(counts) < segments:
        with pytest.raises((TooFewRowsError, ValueError)):
            find_segments(shares=shares, segments=segments)
        return
    found = find_segments(shares=shares, segments=segments)
    assert found.objective == pytest.approx(divide_best(shares, segments), abs=1e-9)
    assert found.sizes.sum() == pytest.approx(1)
    assert (found.sizes > 0).all()
    # The weighted mean of the centres is the mean of all people.
    assert found.sizes @ found.centres == pytest.approx(shares.ravel() @ list_rows(3))


def test_as_many_segments_as_rows_are_the_rows() -> None:
    shares = np.zeros((2, 2, 2, 2))
    shares[0, 1, 0, 1], shares[1, 1, 1, 0], shares[0, 0, 0, 0] = 0.5, 0.3, 0.2
    found = find_segments(shares=shares, segments=3)
    assert found.objective == 0
    assert found.sizes == pytest.approx([0.5, 0.3, 0.2])
    assert found.centres.tolist() == [[0, 1, 0, 1], [1, 1, 1, 0], [0, 0, 0, 0]]


def test_equal_segments_are_ordered_by_their_shares() -> None:
    found = find_segments(shares=[[0.5, 0.0], [0.0, 0.5]], segments=2)
    assert found.centres.tolist() == [[1, 1], [0, 0]]


def test_fewer_rows_than_segments_are_refused_even_if_rounding_leaves_some() -> None:
    with pytest.raises(TooFewRowsError, match="3 rows for 3 segments, got 2"):
        find_segments(shares=[[0.5, 1e-12], [0.0, 0.5 - 1e-12]], segments=3)


def make_table(questions: int) -> Shares:
    """Make a table: 60 % of people say Yes to each question with probability .8, others with .2."""
    rows = list_rows(questions)
    first, second = (np.where(rows == 1, yes, 1 - yes).prod(axis=1) for yes in (0.8, 0.2))
    mixed: Shares = 0.6 * first + 0.4 * second
    return mixed.reshape((2,) * questions)


def shift(found: Segments, real: Segments) -> float:
    orders = [list(order) for order in permutations(range(len(real.sizes)))]
    return min(float(((found.centres[order] - real.centres) ** 2).mean()) for order in orders)


@pytest.mark.parametrize(("questions", "n"), [(3, 2000), (4, 5000)])
def test_centres_are_about_as_far_from_the_truth_as_the_bootstrap_says(
    questions: int, n: int
) -> None:
    shares, draw = make_table(questions), np.random.default_rng(38)
    real = find_segments(shares=shares, segments=2)
    variables = [COINS] * questions
    reported = kronecker([one.channel() for one in variables]) @ shares.ravel()
    squares, spreads = [], []
    for _ in range(25):
        counts = draw.multinomial(n, reported).reshape(shares.shape)
        found = estimate_segments(counts=counts, variables=variables, segments=2, draws=20)
        squares.append(shift(found.segments, real))
        spreads.append(float((found.spread**2).mean()))
    seen, said = np.sqrt(np.mean(squares)), np.sqrt(np.mean(spreads))
    print(f"{questions} questions, n = {n}: {seen:.4f}, bootstrap {said:.4f}")
    # In 20 other samples of 25, the mean of ln of the ratio was .19, with SD .09, so both bounds
    # are at least 5 SD away.
    assert 0.5 < said / seen < 2


def test_profiles_out_of_pure_chance_move_too_much_to_be_shown() -> None:
    counts = np.full((2, 2, 2), 625)
    counts[0, 0, 0] += 30
    found = estimate_segments(counts=counts, variables=[COINS] * 3, segments=2)
    assert (found.spread > 0.13).all()


def test_the_same_reports_give_the_same_figures() -> None:
    counts = [[300, 220], [200, 280]]
    one, other = (
        estimate_segments(counts=counts, variables=[COINS, COINS], segments=2, draws=3)
        for _ in range(2)
    )
    assert one.spread.tolist() == other.spread.tolist()
    assert one.size_spread.tolist() == other.size_spread.tolist()
