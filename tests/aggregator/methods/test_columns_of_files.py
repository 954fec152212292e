"""The methods explain every column of the files of breakdowns and releases, and no other column."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from aggregator.exports import breakdown
from aggregator.exports.ledger import ROW_COLUMNS, WAVE_COLUMNS
from aggregator.exports.releases import COLUMNS
from scripts.stack.stack import ROOT

TEXT = (ROOT / "docs" / "methods" / "files.md").read_text(encoding="utf-8")


def columns_below(header: str) -> list[str]:
    """Return the names in the first column of all tables with this header."""
    found = []
    for table in TEXT.split(f"| {header} | meaning |\n|---|---|\n")[1:]:
        for line in table.split("\n\n")[0].splitlines():
            found += re.findall(r"`([a-z0-9_]+)`", line.split("|")[1])
    return found


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("column of a breakdown", breakdown.COLUMNS),
        ("column of the public CSV", COLUMNS),
        ("column of the ledger", [*ROW_COLUMNS, *WAVE_COLUMNS]),
    ],
)
def test_every_column_is_explained_once(header: str, columns: Iterable[str]) -> None:
    assert sorted(columns_below(header)) == sorted(columns)
