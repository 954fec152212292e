"""Decide whether texts look the same to people, and whether questions ask the same thing."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from confusable_homoglyphs.confusables import confusables_data

# Unicode's Default_Ignorable_Code_Point: characters that are invisible.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_BRAILLE_BLANK = "\u2800"
# Unicode classifies these as letters, but people do not read them as such: freestanding apostrophes
# and accents, and the Arabic tatweel, a line that stretches words.
_HARDLY_LETTERS = re.compile("[\u02b0-\u02ff\u0640\ua788-\ua78c]")
# The canonical classes of the points above and below Hebrew, Arabic and Syriac letters, where the
# points are optional. In other scripts, such marks are letters.
_POINTS = range(10, 37)
_OF_KANA = 8  # the class of the marks that turn a kana into another syllable
# Unicode does not decompose letters with a stroke or a hook, so their names are parsed.
_LATIN_NAME = re.compile(
    "LATIN (?:SMALL |CAPITAL )?LETTER (?:SMALL CAPITAL |SCRIPT |DOTLESS )?([A-Z])(?: WITH .+)?"
)
# Small letters that look Latin, although Unicode's confusables do not list them.
_ALSO = dict(zip("βεєкκмωχ", "beekkmwx", strict=True))
# Text with a smaller fraction of Latin letters counts as another script. In a script such as Greek,
# a capital and its small letter can look like different Latin letters, so case is folded first.
_LATIN_ENOUGH = 1 / 5
# A capital I looks like a small l. Because case makes no difference, every i becomes an l.
_ALIKE = str.maketrans("i10", "llo")
_INSIDE_A_WORD = re.compile(r"(?<=[^\W\d_])[^\w\s](?=[^\W\d_])")
_ENCLOSED = re.compile("[\u2460-\u2473\u24b6-\u24ea\u2776-\u2793]|\\d[\ufe0f]?\u20e3")
# Similar texts may have one difference per this number of letters. Short texts may also have one.
_LETTERS_PER_DIFFERENCE = 12
_MOST_DIFFERENCES = 5


def fold(text: str) -> str:
    """Reduce text to a form that is equal for texts that look the same to people."""
    text = _IGNORABLE.sub("", unicodedata.normalize("NFKC", text)).replace(_BRAILLE_BLANK, " ")
    shown = (c for c in text if unicodedata.category(c)[0] != "C")
    return " ".join("".join(shown).split()).casefold()


def find_skeleton(text: str) -> str:
    """Reduce a question to letters and digits, with comparison and currency signs next to digits.

    Case, accents, lookalike letters and a leading number make no difference.
    """
    return "".join(_split_words(text)) or fold(text)


@lru_cache(maxsize=4096)
def _split_words(text: str) -> tuple[str, ...]:
    shown = _drop_number(_replace_lookalikes(_ENCLOSED.sub(_unpack, text)))
    alike = _keep_meaning(shown).translate(_ALIKE).replace("rn", "m").replace("vv", "w")
    return tuple(alike.split())


def _replace_lookalikes(text: str) -> str:
    """Fold case, and replace each letter with the plain Latin letter that it looks like."""
    decomposed = unicodedata.normalize("NFKD", text)
    shown = _HARDLY_LETTERS.sub("", _IGNORABLE.sub("", decomposed)).replace(_BRAILLE_BLANK, " ")
    kept = (" " if c.isspace() else c for c in shown if not _is_optional(c))
    text = unicodedata.normalize("NFC", "".join(kept))
    letters = [c for c in text if c.isalpha()]
    latin = sum(unicodedata.name(c, "").startswith("LATIN") for c in letters)
    if latin < _LATIN_ENOUGH * len(letters):
        text = text.casefold()
    text = _INSIDE_A_WORD.sub(lambda found: _look(found[0]), text)
    for _ in range(2):  # folding case can reveal further lookalikes
        text = "".join(_look(c) if c.isalnum() else c for c in text).casefold()
    return " ".join(text.split())


def _is_optional(c: str) -> bool:
    if c.isspace():
        return False
    kind, by_class = unicodedata.category(c), unicodedata.combining(c)
    is_accent = unicodedata.name(c, "").startswith("COMBINING ") and by_class != _OF_KANA
    return kind[0] == "C" or (kind[0] == "M" and (is_accent or by_class in _POINTS))


@lru_cache(maxsize=4096)
def _look(c: str) -> str:
    """Return the plain letter or digit that a character looks like, according to Unicode's data."""
    if c.isdecimal():
        return str(unicodedata.decimal(c))
    if c.isascii() and c.isalnum():
        return c
    confusables = [c, *(one["c"] for one in confusables_data.get(c, ()))]
    seen = (plain for one in confusables if (plain := _find_plain(one)))
    return _ALSO.get(c) or next(seen, c)


