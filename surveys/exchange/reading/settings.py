"""Read Murmur's own columns: `murmur_flips`, `murmur_same_fact` and `murmur_bands`."""

from __future__ import annotations

from collections.abc import Mapping

from surveys.exchange.reading.lines import Line
from surveys.exchange.reading.questions import Item

_YES = {"yes", "y", "true", "true()", "1", "x"}


def say_yes(text: str) -> bool:
    return text.strip().casefold() in _YES


def read_flips(line: Line, column: str, text: str, item: Item) -> None:
    """Read how many of 100 answers flip, or keep the usual number if the text is invalid."""
    if not text:
        return
    if text.isdecimal() and 1 <= int(text) <= 49:
        item.content["flips"], item.flips_column = int(text), column
    else:
        line.note(column, "Flips must be a whole number from 1 to 49.")


def read_same_fact(column: str, text: str, item: Item) -> None:
    item.same_fact, item.same_fact_column = text, column if text else ""


def read_bands(line: Line, column: str, bands: Mapping[str, str], item: Item) -> bool:
    """Store the lines of bands by result, or return False if the formula has other results."""
    if {result for _, _, result in item.steps} != bands.keys():
        line.note(column, "Left out: the row computes other bands, or none.")
        return False
    item.bands = dict(bands)
    return True
