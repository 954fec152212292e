"""Decides whether two texts look the same to people, and whether two questions ask the same."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

# Letters of other scripts that look like a Latin one: the most common of Unicode's confusables
# (UTS 39). Case is folded first, so Cyrillic and Greek capitals are not listed.
_SMALL = str.maketrans(
    {
        lookalike: letter
        for letter, lookalikes in {
            "a": "аαɑ",
            "b": "вβ",
            "c": "сϲ",
            "d": "ԁ",
            "e": "еεє",
            "g": "ɡ",
            "h": "нһ",
            "i": "іιıї",
            "j": "јȷϳ",
            "k": "кκ",
            "l": "ӏ",
            "m": "м",
            "n": "η",
            "o": "оο",
            "p": "рρ",
            "q": "ԛ",
            "r": "г",
            "s": "ѕ",
            "t": "тτ",
            "u": "υ",
            "v": "ѵν",
            "w": "ԝω",
            "x": "хχ",
            "y": "уγү",
        }.items()
        for lookalike in lookalikes
    }
)
# Greek capitals that look like a Latin letter; the small form may look like another one. They are
# replaced only in texts that are mostly Latin, so that case makes no difference in Greek ones.
_CAPITALS = str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX")
_SHOWN_NOWHERE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\ufe00-\ufe0f\uffa0]")
_ENCLOSED = re.compile("[\u2460-\u2473\u24b6-\u24ea\u2776-\u2793]|\\d[\ufe0f]?\u20e3")
# A number in front of a text: "1.", "2)", "(3)", "4 –", "b)", "iv.", "Q5", "Question 6:". What may
# belong to the text stays, as in "2 children?", "1.5 litres?", "5 – 10 glasses?" and "U.S.".
_QUESTION = "question|frage|pregunta|pergunta|domanda|вопрос|السؤال|سؤال|问题|問題|q|no|nr|n"
_NUMBER = re.compile(
    rf"""\W* (?:
      (?:(?:{_QUESTION})\W{{0,2}})? \d+(?:\.\d+)*[a-z]?
        (?:\ ?[)\]:、](?!\d) | \.(?![\d]) | \ ?[-–—|]\ (?!\d))
    | (?:question|frage|pregunta|pergunta|domanda|q)\ ?\d+[a-z]?(?=\ )
    | (?:[^\W\d_]|[ivx]{{2,5}}) (?:\ ?[)\]:](?!\d) | \.(?=\ ) | \ ?[-–—|]\ (?!\d))
    )\W*""".translate(_SMALL),
    re.VERBOSE,
)
# Similar texts have one difference for so many letters; short ones have one as well.
_LETTERS_PER_DIFFERENCE = 12
_MOST_DIFFERENCES = 5


def fold(text: str) -> str:
    """Reduce a text so that two texts that look the same to people become equal."""
    shown = (c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c)[0] != "C")
    return " ".join("".join(shown).split()).casefold()


def find_skeleton(text: str) -> str:
    """Reduce a question to its letters, digits and symbols, without spaces and punctuation.

    Case makes no difference, nor do letters of other scripts that look like Latin ones, nor a
    number in front.
    """
    return "".join(_split_words(text)) or fold(text)


@lru_cache(maxsize=4096)
def _split_words(text: str) -> tuple[str, ...]:
    text = _ENCLOSED.sub(_unpack, text)
    text = _SHOWN_NOWHERE.sub("", unicodedata.normalize("NFKC", text))
    names = [unicodedata.name(c, "").split(" ")[0] for c in text if c.isalpha()]
    if 2 * names.count("LATIN") > len(names):
        text = text.translate(_CAPITALS)
    kinds = {"Z": " ", "C": ""}
    parts = (" " if c.isspace() else kinds.get(unicodedata.category(c)[0], c) for c in text)
    shown = " ".join("".join(parts).casefold().translate(_SMALL).split())
    parts = (" " if unicodedata.category(c)[0] == "P" else c for c in _drop_number(shown))
    return tuple("".join(parts).split())


def _unpack(found: re.Match[str]) -> str:
    """Write an enclosed number, such as ①, as one that is followed by a bracket."""
    sign = found[0][0]
    number = unicodedata.numeric(sign, None)
    return f"({unicodedata.normalize('NFKC', sign) if number is None else int(number)}) "


def _drop_number(text: str) -> str:
    """Drop all numbers in front of a text, such as "1. a)"; one that is all of it stays."""
    while found := _NUMBER.match(text):
        rest = text[found.end() :]
        if not any(c.isalnum() for c in rest):
            break
        text = rest
    return text


def are_similar(one: str, other: str) -> bool:
    """Whether two questions differ little: in a few letters, or in the order of their words.

    One difference is a letter more, less or another, and one is allowed for every twelve letters
    of the longer text, from one to five.
    """
    first, second = find_skeleton(one), find_skeleton(other)
    longer = max(len(first), len(second))
    most = min(_MOST_DIFFERENCES, max(1, longer // _LETTERS_PER_DIFFERENCE))
    if len(first) == len(second) and sorted(_split_words(one)) == sorted(_split_words(other)):
        return True
    return differ_by_at_most(most, first, second)


def differ_by_at_most(most: int, one: str, other: str) -> bool:
    """Whether this many letters, added, dropped or replaced, make the texts equal.

    For each number of differences it finds how far the texts can agree if `other` is ahead by a
    given number of letters (Ukkonen 1985). That takes little time for texts that differ much.
    """
    if not _could_differ_by(most, one, other):
        return False
    goal, ahead = len(one), len(other) - len(one)
    reached = {0: _agree(one, other, 0, 0)}
    for _ in range(most):
        if reached.get(ahead) == goal:
            return True
        starts: dict[int, int] = {}
        for by, place in reached.items():
            for next_by, start in ((by, place + 1), (by + 1, place), (by - 1, place + 1)):
                if start <= goal and 0 <= start + next_by <= len(other):
                    starts[next_by] = max(start, starts.get(next_by, 0))
        reached = {by: _agree(one, other, start, by) for by, start in starts.items()}
    return reached.get(ahead) == goal


def _could_differ_by(most: int, one: str, other: str) -> bool:
    """Whether the lengths and the letters allow it; the order may not. This takes little time."""
    if abs(len(one) - len(other)) > most:
        return False
    here, there = _count_letters(one), _count_letters(other)
    more = sum(max(0, count - there[letter]) for letter, count in here.items())
    return max(more, more + len(other) - len(one)) <= most


@lru_cache(maxsize=4096)
def _count_letters(text: str) -> Counter[str]:
    return Counter(text)


def _agree(one: str, other: str, place: int, ahead: int) -> int:
    """Return the place in `one` up to which the texts agree from here on."""
    while place < len(one) and place + ahead < len(other) and one[place] == other[place + ahead]:
        place += 1
    return place
