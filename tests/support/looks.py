"""The looks of a survey that is watched: ten, if as many people come as are usually expected."""

from __future__ import annotations

TEN_LOOKS = tuple(range(100, 1001, 100))
CRITICAL = 2.2701  # at the last of them, for 95 %
EXPECTED = 1000  # people


def looks_of(*, fixed_end: bool) -> tuple[int, ...]:
    """After a fixed end, nobody could choose by the results when to stop."""
    return () if fixed_end else TEN_LOOKS
