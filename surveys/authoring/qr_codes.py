"""QR codes of addresses, as files that print sharply at any size."""

from __future__ import annotations

import io
from typing import Any

import segno

QUIET_ZONE = 4  # white modules around it, as ISO/IEC 18004 requires
SCALE = 12  # pixels per module


def _make(link: str) -> Any:
    # Level M repairs 15 % of the code, which is enough for a poster in the rain. Many phones
    # cannot read micro codes.
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
