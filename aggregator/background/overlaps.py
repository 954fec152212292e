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

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Groups = NDArray[np.float64]  # a row for each cell of people, a column of 0 and 1 for each group
ORDERS = 100
# Large tables of many people take fewer orders: few of so many are early in any of them.
MOST_STEPS = 5_000_000_000
FEWEST_ORDERS = 20
SEED = 20261125
ROWS_AT_ONCE = 256
ZERO = 1e-6


def leave_few(
    known: Groups, new: Groups, *, marks: NDArray[np.int64], people: NDArray[np.int64], needed: int
) -> bool:
    """Whether figures about the new groups, with all others, say something about few people.

    Everybody in a row has the same mark and is in the same groups; `people` counts them. Few are
    fewer than `needed`. What the known groups and the marks say alone does not count.
    """
    groups = np.concatenate([known, new], axis=1)
    for order in _list_orders(people, columns=groups.shape[1]):
        first = _find_first(marks[order])
        functions = _span(groups[order] - groups[order][first])
        few = functions[:, people[order] @ (np.abs(functions) > ZERO) < needed]
        if few.size and not _is_spanned(few, known[order] - known[order][first]):
            return True
    return False


def _list_orders(people: NDArray[np.int64], *, columns: int) -> Iterator[NDArray[np.intp]]:
    """List random orders of rows: as their first people come if all people are shuffled."""
    generator = np.random.default_rng(SEED)
    steps = max(len(people) * columns**2, 1)
    for _ in range(min(max(MOST_STEPS // steps, FEWEST_ORDERS), ORDERS)):
        yield np.argsort(generator.exponential(size=len(people)) / people)


def _find_first(marks: NDArray[np.int64]) -> NDArray[np.intp]:
    """For each row, find the first with the same mark; it is in the basis."""
    _, first, cells = np.unique(marks, return_index=True, return_inverse=True)
    found: NDArray[np.intp] = first[cells.reshape(-1)]
    return found


def _span(groups: Groups) -> Groups:
    """Return functions of the same space, each 1 in one row of a basis and 0 in the others."""
    change, found, row = np.eye(groups.shape[1]), 0, 0
    while found < len(change):
        row = _find_independent(groups, change[:, found:], start=row)
        if row == len(groups):
            break
        values = groups[row] @ change
        pivot = found + int(np.abs(values[found:]).argmax())
        change[:, [found, pivot]] = change[:, [pivot, found]]
        values[[found, pivot]] = values[[pivot, found]]
        change[:, found] /= values[found]
        values[found] = 0.0
        change -= np.outer(change[:, found], values)
        found += 1
    return groups @ change[:, :found]


def _find_independent(groups: Groups, change: Groups, *, start: int) -> int:
    """Find the first row for which a column of the product is not 0, or the number of rows."""
    for place in range(start, len(groups), ROWS_AT_ONCE):
        values = np.abs(groups[place : place + ROWS_AT_ONCE] @ change)
        rows = np.flatnonzero((values > ZERO).any(axis=1))
        if rows.size:
            return place + int(rows[0])
    return len(groups)


def _is_spanned(functions: Groups, groups: Groups) -> bool:
    if not groups.shape[1]:
        return False
    found, *_ = np.linalg.lstsq(groups, functions, rcond=None)
    return bool((np.abs(groups @ found - functions) < ZERO).all())
