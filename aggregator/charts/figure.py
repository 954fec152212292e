"""A chart has rows, each with a dot and an interval, in sections that share an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import surveys.axis
from privacy.level import SIGNIFICANCE

Tick = tuple[float, str]
# An axis of shares ends at the first number of a pair, with ticks at multiples of the second.
_TOPS = (
    (0.05, 0.01), (0.1, 0.02), (0.15, 0.05), (0.2, 0.05), (0.25, 0.05), (0.3, 0.1),
    (0.4, 0.1), (0.5, 0.1), (0.6, 0.2), (0.8, 0.2), (1.0, 0.2),
)  # fmt: skip
MOST_TICKS = 7
# Intervals of odds ratios end in arrows where they extend beyond these values.
LEAST_RATIO, GREATEST_RATIO = 0.01, 100.0
LEAST_P = 1e-4  # smaller p-values are drawn at the end of the axis
_FINE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_COARSE = (0.01, 0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True, kw_only=True)
class Axis(surveys.axis.Axis):
    full: float = 1.0  # the greatest possible distance between two values
    is_ratio: bool = False  # a logarithmic axis, of odds ratios or p-values
    ticks: tuple[Tick, ...]
    title: str

    def place(self, value: float) -> float:
        if not self.is_ratio:
            return super().place(value)
        logs = surveys.axis.Axis(least=math.log(self.least), greatest=math.log(self.greatest))
        return logs.place(math.log(max(value, 1e-12)))


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure. If it has no value, it is drawn as a dashed line, and `text` says why."""

    label: str
    text: str  # "45 % (39–51)"
    value: float | None
    low: float | None = None
    high: float | None = None
    is_cautious: bool = False  # drawn with an open dot
    truth: float | None = None
    axis: Axis | None = None  # the separate axis of a mean
    ends: tuple[str, str] = ("", "")  # labels at the two ends of the axis
    is_caption: bool = False  # only a label, above the rows that it names
    is_indented: bool = False


@dataclass(frozen=True, kw_only=True)
class Section:
    """Rows below a heading, such as the options of a question."""

    heading: str
    rows: tuple[Row, ...]
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Panel:
    axis: Axis
    sections: tuple[Section, ...]


@dataclass(frozen=True, kw_only=True)
class Figure:
    title: str  # for screen readers only; papers have their own captions
    panels: tuple[Panel, ...]
    footnotes: tuple[str, ...]
    warning: str = ""  # a picture of a rehearsal must say that it is one

    @property
    def description(self) -> str:
        """Describe the picture in words."""
        sentences = [self.warning] if self.warning else []
        for panel in self.panels:
            for section in panel.sections:
                figures = "; ".join(f"{row.label}: {row.text}" for row in section.rows)
                sentences.append(" ".join(filter(None, (section.heading, section.note, figures))))
        return "\n".join((*sentences, *self.footnotes))


def make_share_axis(highs: Sequence[float] = ()) -> Axis:
    """Make an axis from 0 to 100 %, or to just above the greatest of `highs`."""
    greatest = max(highs, default=1.0)
    top, step = next(((top, step) for top, step in _TOPS if greatest <= top + 1e-9), _TOPS[-1])
    return Axis(
        least=0.0,
        greatest=top,
        ticks=tuple(
            (place * step, f"{100 * place * step:.0f}") for place in range(round(top / step) + 1)
        ),
        title="Share (%)",
    )


def make_difference_axis(
    values: Sequence[float], *, title: str, full: float = 1.0, factor: int = 1
) -> Axis:
    """Make an axis that includes 0; `factor` is 100 if fractions are shown as percentage points.

    `full` is the greatest possible distance between two values.
    """
    low, high = min((*values, 0.0)), max((*values, 0.0))
    step = _find_step((high - low) * factor) / factor
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    digits = max(0, -math.floor(math.log10(step * factor) + 1e-9))
    return Axis(
        least=first * step,
        greatest=last * step,
        full=full,
        ticks=tuple(
            (place * step, f"{place * step * factor:.{digits}f}".replace("-", "−"))
            for place in range(first, last + 1)
        ),
        title=title,
        reference=0.0,
    )


def _find_step(length: float) -> float:
    """Find a round step: 1, 2 or 5 times a power of ten."""
    wanted = max(length, 1e-6) / (MOST_TICKS - 2)
    power = 10.0 ** math.floor(math.log10(wanted))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= wanted - 1e-12)


def make_ratio_axis(values: Sequence[float]) -> Axis:
    """Make a logarithmic axis of odds ratios that shows at least 1 and the tick on either side."""
    low = max(min((*values, 0.5)), LEAST_RATIO)
    high = min(max((*values, 2.0)), GREATEST_RATIO)
    marks = _list_marks(_FINE, low, high)
    if len(marks) > MOST_TICKS:
        marks = _list_marks(_COARSE, low, high)
    return Axis(
        least=marks[0],
        greatest=marks[-1],
        is_ratio=True,
        ticks=tuple((one, f"{one:g}") for one in marks),
        title="Odds ratio (logarithmic axis)",
        reference=1.0,
    )


def make_p_axis() -> Axis:
    """Make an axis that places each p-value at 1/p, so that smaller values are to the right."""
    marks = (1.0, SIGNIFICANCE, 0.01, 0.001, LEAST_P)
    return Axis(
        least=1.0,
        greatest=1 / LEAST_P,
        is_ratio=True,
        ticks=tuple((1 / one, f"{one:.4g}") for one in marks),
        title="p, adjusted (logarithmic axis)",
        reference=1 / SIGNIFICANCE,
    )


def _list_marks(marks: Sequence[float], low: float, high: float) -> list[float]:
    """List the marks from the last at or below `low` to the first at or above `high`."""
    least = max(one for one in marks if one <= low)
    greatest = min(one for one in marks if one >= high)
    return [one for one in marks if least <= one <= greatest]


def make_mean_axis(scale: surveys.axis.Axis) -> Axis:
    """Make the axis of one mean, from the least to the greatest possible value."""
    full = scale.greatest - scale.least
    return Axis(least=scale.least, greatest=scale.greatest, full=full, ticks=(), title="")
