"""Draw QR codes of links, as SVG and PNG files."""

from __future__ import annotations

import io
from typing import Any

import segno

QUIET_ZONE = 4  # white modules around the code, as ISO/IEC 18004 requires
SCALE = 12  # pixels per module


def _make(link: str) -> Any:
    # Error correction level M restores 15 % of the code, enough for dirty or wet posters.
    # Many phones cannot read micro codes.
    return segno.make(link, error="m", boost_error=False, micro=False)


def draw_svg(link: str) -> bytes:
    out = io.BytesIO()
    _make(link).save(
        out,
        kind="svg",
        border=QUIET_ZONE,
        omitsize=True,
        svgclass=None,
        lineclass=None,
        dark="#000",
        light="#fff",
        title=link,
    )
    return out.getvalue()


def draw_png(link: str) -> bytes:
    out = io.BytesIO()
    _make(link).save(out, kind="png", border=QUIET_ZONE, scale=SCALE)
    return out.getvalue()
