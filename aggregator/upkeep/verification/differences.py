"""The differences that verification finds between stored data and the batches."""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose
from typing import Any

from surveys.models import Wave

RESTORE = "Restore it from a backup, then run verify again."


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Stored data that differs from the batches."""

    kind: str  # wave, reports, batch, snapshot, rows, comparison, ledger, release or half
    where: str
    number: int  # a batch's number, a snapshot's through_batch, or otherwise a primary key
    finding: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.where}: {self.finding}. {self.remedy}"


def name_wave(wave: Wave) -> str:
    coins = ", two coins" if wave.mode == Wave.Mode.MANUAL else ""
    return f"Survey {wave.survey.slug}, wave {wave.number}{coins}"


def agree(stored: Any, computed: Any, tolerance: float) -> bool:
    """Return whether two results from JSON are equal, with numbers equal within the tolerance."""
    if isinstance(stored, dict) and isinstance(computed, dict):
        return stored.keys() == computed.keys() and all(
            agree(stored[key], computed[key], tolerance) for key in stored
        )
    if isinstance(stored, list) and isinstance(computed, list):
        return len(stored) == len(computed) and all(
            agree(a, b, tolerance) for a, b in zip(stored, computed, strict=True)
        )
    if isinstance(stored, float) or isinstance(computed, float):
        numbers = isinstance(stored, int | float) and isinstance(computed, int | float)
        return numbers and isclose(stored, computed, rel_tol=tolerance, abs_tol=tolerance)
    return bool(stored == computed)
