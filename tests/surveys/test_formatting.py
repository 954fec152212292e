"""Numbers as pages write them."""

from __future__ import annotations

import pytest
from django.utils.translation import override

from surveys.formatting import cap, delta, join_list, mean_margin, percent, points, whole


@pytest.mark.parametrize(
    ("hundredths", "written"), [(0, "0.00"), (5, "0.05"), (110, "1.10"), (300, "3.00")]
)
def test_a_cap_is_written_exactly(hundredths: int, written: str) -> None:
    assert cap(hundredths) == written


@pytest.mark.parametrize(
    ("half_width", "unit", "written"),
    [
        (0.0462, "days", "±1.4 days (of 0 to 30)"),
        (0.0031, "", "±0.093 (of 0 to 30)"),
        (0.49, "days", "±15 days (of 0 to 30)"),
        (0.5, "days", "any value"),
    ],
)
def test_the_margin_of_a_mean_is_in_its_unit(half_width: float, unit: str, written: str) -> None:
    assert mean_margin(half_width, low=0, high=30, unit=unit) == written


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


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("en", ["1,234,567", "−12.3", "32\N{NO-BREAK SPACE}%", "2.5 · 10⁻⁷", "a, b and c"]),
        ("de", ["1.234.567", "−12,3", "32\N{NO-BREAK SPACE}%", "2,5 · 10⁻⁷", "a, b und c"]),
        ("zh-hans", ["1234567", "−12.3", "32%", "2.5 · 10⁻⁷", "a、b和c"]),
        # The direction mark keeps the minus sign to the left of its number.
        (
            "ar",
            [
                "1.234.567",
                "\N{LEFT-TO-RIGHT MARK}−12,3",
                "32\N{NO-BREAK SPACE}%",
                "2,5 · 10⁻⁷",
                "a، b وc",
            ],
        ),
    ],
)
def test_numbers_and_lists_are_written_as_in_the_language(
    language: str, written: list[str]
) -> None:
    with override(language):
        assert [
            whole(1_234_567),
            points(-0.1234, 1),
            percent(0.322),
            delta(250),
            join_list(["a", "b", "c"]),
        ] == written
