"""Chart files have few possible names, so that few rows and few files exist."""

from __future__ import annotations

import pytest

from aggregator.charts.names import ChartName, read_name, write_name


def test_a_name_says_what_a_chart_shows_and_how() -> None:
    assert read_name("chart-q3.85mm.max.pdf") == ChartName(
        stem="chart-q3", width=85, ends_at_data=True, file_format="pdf"
    )
    name = read_name("comparison-17.180mm.svg")
    assert name is not None
    assert (name.kind, name.subject, name.ends_at_data) == ("comparison", "17", False)


@pytest.mark.parametrize(
    "name",
    [
        "chart.svg",
        "chart.90mm.svg",
        "chart.0180mm.svg",
        "chart.180mm.gif",
        "chart.180mm.min.svg",
        "chart.180mm.svg.svg",
        "Chart.180mm.svg",
        "chart-ä.180mm.svg",
        "chart.180mm.svg\n",
    ],
)
def test_other_names_are_unknown(name: str) -> None:
    assert read_name(name) is None


def test_a_choice_in_a_form_becomes_a_name() -> None:
    choice = {"stem": "chart-q3", "width": "85", "file_format": "png"}
    assert write_name(axis="", **choice) == "chart-q3.85mm.png"
    assert write_name(axis="max", **choice) == "chart-q3.85mm.max.png"
    assert write_name(axis="min", **choice) is None
    assert write_name(axis="", **{**choice, "width": "86"}) is None
