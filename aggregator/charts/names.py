"""Names of chart files, which state what a file shows, its width, its axis and its format.

`chart.180mm.svg` shows all questions, `chart-part2.85mm.max.pdf` the second part of a long survey,
`chart-q3.85mm.png` one question, and `comparison-17.180mm.svg` a comparison.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aggregator.charts.formats import FORMATS
from aggregator.charts.layout import SHEETS

_NAME = re.compile(
    r"(?P<stem>[a-z0-9-]{1,40})\.(?P<width>[0-9]{2,3})mm(?P<max>\.max)?\.(?P<format>[a-z]{3})"
)


_PART = re.compile("(?:part([2-9]|[1-9][0-9]))?")
AXIS_MAX = "max"


@dataclass(frozen=True, kw_only=True)
class ChartName:
    stem: str  # "chart-q3"
    width: int  # in millimetres
    ends_at_data: bool  # whether the axis ends near the greatest value instead of at 100 %
    file_format: str

    @property
    def kind(self) -> str:
        return self.stem.partition("-")[0]

    @property
    def subject(self) -> str:
        """The part after the kind, such as q3, part2 or 17; an empty string for all questions."""
        return self.stem.partition("-")[2]

    @property
    def number(self) -> str:
        """The number of a comparison."""
        return self.subject.partition("-")[0]

    @property
    def part(self) -> str:
        """The question or part of a breakdown, or an empty string for the whole comparison."""
        return self.subject.partition("-")[2]


def read_name(name: str) -> ChartName | None:
    """Read the name of a chart; return None if no chart can have this name."""
    found = _NAME.fullmatch(name)
    if found is None or found["format"] not in FORMATS or int(found["width"]) not in SHEETS:
        return None
    return ChartName(
        stem=found["stem"],
        width=int(found["width"]),
        ends_at_data=found["max"] is not None,
        file_format=found["format"],
    )


def read_part(text: str) -> int | None:
    """Return the number of a part: 1 for an empty string, 2 for "part2", None for other strings."""
    found = _PART.fullmatch(text)
    return (int(found[1]) if found[1] else 1) if found else None


def write_name(*, stem: str, width: str, axis: str, file_format: str) -> str | None:
    """Write the name of the chart chosen in a form; return None if no chart can have it."""
    end = ".max" if axis == AXIS_MAX else ""
    name = f"{stem}.{width}mm{end}.{file_format}"
    return name if axis in ("", AXIS_MAX) and read_name(name) is not None else None