def _find_plain(text: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not _is_optional(c))
    if bare.isascii() and bare.isalnum():
        return bare.lower()
    found = _LATIN_NAME.fullmatch(unicodedata.name(bare, "")) if len(bare) == 1 else None
    return found[1].lower() if found else ""


def _unpack(found: re.Match[str]) -> str:
    """Write an enclosed number or letter, such as ①, in brackets."""
    sign = found[0][0]
    number = unicodedata.numeric(sign, None)
    return f"({unicodedata.normalize('NFKC', sign) if number is None else int(number)}) "


def _keep_meaning(text: str) -> str:
    """Keep only letters, digits, and comparison and currency signs next to a digit."""

    def means(place: int, c: str) -> bool:
        kind = unicodedata.category(c)
        around = text[:place].rstrip()[-1:], text[place + 1 :].lstrip()[:1]
        is_sign = (c in "<>≤≥" or kind == "Sc") and any(one.isdigit() for one in around)
        return kind[0] in "LMN" or is_sign

    return "".join(c if means(place, c) else " " for place, c in enumerate(text))


# A number before text, such as "1.", "2)", "(3)", "4 –", "b)", "iv.", "A1.", "#1", "Q5",
# "Item 6:" or "1 of 10:". Numbers and letters that may belong to the text stay, as in
# "2 children?", "1.5 litres?", "B12?", "5 – 10 glasses?" and "U.S.".
_QUESTION, _OF = (
    "|".join(map(_replace_lookalikes, words.split()))
    for words in (
        """question frage pregunta pergunta domanda вопрос السؤال سؤال 第 问题 問題 q qu item ítem
        aussage statement пункт البند number nummer número numéro no nr num n""",
        "of von de di sur из من /",
    )
)
_END = r"(?: \ ?[)\]}:、_] | \ ?\.(?!\.) | > | \ ?[-–—|/→•·*~=,;]\ ) (?!\d)"
_NUMBER = re.compile(
    rf"""[\W_]* (?:
      (?:(?:{_QUESTION})\W{{0,2}} | [a-z]{{1,2}})?
        [lo]*\d[\dlo]*(?:[.-]\d+)*(?:[a-z]|st|nd|rd|th|[题題问問])?
        (?:\W{{0,2}}(?:{_OF})\W{{0,2}}\d+)? [*_°]* {_END}
    | (?:question|frage|pregunta|pergunta|domanda|item|q)\ ?\d+[a-z]?(?=\ )
    | \#\ ?\d+(?=\ ) | \d+/\d{{2,}}(?=\ )(?!\ (?:{_OF})\b)
    | (?:[^\W\d_]|[ivxlo]{{2,5}}) (?:\ ?[)\]}}:](?!\d) | \.(?=\ ) | \ ?[-–—|]\ (?!\d))
    )[\W_]*""",
    re.VERBOSE,
)


def _drop_number(text: str) -> str:
    """Drop all numbers at the start of text, such as "1. a)", unless nothing would be left."""
    while found := _NUMBER.match(text):
        rest = text[found.end() :]
        if not any(c.isalnum() for c in rest):
            break
        text = rest
    return text


def are_similar(one: str, other: str) -> bool:
    """Return whether two questions differ only in a few letters, or in the order of their words.

    One difference is one letter added, dropped or replaced. One difference is allowed for every
    twelve letters of the longer text, but at least one and at most five.
    """
    first, second = find_skeleton(one), find_skeleton(other)
    longer = max(len(first), len(second))
    most = min(_MOST_DIFFERENCES, max(1, longer // _LETTERS_PER_DIFFERENCE))
    if len(first) == len(second) and sorted(_split_words(one)) == sorted(_split_words(other)):
        return True
    return differ_by_at_most(most, first, second)


def differ_by_at_most(most: int, one: str, other: str) -> bool:
    """Return whether adding, dropping or replacing at most `most` letters makes the texts equal.

    For each number of differences, the search finds how far the texts can agree if `other` is ahead
    by a given number of letters (Ukkonen 1985). This is fast for texts that differ a lot.
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
    """Check quickly whether lengths and counts of letters allow at most `most` differences."""
    if abs(len(one) - len(other)) > most:
        return False
    here, there = _count_letters(one), _count_letters(other)
    more = sum(max(0, count - there[letter]) for letter, count in here.items())
    return max(more, more + len(other) - len(one)) <= most


@lru_cache(maxsize=4096)
def _count_letters(text: str) -> Counter[str]:
    return Counter(text)


def _agree(one: str, other: str, place: int, ahead: int) -> int:
    """Return the position in `one` up to which the texts agree, starting at `place`."""
    while place < len(one) and place + ahead < len(other) and one[place] == other[place + ahead]:
        place += 1
    return place
