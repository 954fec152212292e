"""Files of charts, as a worker makes them, and their contents."""

from __future__ import annotations

import struct
from xml.etree import ElementTree

from aggregator.exports.worker_files import find_recipe
from aggregator.results.display import find_view
from surveys.models import Survey

SVG = "{http://www.w3.org/2000/svg}"


def make_file(survey: Survey, name: str) -> bytes:
    """Make a file of a survey's results; raise the error that the recipe raises."""
    results, recipe = find_view(survey).results, find_recipe(name)
    assert results is not None
    assert recipe is not None
    assert recipe.find_inputs(results, name) is not None
    return recipe.render(results, name)


def exists(survey: Survey, name: str) -> bool:
    results, recipe = find_view(survey).results, find_recipe(name)
    assert results is not None
    return recipe is not None and recipe.find_inputs(results, name) is not None


def read_svg(survey: Survey, name: str) -> ElementTree.Element:
    return ElementTree.fromstring(make_file(survey, name))


def list_texts(root: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def list_marks(root: ElementTree.Element, kind: str) -> list[ElementTree.Element]:
    return [mark for mark in root.iter() if mark.get("data-mark") == kind]


def read_png_size(png: bytes) -> tuple[int, int, float]:
    """Read the width and height in pixels, and the pixels per inch."""
    width, height = struct.unpack(">II", png[16:24])
    start = png.index(b"pHYs") + 4
    per_metre, _, unit = struct.unpack(">IIB", png[start : start + 9])
    assert unit == 1
    return width, height, per_metre * 0.0254
