"""The concentration of watched intervals: which one is chosen, and what it must do."""

from __future__ import annotations

import pytest

from privacy.shares.concentration import choose_concentration


@pytest.mark.parametrize(
    ("expected", "concentration"),
    [
        (0, 40),
        (10, 40),
        (368, 40),
        (369, 41),
        (1000, 111),
        (1500.5, 166),
        (3599, 399),
        (3600, 400),
        (10**9, 400),
        (None, 150),
    ],
)
def test_the_concentration_is_a_ninth_of_the_reports_expected(
    expected: float | None, concentration: int
) -> None:
    chosen = choose_concentration(expected)
    assert chosen == concentration
    assert type(chosen) is int
