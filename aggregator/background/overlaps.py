"""Whether figures about large groups say something about few people.

Figures are sums over people. So figures about several groups also give those about all sums and
differences of the groups, which may count few people although each group has many: two lists may
divide the same people in ways that differ for one person only.

Groups, and marks that divide people into cells, span a space of functions on people. A function's
support are the people for whom it is not 0. Which function has the smallest support is as hard to
find as the lightest word of a code, so it is searched for as there (information-set decoding): in
a random order, people enter a basis as long as they are independent, and for each of these there is
one function that is 1 for this person and 0 for all others of the basis. A small support is found
if only one of its people enters. One person, or people whom all groups treat alike, are found in
every order; and the larger a support, the more of them miss it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

Groups = NDArray[np.bool_]  # a row for each cell of people, a column for each group
Rows = NDArray[np.intp]
Matrix = NDArray[np.float64]
ORDERS = 100
# Large tables of many people take fewer orders: few of so many are early in any of them.
MOST_STEPS = 5_000_000_000
FEWEST_ORDERS = 5
SEED = 20261125
ROWS_AT_ONCE = 10_000  # so that memory does not grow with the number of people
ROWS_SEARCHED = 256
ZERO = 1e-6


def leave_few(
    known: Groups, new: Groups, *, marks: NDArray[np.int64], people: NDArray[np.int64], needed: int
) -> bool:
    """Whether figures about the new groups, with all others, say something about few people.

    Everybody in a row has the same mark and is in the same groups; `people` counts them. Few are
    fewer than `needed`. What the known groups and the marks say alone does not count.
    """
    groups = np.concatenate([known, new], axis=1)
    cells = np.unique(marks, return_inverse=True)[1].reshape(-1)
    for order in _list_orders(people, columns=groups.shape[1]):
        first = _find_first(cells, order)

        def read(rows: Rows, first: Rows = first) -> Matrix:
            """Read the groups of rows, less those of the first row with the same mark.

            That row is in the basis, so functions are 0 there, and the marks play no further part.
            """
            found: Matrix = groups[rows].astype(float) - groups[first[cells[rows]]]
            return found

        basis, functions = _span(read, order, columns=groups.shape[1])
        supports = sum(
            (
                people[rows] @ (np.abs(read(rows) @ functions) > ZERO)
                for rows in _split(order, ROWS_AT_ONCE)
            ),
            np.zeros(len(basis)),
        )
        few = functions[:, supports < needed]
        if few.size and not _is_spanned(read(basis) @ few, read(basis)[:, : known.shape[1]]):
            return True
    return False


def _list_orders(people: NDArray[np.int64], *, columns: int) -> Iterator[Rows]:
    """List random orders of rows: as their first people come if all people are shuffled."""
    generator = np.random.default_rng(SEED)
    steps = max(len(people) * columns**2, 1)
    for _ in range(min(max(MOST_STEPS // steps, FEWEST_ORDERS), ORDERS)):
        yield np.argsort(generator.exponential(size=len(people)) / people)


def _find_first(cells: Rows, order: Rows) -> Rows:
    """Find the first row of each cell."""
    first = np.empty(cells.max(initial=-1) + 1, dtype=np.intp)
    first[cells[order[::-1]]] = order[::-1]  # the last one that is assigned stays
    return first


def _split(rows: Rows, size: int) -> Iterator[Rows]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _span(read: Callable[[Rows], Matrix], order: Rows, *, columns: int) -> tuple[Rows, Matrix]:
    """Return the rows of a basis, and a function for each: 1 in this row, 0 in the others.

    A function has a factor for each group; its values are those that are read times the factors.
    """
    factors: Matrix = np.eye(columns)
    basis: list[np.intp] = []
    for rows in _split(order, ROWS_SEARCHED):
        if len(basis) == columns:
            break
        values = read(rows)
        while True:
            left = np.abs(values @ factors[:, len(basis) :]) > ZERO
            places = np.flatnonzero(left.any(axis=1))
            if not places.size:
                break
            _eliminate(factors, values[places[0]], found=len(basis))
            basis.append(rows[places[0]])
    return np.array(basis, dtype=np.intp), factors[:, : len(basis)]


def _eliminate(factors: Matrix, row: Matrix, *, found: int) -> None:
    """Change the factors so that one more function is 1 in this row, and all others are 0."""
    values = row @ factors
    pivot = found + int(np.abs(values[found:]).argmax())
    for one in (factors.T, values):
        one[[found, pivot]] = one[[pivot, found]]
    factors[:, found] /= values[found]
    values[found] = 0.0
    factors -= np.outer(factors[:, found], values)


def _is_spanned(functions: Matrix, groups: Matrix) -> bool:
    """Whether the known groups span functions, all read in the rows of the basis."""
    found, *_ = np.linalg.lstsq(groups, functions, rcond=None)
    return bool((np.abs(groups @ found - functions) < ZERO).all())
