"""Choose the colour, line width and dot size of figures: the more precise, the more ink.

A wide interval is a long line. If all lines were alike, the least certain figure would be the
heaviest mark in a chart. Longer lines are therefore thinner and paler, and have smaller dots.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from aggregator.charts.figure import Axis, Row

# Interval widths, as fractions of the possible range.
PRECISE, VAGUE = 0.05, 0.5
DARK, PALE = (0x33, 0x14, 0x3D), (0x97, 0x8B, 0x9C)
LINE_TIMES_WIDTH = 0.12  # so that all lines have the same area
THIN, THICK = 0.4, 2.4
SMALL_DOT, LARGE_DOT = 1.3, 2.8
# An interval of odds ratios from 1 to 10 counts as being as wide as 30 points of a share.
_RATIO_UNIT = math.log(10) / 0.3


@dataclass(frozen=True, kw_only=True)
class Ink:
    color: str
    line: float  # width in points
    dot: float  # radius in points


def find_ink(row: Row, axis: Axis) -> Ink:
    width = _find_width(row, axis)
    known = min(max((VAGUE - width) / (VAGUE - PRECISE), 0.0), 1.0)
    shades = (round(pale + (dark - pale) * known) for pale, dark in zip(PALE, DARK, strict=True))
    return Ink(
        color="#" + "".join(f"{shade:02x}" for shade in shades),
        line=min(max(LINE_TIMES_WIDTH / max(width, 1e-6), THIN), THICK),
        dot=SMALL_DOT + (LARGE_DOT - SMALL_DOT) * known,
    )


def _find_width(row: Row, axis: Axis) -> float:
    """Return the width of the interval as a fraction of the possible range."""
    if row.low is None or row.high is None:
        return VAGUE
    if axis.is_ratio:
        low, high = (math.log(max(end, 1e-12)) for end in (row.low, row.high))
        return (high - low) / _RATIO_UNIT
    return (row.high - row.low) / axis.full
