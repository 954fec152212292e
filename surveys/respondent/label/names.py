"""Writes names of questions and numbers for the sentences of the label."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from django.utils.translation import gettext as _

from surveys.formatting import tenths, whole
from surveys.manifest.grids import shares_pages
from surveys.manifest.manifest import Manifest
from surveys.manifest.modes import Mode
from surveys.manifest.questions import ManifestQuestion

WORDS_OF_A_QUOTE = 5
# Some languages put no spaces between words.
LETTERS_OF_A_QUOTE = 24


def write_whole(number: int) -> str:
    return whole(number)


def write_tenths(number: int) -> str:
    return tenths(number)


def scrambled(manifest: Manifest) -> list[ManifestQuestion]:
    return [question for question in manifest.questions if question.is_scrambled]


def sent_as_answered(manifest: Manifest) -> list[ManifestQuestion]:
    return [question for question in manifest.questions if question.is_declared]


def branches(manifest: Manifest) -> bool:
    """Return whether answers decide which questions a person sees."""
    return any(q.rule is not None or q.described.has_follow_up for q in manifest.questions)


def counts_pages(manifest: Manifest) -> bool:
    """Return whether pages are counted instead of questions.

    Pages are counted if a page may have no question or more than one, or if answers decide the
    path.
    """
    if manifest.mode == Mode.MANUAL:
        return False
    are_all_questions = all(question.is_answered for question in manifest.questions)
    return (
        branches(manifest)
        or manifest.asks_consent
        or not are_all_questions
        or shares_pages(manifest.questions)
    )


def name_questions(manifest: Manifest, named: Sequence[ManifestQuestion]) -> str:
    """Name questions by their numbers, or by their first words if pages show no numbers."""
    if counts_pages(manifest):
        texts = [question.text for question in manifest.questions if question.is_answered]
        return _enumerate([_("“%(text)s”") % {"text": _quote(q.text, texts)} for q in named])
    to_answer = [question for question in manifest.questions if question.is_answered]
    numbers = [write_whole(to_answer.index(question) + 1) for question in named]
    match numbers:
        case [number]:
            return _("Question %(number)s") % {"number": number}
        case [first, second]:
            return _("Questions %(first)s and %(second)s") % {"first": first, "second": second}
    names = {"list": _enumerate(numbers[:-1]), "last": numbers[-1]}
    return _("Questions %(list)s and %(last)s") % names


def _enumerate(names: Sequence[str]) -> str:
    def add(list_: str, name: str) -> str:
        # Translators: a list and what comes after its comma.
        return _("%(list)s, %(next)s") % {"list": list_, "next": name}

    return reduce(add, names) if names else ""


def _quote(text: str, texts: Sequence[str]) -> str:
    """Write the first words of a text, and more of them if other texts begin the same way."""
    is_one_word = len(text.split()) == 1
    split: Callable[[str], list[str]] = list if is_one_word else str.split
    joint, least = ("", LETTERS_OF_A_QUOTE) if is_one_word else (" ", WORDS_OF_A_QUOTE)
    parts = split(text)
    alike = [one for one in map(split, texts) if one != parts and one[:least] == parts[:least]]
    lengths = range(least, len(parts))
    differs = (size for size in lengths if all(one[:size] != parts[:size] for one in alike))
    length = next(differs, len(parts))
    return joint.join(parts[:length]) + "…" * (length < len(parts))
