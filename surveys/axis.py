"""Where figures are on an axis, for every page, report and chart that draws one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Whisker:
    """Where an estimate and its interval are on an axis, as parts of its length."""

    low: float
    value: float
    high: float

    @property
    def start(self) -> str:
        """As an attribute of an SVG element; `dot` and `end` too."""
        return _write(self.low)

    @property
    def dot(self) -> str:
        return _write(self.value)

    @property
    def end(self) -> str:
        return _write(self.high)


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis from one value to another; usually that of shares."""

    least: float = 0.0
    greatest: float = 1.0
    ends: tuple[str, str] = ("", "")  # in words
    reference: float | None = None  # where there is no difference

    def place(self, value: float) -> float:
        """Return where a value is, from 0 to 1; what lies beyond an end is at the end."""
        return min(max((value - self.least) / (self.greatest - self.least), 0.0), 1.0)

    def place_whisker(
        self, *, low: float | None, value: float | None, high: float | None
    ) -> Whisker | None:
        """Place an estimate and its interval; None if there is no estimate."""
        if low is None or value is None or high is None:
            return None
        return Whisker(
            low=round(self.place(low), 4),
            value=round(self.place(value), 4),
            high=round(self.place(high), 4),
        )

    def mark(self, value: float | None) -> str:
        """Write where a single value is, as an attribute of an SVG element; empty without one."""
        return "" if value is None else _write(self.place(value))


SHARES = Axis()


def _write(place: float) -> str:
    return f"{100 * place:.2f}%"
