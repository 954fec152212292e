"""Turn a placed figure into the bytes of a file; only workers do this, without network access."""

from __future__ import annotations

import zlib
from pathlib import Path
from struct import pack
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from aggregator.charts.layout import POINTS_PER_MM, Layout
from aggregator.charts.svg import draw
from aggregator.renderings.recipes import NotRenderable
from aggregator.typesetting.typst_files import NoFontError, typeset

FORMATS = ("svg", "pdf", "png")
PNG_DPI = 300
# Each dot of the picture takes 2 × 4 bytes of the worker's memory.
TALLEST_PNG_MM = 800
MISSING = (
    "Murmur has no font with the character “{character}”, so it cannot make this file. Download "
    "the chart as SVG."
)
TOO_TALL = "This chart is too tall for a PNG file. Download it as SVG or PDF."
_PAGE = Path(__file__).with_name("page.typ")
# The first two parts are for screen readers. The third is a white background, which every page has
# anyway.
_NOT_DRAWN = ("title", "desc", "rect")
_HEADER_END = 33  # where the signature and the first chunk of a PNG file end


def render(layout: Layout, *, file_format: str) -> bytes:
    picture = draw(layout)
    if file_format == "svg":
        return ElementTree.tostring(picture, encoding="unicode").encode()
    if file_format == "png" and layout.height / POINTS_PER_MM > TALLEST_PNG_MM:
        raise NotRenderable(TOO_TALL)
    page = _build_page(layout, picture)
    try:
        # A PNG needs this too, because only making an accessible PDF reveals characters that no
        # font has.
        pdf = typeset(_PAGE, data=page, is_accessible=True)
    except NoFontError as error:
        raise NotRenderable(MISSING.format(character=error)) from None
    if file_format == "pdf":
        return pdf
    return _set_density(typeset(_PAGE, data=page, file_format="png", dots_per_inch=PNG_DPI))


def _build_page(layout: Layout, picture: Element) -> dict[str, Any]:
    """Return the parts of the picture, as in the SVG file, for page.typ to draw."""
    return {
        "title": layout.figure.title,
        "width": layout.sheet.width,
        "height": layout.height,
        "parts": [
            {"kind": part.tag, "words": part.text, **part.attrib}
            for part in picture
            if part.tag not in _NOT_DRAWN
        ],
    }


def _set_density(png: bytes) -> bytes:
    """Write the number of dots per metre into a PNG file; Typst leaves it out."""
    dots = round(PNG_DPI / 0.0254)
    chunk = b"pHYs" + pack(">IIB", dots, dots, 1)
    written = pack(">I", len(chunk) - 4) + chunk + pack(">I", zlib.crc32(chunk))
    return png[:_HEADER_END] + written + png[_HEADER_END:]
