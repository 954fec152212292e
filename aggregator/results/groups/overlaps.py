"""Decide whether figures about large groups reveal something about a few people.

Figures are sums over people. Figures about several groups therefore also reveal the figures for all
sums and differences of these groups. Such a difference may count few people although each group has
many. For example, two questions may divide the same people in ways that differ for only one person.

Groups, and marks that divide people into cells, span a space of functions on people. A function's
support is the set of people for whom it is not 0. The smallest support is as hard to find as the
lightest word of a code, so the same search is used (information-set decoding). People are taken in
a random order, and each person who is independent of the basis so far enters it. For each person in
the basis, one function is 1 for this person and 0 for all others in the basis. A support is found
if at most one of its people comes before the basis is complete. A support of one person is found in
every order.

The fewer groups and the more people there are, the earlier a basis is complete. Orders are drawn
until only about one search in a million would miss a support of a given size. If that would take
too many orders, `leave_few` returns True, because there are too many groups for the number of
people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

Groups = NDArray[np.bool_]  # a row for each cell of people, a column for each group
Rows = NDArray[np.intp]
Matrix = NDArray[np.float64]
MOST_ORDERS = 1000
FEW_ORDERS = 10
MOST_STEPS = 200_000_000_000
ENOUGH = 14  # the mean number of times that a support is found; exp(-14) of searches miss it
SEED = 20261125
ROWS_AT_ONCE = 1_000  # so that memory does not grow with the number of people
ROWS_SEARCHED = 256
ZERO = 1e-6


def leave_few(
    known: Groups,
    new: Groups,
    *,
    marks: NDArray[np.int64],
    people: NDArray[np.int64],
    needed: int,
    sure: int,
) -> bool:
    """Return whether figures about all groups reveal something about a few people.

    All people in a row have the same mark and are in the same groups; `people` counts the people in
    each row. "A few" means fewer than `needed`. Facts that follow from the known groups and the
    marks alone do not count. Only about one search in a million misses a support of `sure` people.
    """
    groups = np.concatenate([known, new], axis=1)
    cells = np.unique(marks, return_inverse=True)[1].reshape(-1)
    generator, found = np.random.default_rng(SEED), 0.0
    orders = _count_orders(groups)
    for drawn in range(1, orders + 1):
        times = generator.exponential(size=len(people)) / people  # of first arrivals
        order = np.argsort(times)
        first = _find_first(cells, order)

        def read(rows: Rows, first: Rows = first) -> Matrix:
            """Read the groups of rows, minus the groups of the first row with the same mark.

            Functions are 0 in that first row, which is in the basis, so marks need no columns.
            """
            less: Matrix = groups[rows].astype(float) - groups[first[cells[rows]]]
            return less

        basis, functions = _span(read, order, columns=groups.shape[1])
        supports = np.zeros(len(basis))
        for rows in _split(order, ROWS_AT_ONCE):
            supports += people[rows] @ (np.abs(read(rows) @ functions) > ZERO)
            if (supports >= needed).all():
                break  # usually after the first rows, however many people there are
        few = functions[:, supports < needed]
        if few.size and not _is_spanned(read(basis) @ few, read(basis)[:, : known.shape[1]]):
            return True
        complete = max(times[basis].max(initial=0.0), times[first].max(initial=0.0))
        found += _find_chance(complete, support=sure)
        if found >= ENOUGH:
            return False
        if drawn >= FEW_ORDERS and found * orders < ENOUGH / 2 * drawn:
            return True  # even all orders together would miss too much
    return True


def _count_orders(groups: Groups) -> int:
    rows, columns = groups.shape
    return int(min(max(MOST_STEPS // max(rows * columns**2, 1), 1), MOST_ORDERS))


def _find_chance(time: float, *, support: int) -> float:
    """Return the probability that at most one of `support` people comes before `time`.

    Each person comes after an exponentially distributed time with a mean of 1.
    """
    return float(np.exp(-time * support) * (1 + support * np.expm1(time)))


def _find_first(cells: Rows, order: Rows) -> Rows:
    """Find the first row of each cell."""
    first = np.empty(cells.max(initial=-1) + 1, dtype=np.intp)
    first[cells[order[::-1]]] = order[::-1]  # the last of several assignments stays
    return first


def _split(rows: Rows, size: int) -> Iterator[Rows]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _span(read: Callable[[Rows], Matrix], order: Rows, *, columns: int) -> tuple[Rows, Matrix]:
    """Return the rows of a basis and, for each of them, a function.

    The function is 1 in that row of the basis and 0 in the others. It is a column of coefficients
    of the groups; `read(rows) @ column` gives its values.
    """
    factors: Matrix = np.eye(columns)
    basis: list[np.intp] = []
    for rows in _split(order, ROWS_SEARCHED):
        if len(basis) == columns:
            break
        both = np.concatenate([factors, read(rows) @ factors])
        while True:
            left = np.abs(both[columns:, len(basis) :]) > ZERO
            places = np.flatnonzero(left.any(axis=1))
            if not places.size:
                break
            _eliminate(both, row=columns + int(places[0]), found=len(basis))
            basis.append(rows[places[0]])
        factors = both[:columns]
    return np.array(basis, dtype=np.intp), factors[:, : len(basis)]


def _eliminate(matrix: Matrix, *, row: int, found: int) -> None:
    """Make one more column a pivot, which is 1 in this row, and set the others to 0 there."""
    pivot = found + int(np.abs(matrix[row, found:]).argmax())
    matrix[:, [found, pivot]] = matrix[:, [pivot, found]]
    matrix[:, found] /= matrix[row, found]
    values = matrix[row].copy()
    values[found] = 0.0
    matrix -= np.outer(matrix[:, found], values)


def _is_spanned(functions: Matrix, groups: Matrix) -> bool:
    """Return whether the groups span the functions; both are given by their values in the basis."""
    found, *_ = np.linalg.lstsq(groups, functions, rcond=None)
    return bool((np.abs(groups @ found - functions) < ZERO).all())
