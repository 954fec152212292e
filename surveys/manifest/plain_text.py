"""Decides whether two texts look the same to people."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """Reduce a text so that two texts that look the same to people become equal."""
    shown = (c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c)[0] != "C")
    return " ".join("".join(shown).split()).casefold()
