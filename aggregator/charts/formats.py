"""Turns an SVG picture into the bytes of a file. It needs no network, and runs in workers only.

vl-convert is imported inside functions: it starts threads, and a worker that forked after
importing it would hang.
"""

from __future__ import annotations

from aggregator.charts.layout import POINTS_PER_MM, Layout
from aggregator.charts.svg import draw_svg
from aggregator.renderings.recipes import NotRenderable

FORMATS = ("svg", "pdf", "png")
PNG_DPI = 300
# The picture takes 4 bytes for each of its dots in the worker's memory.
TALLEST_PNG_MM = 1000
TOO_TALL = "This chart is too tall for a PNG file. Download it as SVG or PDF."


def render(layout: Layout, *, file_format: str) -> bytes:
    if file_format == "svg":
        return draw_svg(layout).encode()
    import vl_convert

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
