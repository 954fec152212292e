"""The simulation of people needed for claims confirms a claim exactly if its interval does."""

from __future__ import annotations

import numpy as np
import pytest

from privacy.associations.tables import Variable
from privacy.associations.two_questions import associate
from privacy.mechanism.mechanisms import RandomizedResponse
from scripts.documentation.methods_claims import (
    CONFIRMED,
    DESIGNS,
    compute_rows,
    count_confirmed,
    find_people,
    is_confirmed,
    write_claims_table,
)
from scripts.stack.stack import ROOT

COINS = RandomizedResponse.from_flips(symbols=2, flips=25)
AS_IT_IS = RandomizedResponse(symbols=2, threshold=2**32 - 1)
VARIABLES = [
    Variable(mechanism=one, categories=((0,), (1,)), answered=2) for one in (COINS, AS_IT_IS)
]


@pytest.mark.parametrize("counts", [(208, 180), (204, 160), (174, 172)])
def test_it_confirms_what_the_interval_confirms(counts: tuple[int, int]) -> None:
    size, level = 500, 0.975
    first, second = counts
    found = associate(
        counts=np.array([[size - second, size - first], [second, first]]),
        variables=VARIABLES,
        event=1,
        first=1,
        second=0,
        level=level,
    )
    rows = np.array([counts])
    by_difference, by_share = (
        bool(is_confirmed(rows, size=size, line=line, level=level)[0]) for line in (None, 0.2)
    )
    assert by_difference == (found.difference.low > 0)
    assert by_share == (found.share_first.low > 0.2)


def test_the_number_that_is_found_is_enough_and_a_smaller_one_is_not() -> None:
    def confirm(people: int) -> float:
        return count_confirmed(DESIGNS[1], people=people, claims=10, runs=4000)

    found = find_people(lambda people: confirm(people) >= CONFIRMED)
    assert confirm(found) >= CONFIRMED > confirm(int(found * 0.9))


def test_the_methods_have_what_the_code_computes() -> None:
    text = (ROOT / "docs" / "methods" / "peeking.md").read_text("utf-8")
    [*_, row] = write_claims_table(compute_rows(DESIGNS[-1:])).splitlines()
    assert row in text.splitlines()
