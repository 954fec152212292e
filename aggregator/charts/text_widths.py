"""Text widths and line breaks in charts, computed quickly, without reading a font.

The widths are the same in Liberation Sans, Arial and Helvetica. Charts use the first of these
fonts; programs that open an SVG file elsewhere may use another.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

# Widths of the characters from space to tilde, in thousandths of the letter size.
_ASCII = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
_OTHERS = {
    "–": 556, "—": 1000, "‘": 222, "’": 222, "“": 333, "”": 333, "†": 556, "…": 1000,
    "≈": 549, "−": 584, "\u00a0": 278, "\u202f": 278, "×": 584, "·": 333, "ß": 611, "≥": 549,
}  # fmt: skip
_FULL = 1000  # the width of Chinese, Japanese and Korean letters and of emoji
_UNKNOWN = 720  # wider than most letters of other scripts, so that nothing overlaps
_BOLD = 1.09


@lru_cache(maxsize=4096)
def _width_of(letter: str) -> int:
    known = _find_known(letter)
    if known is not None:
        return known
    if unicodedata.combining(letter) or unicodedata.category(letter) == "Cf":
        return 0
    if unicodedata.east_asian_width(letter) in "WF" or ord(letter) > 0xFFFF:
        return _FULL
    base = _find_known(unicodedata.normalize("NFD", letter)[:1])  # an é is as wide as an e
    return _UNKNOWN if base is None else base


def _find_known(letter: str) -> int | None:
    place = ord(letter) - ord(" ")
    return _ASCII[place] if 0 <= place < len(_ASCII) else _OTHERS.get(letter)


def measure(text: str, *, size: float, bold: bool = False) -> float:
    """Return the width of text in points."""
    return sum(map(_width_of, text)) * size / 1000 * (_BOLD if bold else 1)


def wrap(text: str, *, width: float, size: float, bold: bool = False) -> list[str]:
    """Break text into lines, between words wherever possible."""
    lines: list[str] = []
    for word in _list_words(text, width=width, size=size, bold=bold):
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and measure(joined, size=size, bold=bold) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


def _list_words(text: str, *, width: float, size: float, bold: bool) -> Iterator[str]:
    """Yield the words of a string; a word that is wider than a line is split into parts."""
    for word in re.split(r"[ \t\r\n]+", text.strip(" \t\r\n")):
        rest = word
        while measure(rest, size=size, bold=bold) > width and len(rest) > 1:
            end = len(rest) - 1
            while end > 1 and measure(rest[:end], size=size, bold=bold) > width:
                end -= 1
            yield rest[:end]
            rest = rest[end:]
        if rest:
            yield rest
