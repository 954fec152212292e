"""The looks of a watched survey: ten, if as many people answer as are expected."""

from __future__ import annotations

TEN_LOOKS = tuple(range(100, 1001, 100))
CRITICAL = 2.2701  # at the last look, for 95 %
EXPECTED = 1000  # people


def looks_of(*, fixed_end: bool) -> tuple[int, ...]:
    """Return no looks if the end is fixed, as no one can then choose the end by the results."""
    return () if fixed_end else TEN_LOOKS
