"""Numbers as pages write them."""

from __future__ import annotations

import pytest

from surveys.formatting import cap, delta


@pytest.mark.parametrize(
    ("hundredths", "written"), [(0, "0.00"), (5, "0.05"), (110, "1.10"), (300, "3.00")]
)
def test_a_cap_is_written_exactly(hundredths: int, written: str) -> None:
    assert cap(hundredths) == written


@pytest.mark.parametrize(
    ("nanos", "written"),
    [
        (0, "0"),
        (1, "10⁻⁹"),
        (5, "5 · 10⁻⁹"),
        (100, "10⁻⁷"),
        (250, "2.5 · 10⁻⁷"),
        (333, "3.33 · 10⁻⁷"),
        (1000, "10⁻⁶"),
    ],
)
def test_delta_is_written_as_a_power_of_ten(nanos: int, written: str) -> None:
    assert delta(nanos) == written
