"""Which texts people would take for the same."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """What two texts have in common that people would take for the same."""
    shown = (c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c)[0] != "C")
    return " ".join("".join(shown).split()).casefold()
