"""The two figures of docs/methods, as SVG: lines of shares, in panels one above the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from aggregator.charts.text_widths import measure
from privacy.level import LEVEL
from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.coverage import exact_coverage
from scripts.documentation.methods_tables import GRID, NAMES, PEOPLE, RUNS, Watching

PAPER, INK, MUTED, LINE = "#fffdf9", "#25213a", "#5d5870", "#e6dfd3"
COLORS = ["#b4571f", "#5a2a63", "#2f7f79"]
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
WIDTH, LEFT, TOP, GAP, BELOW = 620, 62, 52, 20, 55
SMALL, LARGE = 10, 13

Points = Sequence[tuple[float, float]]
Ticks = Mapping[float, str]


@dataclass(frozen=True, kw_only=True)
class Figure:
    title: str
    x_title: str
    y_title: str
    x_ticks: Ticks  # the axes end at their first and last ticks
    y_ticks: Ticks
    rule: float  # a dashed line across each panel
    panels: Mapping[str, Mapping[str, Points]]  # for each panel's name, lines by name
    panel_height: int
    is_log: bool = False
    subtitle: str = ""


def render(figure: Figure) -> str:
    height = TOP + len(figure.panels) * (figure.panel_height + GAP) + BELOW
    width = LEFT + WIDTH + 18
    root = Element("svg", xmlns="http://www.w3.org/2000/svg", width=f"{width}", height=f"{height}")
    root.attrib |= {"viewBox": f"0 0 {width} {height}", "font-family": FONT}
    SubElement(root, "rect", width=f"{width}", height=f"{height}", fill=PAPER)
    _write(root, figure.title, 17, 26, size=LARGE, bold=True)
    _write(root, figure.subtitle, 17, 41, fill=MUTED, size=12)
    top = TOP
    for name, lines in figure.panels.items():
        _draw_panel(root, figure, name, lines, top=top)
        top += figure.panel_height + GAP
    bottom = top - GAP
    for value, text in figure.x_ticks.items():
        _write(root, text, _find_x(figure, value), bottom + 16, fill=MUTED, anchor="middle")
    _write(root, figure.x_title, LEFT + WIDTH / 2, bottom + 32, size=11, bold=True, anchor="middle")
    x = float(LEFT)
    for name, color in zip(next(iter(figure.panels.values())), COLORS, strict=False):
        _draw_line(root, [(x, bottom + 56), (x + 12, bottom + 56)], color=color, width=2.5)
        _write(root, name, x + 17, bottom + 60)
        x += 17 + measure(name, size=SMALL) + 16
    return ElementTree.tostring(root, encoding="unicode")


def _draw_panel(
    root: Element, figure: Figure, name: str, lines: Mapping[str, Points], *, top: float
) -> None:
    low, high = min(figure.y_ticks), max(figure.y_ticks)

    def find_y(value: float) -> float:
        inside = min(max(value, low), high)
        return top + figure.panel_height * (high - inside) / (high - low)

    for value in figure.x_ticks:
        x = _find_x(figure, value)
        _draw_line(root, [(x, top), (x, top + figure.panel_height)], color=LINE)
    for value, text in figure.y_ticks.items():
        _draw_line(root, [(LEFT, find_y(value)), (LEFT + WIDTH, find_y(value))], color=LINE)
        _write(root, text, LEFT - 7, find_y(value) + 3.5, fill=MUTED, anchor="end")
    title = f"{figure.y_title}, {name}" if name else figure.y_title
    middle = top + figure.panel_height / 2
    written = _write(root, title, 22, middle, size=11, bold=True, anchor="middle")
    written.set("transform", f"rotate(-90 22 {middle:g})")
    rule = [(LEFT, find_y(figure.rule)), (LEFT + WIDTH, find_y(figure.rule))]
    _draw_line(root, rule, color=MUTED).set("stroke-dasharray", "4 3")
    for points, color in zip(lines.values(), COLORS, strict=False):
        places = [(_find_x(figure, x), find_y(y)) for x, y in points]
        _draw_line(root, places, color=color, width=1.7)


def _find_x(figure: Figure, value: float) -> float:
    scale = log if figure.is_log else float
    low, high = scale(min(figure.x_ticks)), scale(max(figure.x_ticks))
    return LEFT + WIDTH * (scale(value) - low) / (high - low)


def _draw_line(root: Element, places: Points, *, color: str, width: float = 1) -> Element:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    line = SubElement(root, "polyline", points=points, fill="none", stroke=color)
    line.set("stroke-width", f"{width:g}")
    return line


def _write(
    root: Element,
    text: str,
    x: float,
    y: float,
    *,
    size: int = SMALL,
    fill: str = INK,
    bold: bool = False,
    anchor: str = "start",
) -> Element:
    element = SubElement(root, "text", x=f"{x:g}", y=f"{y:g}", fill=fill)
    element.attrib |= {"font-size": f"{size}", "text-anchor": anchor}
    if bold:
        element.set("font-weight", "bold")
    element.text = text
    return element


def picture_coverage() -> Figure:
    """Plot coverage by true share, for two coins and for ε = 4, n = 200."""
    return Figure(
        title="Exact coverage of 95 % intervals, n = 200",
        x_title="true share",
        y_title="coverage",
        x_ticks={value: f"{value:g}" for value in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)},
        y_ticks={value: f"{value:.2f}" for value in (0.92, 0.94, 0.96, 0.98, 1.0)},
        rule=LEVEL,
        panels={"ε = ln 3": _cover_all_shares(log(3)), "ε = 4": _cover_all_shares(4.0)},
        panel_height=170,
    )


def _cover_all_shares(epsilon: float) -> dict[str, Points]:
    mechanism = RandomizedResponse.from_epsilon(symbols=2, epsilon=epsilon)
    shares = GRID[::4]
    lines: dict[str, Points] = {}
    for method, name in NAMES.items():
        found = exact_coverage(
            shares=shares,
            total=200,
            other_probability=mechanism.other_probability,
            slope=mechanism.slope,
            level=LEVEL,
            method=method,
        )
        lines[name] = [(float(p), float(y)) for p, y in zip(shares, found, strict=True)]
    return lines


def picture_watching(run: Watching) -> Figure:
    """Plot the share of watched surveys that have missed the truth so far."""
    names = {
        "wald": "Wald, looked at after every report",
        "batches": "likelihood ratio, looked at every batch of 50",
        "looks": "at looks, 1,000 people expected",
    }
    looks = np.unique(np.round(np.geomspace(50, PEOPLE, 120)).astype(int))
    lines: dict[str, Points] = {
        name: [(int(n), float(getattr(run, key)[n - 1])) for n in looks]
        for key, name in names.items()
    }
    greatest = max(y for points in lines.values() for _, y in points)
    return Figure(
        title="Missing the truth while watching",
        subtitle=f"{RUNS:,} simulated surveys, two coins, true share {run.share}",
        x_title="reports so far",
        y_title="surveys that have missed at some look",
        x_ticks={value: f"{value:,}" for value in (50, 100, 200, 500, 1000, 2000, PEOPLE)},
        y_ticks={value / 20: f"{5 * value} %" for value in range(int(greatest * 20) + 2)},
        rule=1 - LEVEL,
        panels={"": lines},
        panel_height=320,
        is_log=True,
    )
