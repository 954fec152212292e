"""The two figures of docs/methods, as Vega-Lite specifications and as SVG."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from privacy.mechanism.mechanisms import RandomizedResponse
from privacy.shares.coverage import exact_coverage
from scripts.documentation.methods_tables import GRID, LEVEL, NAMES, PEOPLE, RUNS, Watching

PAPER, INK, MUTED, LINE = "#fffdf9", "#25213a", "#5d5870", "#e6dfd3"
COLORS = ["#b4571f", "#5a2a63", "#2f7f79"]
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"


def render(specification: dict[str, Any]) -> str:
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(specification, allowed_base_urls=[])
    return svg


def _frame(specification: dict[str, Any]) -> dict[str, Any]:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": PAPER,
        "padding": 16,
        "config": {
            "font": FONT,
            "view": {"stroke": None},
            "axis": {"labelColor": MUTED, "titleColor": INK, "gridColor": LINE, "domain": False},
            "legend": {"labelColor": INK, "titleColor": INK, "orient": "bottom", "labelLimit": 400},
            "title": {"color": INK, "subtitleColor": MUTED, "anchor": "start"},
        },
        **specification,
    }


def picture_coverage() -> dict[str, Any]:
    """Plot coverage by true share, for two coins and for ε = 4, n = 200."""
    labels = {"ε = ln 3": log(3), "ε = 4": 4.0}
    values = [
        value for label, epsilon in labels.items() for value in _cover_all_shares(label, epsilon)
    ]
    y = {
        "field": "coverage",
        "type": "quantitative",
        "title": "coverage",
        "scale": {"domain": [0.92, 1], "clamp": True},
    }
    lines = {
        "mark": {"type": "line", "strokeWidth": 1.5},
        "encoding": {"x": _shares(), "y": y, "color": _colors(list(NAMES.values()))},
    }
    row = {"field": "e", "type": "nominal", "title": None, "sort": list(labels)}
    return _frame(
        {
            "data": {"values": values},
            "title": {"text": "Exact coverage of 95 % intervals, n = 200"},
            "facet": {"row": row},
            "spec": {"width": 620, "height": 170, "layer": [lines, _rule(LEVEL)]},
        }
    )


def _cover_all_shares(label: str, epsilon: float) -> list[dict[str, Any]]:
    mechanism = RandomizedResponse.from_epsilon(symbols=2, epsilon=epsilon)
    values = []
    for method, name in NAMES.items():
        found = exact_coverage(
            shares=GRID[::4],
            total=200,
            other_probability=mechanism.other_probability,
            slope=mechanism.slope,
            level=LEVEL,
            method=method,
        )
        values += [
            {"share": round(float(p), 4), "coverage": round(float(y), 5), "kind": name, "e": label}
            for p, y in zip(GRID[::4], found, strict=True)
        ]
    return values


def _shares() -> dict[str, Any]:
    return {
        "field": "share",
        "type": "quantitative",
        "title": "true share",
        "axis": {"values": [0, 0.2, 0.4, 0.6, 0.8, 1]},
    }


def _rule(height: float) -> dict[str, Any]:
    """Draw a dashed line across the whole figure."""
    return {
        "mark": {"type": "rule", "color": MUTED, "strokeDash": [4, 3]},
        "encoding": {"y": {"datum": height}},
    }


def picture_watching(run: Watching) -> dict[str, Any]:
    """Plot the share of all watched surveys that have missed the truth so far."""
    names = {
        "wald": "Wald, looked at after every report",
        "batches": "likelihood ratio, looked at every batch of 50",
        "sequence": "sequence, κ = 150, looked at after every report",
    }
    looks = np.unique(np.round(np.geomspace(50, PEOPLE, 120)).astype(int))
    values = [
        {"n": int(n), "missed": round(float(getattr(run, key)[n - 1]), 5), "kind": name}
        for key, name in names.items()
        for n in looks
    ]
    title = {
        "text": "Missing the truth while watching",
        "subtitle": f"{RUNS:,} simulated surveys, two coins, true share {run.share}",
    }
    y = {
        "field": "missed",
        "type": "quantitative",
        "title": "surveys that have missed at some look",
        "axis": {"format": "%"},
    }
    lines = {
        "mark": {"type": "line", "strokeWidth": 2.5},
        "encoding": {"x": _reports(), "y": y, "color": _colors(list(names.values()))},
    }
    return _frame(
        {
            "data": {"values": values},
            "title": title,
            "width": 620,
            "height": 320,
            "layer": [lines, _rule(1 - LEVEL)],
        }
    )


def _reports() -> dict[str, Any]:
    return {
        "field": "n",
        "type": "quantitative",
        "title": "reports so far",
        "scale": {"type": "log", "domain": [50, PEOPLE], "nice": False},
        "axis": {"values": [50, 100, 200, 500, 1000, 2000, 5000]},
    }


def _colors(names: list[str]) -> dict[str, Any]:
    return {
        "field": "kind",
        "type": "nominal",
        "title": None,
        "sort": None,
        "scale": {"domain": names, "range": COLORS[: len(names)]},
    }
