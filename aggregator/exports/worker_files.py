"""The files that workers make on request, and their types."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from aggregator.charts.recipes import CHARTS, COMPARISON_CHARTS
from aggregator.renderings.recipes import Recipe
from aggregator.study_report.files.recipe import REPORT

CONTENT_TYPES: Mapping[str, str] = {
    ".svg": "image/svg+xml",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
# The keys are the first words of file names, such as "chart" of chart-q3.85mm.svg.
RECIPES: dict[str, Recipe] = {
    "chart": CHARTS,
    "comparison": COMPARISON_CHARTS,
    "report": REPORT,
}


def find_recipe(name: str) -> Recipe | None:
    """Return how a file with this name is made, or None if there is no such kind of file."""
    if PurePath(name).suffix not in CONTENT_TYPES:
        return None
    return RECIPES.get(name.partition(".")[0].partition("-")[0])


def find_content_type(name: str) -> str:
    return CONTENT_TYPES[PurePath(name).suffix]
