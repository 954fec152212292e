"""Divides a long introduction, so that it does not push what people must know off the screen."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_WORDS = 15
# Of languages that put no spaces between words.
MOST_LETTERS = 40
_LETTERS_OF_A_WORD = 12  # More on average means that spaces do not divide words.
_WORD = re.compile(r"\S+")
_SENTENCE = re.compile(r".*?(?:[.!?؟…](?=\s)|[。！？])", re.DOTALL)


@dataclass(frozen=True)
class Introduction:
    start: str
    rest: str  # one tap below; empty for a short introduction


def fold_introduction(text: str) -> Introduction:
    words = list(_WORD.finditer(text))
    if len(text) > _LETTERS_OF_A_WORD * len(words):
        place = MOST_LETTERS
    else:
        place = words[MOST_WORDS - 1].end() if len(words) > MOST_WORDS else len(text)
    if place < len(text):
        # Whole sentences, if there are any.
        ends = [found.end() for found in _SENTENCE.finditer(text) if found.end() <= place]
        place = max(ends, default=place)
    return Introduction(text[:place], text[place:].strip())
