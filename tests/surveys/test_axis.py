"""Places on an axis, as fractions of its length and as attributes of SVG elements."""

from __future__ import annotations

from surveys.axis import SHARES, Axis, Whisker


def test_whiskers_that_leave_the_axis_are_cut() -> None:
    axis = Axis(least=-1, greatest=1, reference=0)
    assert [axis.mark(value) for value in (-5, 0, 5)] == ["0.00%", "50.00%", "100.00%"]
    whisker = axis.place_whisker(low=-5, value=0.5, high=5)
    assert whisker
    assert (whisker.start, whisker.dot, whisker.end) == ("0.00%", "75.00%", "100.00%")


def test_what_is_unknown_has_no_place() -> None:
    assert SHARES.mark(None) == ""
    assert SHARES.place_whisker(low=0, value=None, high=1) is None
    assert SHARES.place_whisker(low=0, value=0, high=1) == Whisker(low=0, value=0, high=1)
