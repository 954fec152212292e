"""The sources of an interval's width: sampling, scrambling on the device and publication noise.

Variances add up; half-widths do not. The picture therefore shows shares of the variance. The text
gives the half-width that each source alone would produce, and how much publication widens the
interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import hypot

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as noop

from privacy.central.table import SpreadParts
from privacy.level import Z_95
from surveys.formatting import points

NONE = noop("none")  # for example, the part of scrambling if an answer was sent as it is


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A part of the bar; `start` and `width` are attributes of an SVG rectangle."""

    name: str
    start: str
    width: str
    text: str  # the half-width that this part alone would give


@dataclass(frozen=True, kw_only=True)
class Spread:
    """`total` is the half-width of the 95 % interval with its unit; `half_width` has no unit."""

    pieces: tuple[Piece, ...]
    total: str
    half_width: str
    widening: str  # "0.8 %", or "" if there is nothing but publication noise


def write_points(half_width: float) -> str:
    """Write the half-width of a share, such as ± 6.1."""
    return f"± {points(half_width, 1 if half_width >= 0.001 else 2)}"


def draw_spread(
    parts: SpreadParts, *, write: Callable[[float], str] = write_points, unit: str = "points"
) -> Spread:
    """Draw the parts of a standard error; `write` writes a half-width without its unit."""
    named = {
        "people": parts.people,
        "scrambling": parts.scrambling,
        "publication": parts.publication,
    }
    whole = sum(part * part for part in named.values())
    half_width = write(Z_95 * parts.total)
    pieces, start = [], 0.0
    for name, part in named.items():
        width = part * part / whole if whole else 0.0
        pieces.append(
            Piece(
                name=name,
                start=f"{100 * start:.2f}%",
                width=f"{100 * width:.2f}%",
                text=write(Z_95 * part) if part else gettext(NONE),
            )
        )
        start += width
    return Spread(
        pieces=tuple(pieces),
        total=f"{half_width} {unit}".rstrip(),
        half_width=half_width,
        widening=_write_widening(parts),
    )


def _write_widening(parts: SpreadParts) -> str:
    """Say by how much publication widens the interval, in per cent."""
    without = hypot(parts.people, parts.scrambling)
    if not without:
        return ""
    wider = 100 * (hypot(without, parts.publication) / without - 1)
    if wider < 0.05:
        return "less than 0.1\N{NO-BREAK SPACE}%"
    return f"{wider:,.{0 if wider >= 10 else 1}f}\N{NO-BREAK SPACE}%"
