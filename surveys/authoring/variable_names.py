"""The variable names of questions: which are allowed, and how they are suggested and corrected.

These names are used in files, where the column for question q3 may be called used_cannabis. Files
add an ending to a name for an item (_2), for whether a "select several" question was answered
(_gate), and for randomized (_rnd) and rounded (_rounded) codes. No name may have such an ending, so
no two columns have the same name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import count, dropwhile, product
from string import ascii_lowercase

from surveys.authoring.reserved_names import OWN_COLUMNS, RESERVED_WORDS
from surveys.manifest.names import MAX_NAME_LENGTH

CONFORMED = (
    "Names are written in small letters without accents, with _ for other signs. An i goes before "
    f"a part that is not allowed, as in phq9_i1. Names are cut to {MAX_NAME_LENGTH} characters, "
    "and a letter is added to a name that is taken."
)
_GRAMMAR = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_ENDINGS = re.compile(r"[0-9]+|gate|rnd|rounded")
_NUMBERED = re.compile(r"[qt][0-9]+")  # the names of questions and texts in rules
_STATA_STRING = re.compile(r"str[0-9]+")
_MOST_WORDS = 3
_LONGEST_ENDING = 8  # when a name is cut, a last part of up to this length is kept
_WITHOUT_LATIN = "item"
# Latin letters that Unicode does not decompose.
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
_APOSTROPHE = re.compile("(?<=[^\\W\\d_])['’ʼ](?=[^\\W\\d_])")
# Words that say little about a question in English, German, Spanish and French.
_SAY_LITTLE = """
    a about all am an and any are as at be been being but by can could did do does doing during
    ever for from had has have how i if in into is it its last many may me might much my no not
    of on or our over past please she should so some such that the their them there these they
    this those to was we were what when where which who whom whose why will with would you your
    yours

    aber als am an auch auf aus bei bin bis bist da das dass dein dem den der des die dies diese
    diesem diesen dieser dieses doch durch ein eine einem einen einer eines er es euch fuer fur
    habe haben hat hatte hatten ich ihr ihre ihrem ihren ihrer ihnen im in ist ja jemals kann
    konnen letzten man mein mit nach nicht noch oder ob schon sein sich sie sind so um und uns
    von vor war waren wann warum was welche welchem welchen welcher welches wenn wer werden wie
    wieviel wir wird wo wurden zu zum zur

    al alguna algun como con cual cuales cuando cuanta cuantas cuanto cuantos de del desde donde
    el ella en era es esta estan este esto ha han hasta hay la las lo los mas muy nos o para
    pero por porque que quien se ser si sin sobre son su sus tiene tu ultimos un una unas uno
    unos usted ustedes y ya

    au aux avec avez ce cela ces cet cette comme combien dans de depuis derniers des du elle en
    est et etes etre eu il ils je la le les leur lors lui ma mais me mes moi mon ne ni non nos
    notre nous on ou par pas pendant pour pourquoi qu quand que quel quelle quelles quels qui
    quoi sa sans se ses si son sont sur ta te tes tu un une vos votre vous y
