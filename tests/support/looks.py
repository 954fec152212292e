"""The looks of a watched survey: ten, if as many people answer as are expected."""

from __future__ import annotations

TEN_LOOKS = tuple(range(100, 1001, 100))
CRITICAL = 2.2701  # at the last look, for 95 %
EXPECTED = 1000  # people


def looks_of(*, fixed_end: bool) -> tuple[int, ...]:
    """Return no looks with a fixed end, where no one can use the results to choose when to stop."""
    return () if fixed_end else TEN_LOOKS
