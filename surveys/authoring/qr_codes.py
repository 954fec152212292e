"""QR codes of addresses, as files that print sharply at any size."""

from __future__ import annotations

import io
from typing import Any

import segno

QUIET_ZONE = 4  # modules of white around it, as ISO/IEC 18004 demands
SCALE = 12  # pixels of a module


def _make(link: str) -> Any:
    # M mends 15 %: enough for a poster in the rain. Neither a higher level nor a micro code,
    # which many phones cannot read.
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
