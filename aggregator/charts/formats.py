"""Turns an SVG picture into the bytes of a file. It needs no network, and runs in workers only.

vl-convert is imported inside functions: it starts threads, and a worker that forked after
importing it would hang.
"""

from __future__ import annotations

from functools import cache

from aggregator.charts.layout import POINTS_PER_MM, Layout
from aggregator.charts.svg import FONT, draw_svg
from aggregator.renderings.recipes import NotRenderable

FORMATS = ("svg", "pdf", "png")
PNG_DPI = 300
# The picture takes 4 bytes for each of its dots in the worker's memory.
TALLEST_PNG_MM = 1000
# No font has it, so its picture is that of a missing letter.
_NEVER = "\U000effff"
_LETTER = (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="12" height="12" font-family="{FONT}">'
    '<text y="10" font-size="10">{}</text></svg>'
)
MISSING = (
    "This server has no font with the letter “{letter}”, so it cannot make this file. Download "
    "the chart as SVG, or ask the administrator to install a font."
)
TOO_TALL = "This chart is too tall for a PNG file. Download it as SVG or PDF."


def render(layout: Layout, *, file_format: str) -> bytes:
    if file_format == "svg":
        return draw_svg(layout).encode()
    import vl_convert

    if missing := _find_missing(layout.figure.description):
        raise NotRenderable(MISSING.format(letter=missing))
    if file_format == "pdf":
        # It takes a length without a unit for points.
        pdf: bytes = vl_convert.svg_to_pdf(draw_svg(layout, in_millimetres=False))
        return pdf
    if layout.height / POINTS_PER_MM > TALLEST_PNG_MM:
        raise NotRenderable(TOO_TALL)
    png: bytes = vl_convert.svg_to_png(
        draw_svg(layout, in_millimetres=False, dots_per_inch=PNG_DPI), scale=1, ppi=PNG_DPI
    )
    return png


def _find_missing(text: str) -> str:
    """Find a letter that no font of this machine has; empty if all can be drawn."""
    nothing = _draw_letter(_NEVER)
    letters = (letter for letter in dict.fromkeys(text) if letter.isalnum())
    return next((one for one in letters if _draw_letter(one) == nothing), "")


@cache
def _draw_letter(letter: str) -> bytes:
    import vl_convert

    # Letters and digits have no meaning in XML.
    png: bytes = vl_convert.svg_to_png(_LETTER.format(letter))
    return png
