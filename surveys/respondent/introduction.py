"""Folds a long introduction, so that it does not push important text off the screen."""

from __future__ import annotations

import re
from dataclasses import dataclass

from surveys.respondent.label.length import WITHOUT_SPACES

MOST_WORDS = 15
MOST_LETTERS = 40  # in languages that put no spaces between words
_WORD = re.compile(r"\S+")
_SENTENCE = re.compile(r".*?(?:[.!?؟…](?=\s)|[。！？])", re.DOTALL)


@dataclass(frozen=True)
class Introduction:
    start: str
    rest: str  # shown after a tap; empty for a short introduction


def fold_introduction(text: str) -> Introduction:
    words = list(_WORD.finditer(text))
    if WITHOUT_SPACES.search(text):
        place = MOST_LETTERS
    else:
        place = words[MOST_WORDS - 1].end() if len(words) > MOST_WORDS else len(text)
    if place < len(text):
        # End after a whole sentence if one fits.
        ends = [found.end() for found in _SENTENCE.finditer(text) if found.end() <= place]
        place = max(ends, default=place)
    return Introduction(text[:place], text[place:].strip())
