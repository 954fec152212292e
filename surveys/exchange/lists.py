"""The three lists that show the result of an import: taken over, changed, left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_TITLES = {"left": "Left out", "changed": "Changed", "taken": "Taken over"}
# A longer list is folded, so that the three lists fit on a screen or two.
_MOST_OPEN = 25


@dataclass(frozen=True, kw_only=True)
class RowList:
    key: str
    title: str
    rows: Sequence[dict[str, Any]]

    @property
    def is_open(self) -> bool:
        return self.key != "taken" and len(self.rows) <= _MOST_OPEN


def build_lists(outcomes: Sequence[dict[str, Any]]) -> list[RowList]:
    return [
        RowList(key=key, title=title, rows=[one for one in outcomes if one["listed"] == key])
        for key, title in _TITLES.items()
    ]
