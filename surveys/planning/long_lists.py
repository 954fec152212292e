"""Warns about questions with so many answers that most codes are swapped."""

from __future__ import annotations

from privacy.planning.designs import subset_selection_ratio

MOST_PEOPLE = 1.1  # times as many people as the best known mechanism needs


def describe_long_list(*, codes: int, epsilon: float, share: float) -> str:
    """Say how many more people a long list needs, or return "" if it needs hardly any more."""
    ratio = subset_selection_ratio(symbols=codes, epsilon=epsilon, share=share)
    if ratio <= MOST_PEOPLE:
        return ""
    return (
        f"For this strength, {codes} codes are many. The question takes {ratio:.1f} times as many "
        "people as the best known method, which Murmur does not offer yet. Offer fewer answers, or "
        "protect them less."
    )
