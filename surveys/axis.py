"""Places figures on an axis, for all pages, reports and charts that draw one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Whisker:
    """The positions of an estimate and its interval, as fractions of the axis's length."""

    low: float
    value: float
    high: float

    @property
    def start(self) -> str:
        """The start as the value of an SVG attribute. `dot` and `end` have the same form."""
        return _write(self.low)

    @property
    def dot(self) -> str:
        return _write(self.value)

    @property
    def end(self) -> str:
        return _write(self.high)


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis from one value to another, by default from 0 to 1 for shares."""

    least: float = 0.0
    greatest: float = 1.0
    ends: tuple[str, str] = ("", "")  # in words
    reference: float | None = None  # the value that means no difference

    def place(self, value: float) -> float:
        """Return the place of a value, from 0 to 1. A value beyond an end is placed at that end."""
        return min(max((value - self.least) / (self.greatest - self.least), 0.0), 1.0)

    def place_whisker(
        self, *, low: float | None, value: float | None, high: float | None
    ) -> Whisker | None:
        """Place an estimate and its interval; return None if there is no estimate."""
        if low is None or value is None or high is None:
            return None
        return Whisker(
            low=round(self.place(low), 4),
            value=round(self.place(value), 4),
            high=round(self.place(high), 4),
        )

    def mark(self, value: float | None) -> str:
        """Write the place of a value for an SVG attribute, or return "" if there is no value."""
        return "" if value is None else _write(self.place(value))


SHARES = Axis()


def _write(place: float) -> str:
    return f"{100 * place:.2f}%"
