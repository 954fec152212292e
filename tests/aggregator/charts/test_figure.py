"""Axes end where the data end, and less certain figures are drawn with less ink."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from aggregator.charts.figure import (
    Axis,
    Row,
    make_difference_axis,
    make_mean_axis,
    make_ratio_axis,
    make_share_axis,
)
from aggregator.charts.ink import PALE, Ink, find_ink
from surveys.axis import Axis as PlainAxis


def ticks(axis: Axis) -> list[str]:
    return [text for _, text in axis.ticks]


def row(low: float, high: float) -> Row:
    return Row(label="", text="", value=(low + high) / 2, low=low, high=high)


def test_an_axis_of_shares_ends_at_100_or_above_the_greatest_value() -> None:
    assert ticks(make_share_axis()) == ["0", "20", "40", "60", "80", "100"]
    assert ticks(make_share_axis([0.04, 0.12])) == ["0", "5", "10", "15"]
    assert ticks(make_share_axis([0.3])) == ["0", "10", "20", "30"]
    assert make_share_axis([0.97]).greatest == 1


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((-0.11, 0.12), ["−15", "−10", "−5", "0", "5", "10", "15"]),
        ((0.01, 0.02), ["0.0", "0.5", "1.0", "1.5", "2.0"]),
        ((-0.9, 0.9), ["−100", "−80", "−60", "−40", "−20", "0", "20", "40", "60", "80", "100"]),
    ],
)
def test_an_axis_of_differences_has_0_and_round_steps(
    ends: tuple[float, float], expected: list[str]
) -> None:
    axis = make_difference_axis(ends, title="", factor=100)
    assert "0" in (text.removesuffix(".0") for text in ticks(axis))
    assert axis.least <= ends[0]
    assert axis.greatest >= ends[1]
    assert len(axis.ticks) <= 9
    if expected[0] != "−100":
        assert ticks(axis) == expected


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0.8, 1.5), ["0.5", "1", "2"]),
        ((0.3, 4.0), ["0.2", "0.5", "1", "2", "5"]),
        ((0.0, math.inf), ["0.01", "0.1", "1", "10", "100"]),
        ((0.08, 120.0), ["0.01", "0.1", "1", "10", "100"]),
    ],
)
def test_an_axis_of_ratios_has_1_and_ends_at_ticks(
    ends: tuple[float, float], expected: list[str]
) -> None:
    axis = make_ratio_axis(ends)
    assert ticks(axis) == expected
    assert axis.place(axis.least) == 0
    assert axis.place(axis.greatest) == 1
    assert axis.place(0.0) == 0
    assert axis.place(math.inf) == 1


def ink_of(found: Ink, length: float, *, points: float = 200) -> float:
    """Return the area of the line and the dot, multiplied by their darkness."""
    darkness = 1 - luminance(found.color)
    return darkness * (length * points * found.line + math.pi * found.dot**2)


def luminance(color: str) -> float:
    def linear(part: int) -> float:
        share = part / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


def test_the_widest_interval_is_the_lightest_mark() -> None:
    axis = make_share_axis()
    widths = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5]
    inks = [find_ink(row(0.2, 0.2 + width), axis) for width in widths]
    areas = [ink_of(one, width) for one, width in zip(inks, widths, strict=True)]
    # The areas are only nearly equal, because no line may be too thin to print.
    assert all(wider <= 1.05 * area for area, wider in pairwise(areas))
    assert areas[0] > 1.3 * areas[-1]
    shades = [luminance(one.color) for one in inks]
    assert shades == sorted(shades)
    assert [one.line for one in inks] == sorted((one.line for one in inks), reverse=True)
    assert [one.dot for one in inks] == sorted((one.dot for one in inks), reverse=True)


def test_the_palest_mark_is_still_visible_in_grey() -> None:
    color = "#" + "".join(f"{part:02x}" for part in PALE)
    assert 1.05 / (luminance(color) + 0.05) >= 3  # the contrast that WCAG requires for graphics


def test_a_mean_and_a_ratio_are_measured_on_their_own_scales() -> None:
    days = make_mean_axis(PlainAxis(least=0, greatest=30))
    assert find_ink(row(5, 20), days) == find_ink(row(0, 0.5), make_share_axis())
    ratio = make_ratio_axis((0.1, 100))
    assert find_ink(row(0.1, 100), ratio).dot < find_ink(row(1, 1.5), ratio).dot
    assert find_ink(row(0, math.inf), ratio) == find_ink(row(0, 1), make_share_axis())
