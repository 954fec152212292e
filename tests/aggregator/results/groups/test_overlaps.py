"""Among all sums and differences of groups, the one about the fewest people is found."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from aggregator.results.groups.overlaps import Groups, leave_few

SEED = 20261125
SURVEYS = 60


def find_fewest(groups: Groups, marks: np.ndarray, people: np.ndarray) -> int:
    """Find, by trying all, the smallest support of a function that the marks alone do not span.

    Without the people of such a support, the rank of groups and marks together falls by more than
    the rank of the marks alone.
    """
    marked = np.eye(marks.max() + 1)[marks]
    both = np.concatenate([marked, groups], axis=1)

    def find_lost(kept: np.ndarray) -> int:
        def lose(all_: np.ndarray) -> int:
            return int(np.linalg.matrix_rank(all_)) - int(np.linalg.matrix_rank(all_[kept]))

        return lose(both) - lose(marked)

    rows, sizes = range(len(people)), []
    for size in range(1, len(people) + 1):
        for left in combinations(rows, size):
            kept = np.array([row for row in rows if row not in left], dtype=int)
            if find_lost(kept) > 0:
                sizes.append(int(people[list(left)].sum()))
    return min(sizes, default=0)


def test_the_smallest_support_is_found_as_by_trying_all() -> None:
    generator = np.random.default_rng(SEED)
    compared = 0
    for _ in range(SURVEYS):
        codes = np.unique(generator.integers(0, 3, size=(7, 3)), axis=0)
        people = generator.integers(1, 60, size=len(codes))
        _, marks = np.unique(codes[:, 0] // 2, return_inverse=True)
        groups = np.concatenate(
            [np.eye(3, dtype=bool)[codes[:, place]][:, :2] for place in (1, 2)], axis=1
        )
        fewest = find_fewest(groups, marks, people)
        if not fewest:
            continue
        compared += 1
        for needed, expected in ((fewest, False), (fewest + 1, True)):
            found = leave_few(
                groups[:, :0], groups, marks=marks, people=people, needed=needed, sure=1
            )
            assert found == expected
    assert compared > SURVEYS / 2


LISTS = np.array([[0, 0], [0, 1], [1, 0]])  # one person, and then two large groups


@pytest.mark.parametrize(
    ("known", "marks", "needed", "few"),
    [
        ((), (0, 0, 0), 2, True),  # both groups minus everybody leave the person
        ((), (0, 0, 0), 1, False),
        ((0,), (0, 0, 0), 2, True),  # the first group is already shown
        ((), (0, 0, 1), 2, True),  # the rows mark who is in the first group
        ((0, 1), (0, 0, 0), 2, False),  # what is already shown does not count
    ],
)
def test_two_lists_leave_the_person_whom_they_divide_differently(
    known: Sequence[int], marks: Sequence[int], needed: int, few: bool
) -> None:
    groups = LISTS.astype(bool)
    new = groups[:, 1:] if 1 in known else np.delete(groups, list(known), axis=1)
    found = leave_few(
        groups[:, list(known)],
        new,
        marks=np.array(marks),
        people=np.array([1, 300, 300]),
        needed=needed,
        sure=1,
    )
    assert found == few


@pytest.mark.parametrize(
    ("questions", "needed", "few"),
    [
        (12, 300, False),
        (60, 300, True),  # there are too many groups for a search to be sure
        (60, 30, False),
    ],
)
def test_lists_that_have_nothing_to_do_with_each_other(
    questions: int, needed: int, few: bool
) -> None:
    """Everybody is in about half of the groups, so no sum of them is about few people."""
    generator = np.random.default_rng(SEED)
    groups = generator.integers(0, 2, size=(2000, questions)).astype(bool)
    ones, marks = np.ones(2000, dtype=np.int64), np.zeros(2000, dtype=np.int64)
    found = leave_few(
        groups[:, :0], groups, marks=marks, people=ones, needed=needed, sure=needed - 1
    )
    assert found == few


def test_somebody_among_made_up_reports_with_a_cell_each_is_not_missed() -> None:
    """With many lists answered at random, most people enter the basis before it is complete."""
    generator = np.random.default_rng(SEED)
    codes = generator.integers(0, 15, size=(600, 22))
    groups = np.concatenate([np.eye(15, dtype=bool)[one] for one in codes.T], axis=1)
    # The additional group equals the first, except for the first 19 people.
    other = groups[:, :1] ^ (np.arange(600) < 19)[:, np.newaxis]
    ones, marks = np.ones(600, dtype=np.int64), np.zeros(600, dtype=np.int64)
    assert leave_few(groups, other, marks=marks, people=ones, needed=30, sure=29)
