"""Makes the texts of a file harmless in any spreadsheet, and restores them exactly.

A spreadsheet that separates cells by semicolons splits a comma-separated file at each semicolon and
line break. Apostrophes are therefore put before formulas at all these places, not only at the start
of a cell.
"""

from __future__ import annotations

import re

from surveys.downloads import FORMULA_STARTS, PLACE

_STARTS = f"[{re.escape(''.join(FORMULA_STARTS))}]"
_FORMULA = re.compile(f"{PLACE}(?=['\"]*{_STARTS})", re.MULTILINE)
_DEFUSED = re.compile(f"{PLACE}'(?=['\"]*{_STARTS})", re.MULTILINE)


def defuse(text: str) -> str:
    return _FORMULA.sub("'", text)


def restore(cell: str) -> str:
    """Undo `defuse`. Text without added apostrophes stays the same."""
    return _DEFUSED.sub("", cell)