"""
_STOP_WORDS = frozenset(_SAY_LITTLE.split())


def find_name_problem(name: str, *, taken: Iterable[str]) -> str:
    """Say what is wrong with a name, if anything, and how to correct it.

    `taken` are the names of the survey's other questions.
    """
    if problem := _find_own_problem(name):
        return problem
    if name in set(map(str.lower, taken)):
        return f"Another question is named “{name}”. Choose another name."
    return ""


def _find_own_problem(name: str) -> str:
    """Say what is wrong with a name, regardless of other questions."""
    if len(name) > MAX_NAME_LENGTH:
        return f"A name has at most {MAX_NAME_LENGTH} characters. Shorten it."
    if not _GRAMMAR.fullmatch(name):
        return (
            "A name consists of small letters a to z, digits and single underscores between them, "
            "and begins with a letter."
        )
    if _NUMBERED.fullmatch(name):
        return f"“{name}” is reserved for questions in rules. Choose another name."
    if _ENDINGS.fullmatch(last := name.rpartition("_")[2]):
        return f"Files add endings such as “_{last}” to names. Choose a name that ends differently."
    if name in OWN_COLUMNS:
        return f"Files already have a column “{name}”. Choose another name."
    for program, words in RESERVED_WORDS.items():
        if name in words or (program == "Stata" and _STATA_STRING.fullmatch(name)):
            return f"“{name}” is a reserved word of {program}. Choose another name."
    return ""


def suggest_name(text: str, *, taken: Iterable[str]) -> str:
    """Suggest a name from a question's words, or item_a, item_b, … if it has no Latin letters."""
    every = [word for word in re.findall("[a-z0-9]+", _to_latin(text)) if not _is_letter(word)]
    words = _from_first_letter(word for word in every if word not in _STOP_WORDS)
    words = words or _from_first_letter(every)
    parts: list[str] = []
    for word in words:
        if len(parts) == _MOST_WORDS or len("_".join([*parts, word])) > MAX_NAME_LENGTH:
            break
        parts.append(word)
    if words and not parts:
        parts = [words[0][:MAX_NAME_LENGTH]]
    while len(parts) > 1 and _ENDINGS.fullmatch(parts[-1]):
        del parts[-1]
    name = "_".join(parts) or _WITHOUT_LATIN
    # If a name is not allowed on its own, a letter is added, as in work_a.
    is_usable = name != _WITHOUT_LATIN and not _find_own_problem(name)
    return _make_unique(name, taken, plain=is_usable)


def conform_name(name: str, *, taken: Iterable[str]) -> str:
    """Change a name as little as needed to make it valid, in the ways listed in CONFORMED."""
    parts = re.findall("[a-z0-9]+", _to_latin(name))
    if not parts:
        return _make_unique(_WITHOUT_LATIN, taken, plain=False)
    if parts[0][0].isdigit():
        parts[0] = f"i{parts[0]}"
    shortened = _shorten("_".join(parts))
    if _find_own_problem(shortened):
        first, _, last = shortened.rpartition("_")
        shortened = _shorten("_".join(filter(None, (first, f"i{last}"))))
    return _make_unique(shortened, taken, plain=True)


def _shorten(name: str, most: int = MAX_NAME_LENGTH) -> str:
    """Cut a name, but keep a short last part, which often distinguishes items."""
    if len(name) <= most:
        return name
    first, _, last = name.rpartition("_")
    if not first or len(last) > _LONGEST_ENDING:
        return name[:most].rstrip("_")
    return f"{first[: most - len(last) - 1].rstrip('_')}_{last}"


def _make_unique(name: str, taken: Iterable[str], *, plain: bool) -> str:
    """Add a letter to a taken name: _b, _c, …. Unless `plain`, always add one, starting with _a."""
    names = frozenset(map(str.lower, taken))
    if plain and name not in names and not _find_own_problem(name):
        return name
    for letters in _count_in_letters(skip=int(plain)):
        cut = name[: MAX_NAME_LENGTH - len(letters) - 1].rstrip("_")
        # In a long survey, most suffixes are taken. Looking a name up is faster than checking it.
        if (found := f"{cut}_{letters}") not in names and not _find_own_problem(found):
            return found
    raise AssertionError("there are more names than questions")


def _count_in_letters(*, skip: int) -> Iterator[str]:
    """Yield a, b, …, z, aa, ab, …, without the first `skip` of them."""
    for length in count(1):
        for place, letters in enumerate(product(ascii_lowercase, repeat=length)):
            if length > 1 or place >= skip:
                yield "".join(letters)


def _from_first_letter(words: Iterable[str]) -> list[str]:
    """Leave out numbers at the start, because a name begins with a letter."""
    return list(dropwhile(lambda word: word[0].isdigit(), words))


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isalpha()


def _to_latin(text: str) -> str:
    """Write Latin letters as lower-case a to z. Other letters and signs become spaces."""
    lowered = _APOSTROPHE.sub("", text.casefold()).translate(_LETTERS)
    plain = (c for c in unicodedata.normalize("NFKD", lowered) if not unicodedata.combining(c))
    return "".join(c if c.isascii() else " " for c in plain).lower()
