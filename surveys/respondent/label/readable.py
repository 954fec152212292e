"""Which answers a reader of the codes mostly knows, and how well.

The label treats these answers as exceptions, like those that are not scrambled.
"""

from __future__ import annotations

from django.utils.translation import gettext as _

from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.strength import (
    HARDLY,
    PRACTICALLY_CERTAIN_FROM,
    count_true_codes,
    is_weak,
)
from surveys.respondent.label.guesses import write_guess
from surveys.respondent.label.names import name_questions, scrambled, write_whole
from surveys.respondent.label.odds import (
    is_told_by_others,
    is_told_by_rows,
    word_of,
)


def list_readable(manifest: Manifest) -> list[ManifestQuestion]:
    return [
        question
        for question in scrambled(manifest)
        if word_of(manifest, question) == HARDLY or _sends_answers(question)
    ]


def _sends_answers(question: ManifestQuestion) -> bool:
    """Whether most codes are the answer itself; the code of a number only rounds it."""
    return not question.is_rounded and count_true_codes(question.mechanism) > 0


def describe_readable(manifest: Manifest) -> tuple[str, ...]:
    """Say how well a reader of the codes knows these answers."""
    by_code: list[ManifestQuestion] = []
    by_several: list[ManifestQuestion] = []
    for question in list_readable(manifest):
        several = is_told_by_rows(question) or is_told_by_others(manifest, question)
        alone = _sends_answers(question) and not several
        (by_code if alone else by_several).append(question)
    said = []
    if by_code:
        said.append((by_code, _describe_true_codes(by_code)))
    if by_several:
        said.append((by_several, _describe_guess(manifest, by_several)))
    return tuple(_add_name(manifest, questions, sentence) for questions, sentence in said)


def name_readable(manifest: Manifest) -> tuple[str, ...]:
    """Say which answers these are, if not all."""
    readable = list_readable(manifest)
    return (_add_name(manifest, readable, _("Mostly, yes.")),) if readable else ()


def _describe_true_codes(questions: list[ManifestQuestion]) -> str:
    counts = {count_true_codes(question.mechanism) for question in questions}
    if len(counts) == 1:
        sentence = _("%(count)s of 100 codes are the true answer.")
    else:
        sentence = _("Up to %(count)s of 100 codes are the true answer.")
    return sentence % {"count": write_whole(max(counts))}


def _describe_guess(manifest: Manifest, questions: list[ManifestQuestion]) -> str:
    most = max(manifest.statement_epsilon(question) for question in questions)
    sentence = _("With all the codes, a guess goes from 50 to at most %(most)s in 100.")
    return sentence % {"most": write_guess(most)}


def _add_name(manifest: Manifest, questions: list[ManifestQuestion], sentence: str) -> str:
    if len(questions) == len(scrambled(manifest)):
        return sentence
    # Translators: "name" is "Question 3", "Questions 1, 3 and 4" or the words of questions.
    return _("%(name)s: %(sentence)s") % {
        "name": name_questions(manifest, questions),
        "sentence": sentence,
    }


def hides_every_answer(manifest: Manifest) -> bool:
    """Whether no answer is protected weakly, in the browser or with coins, alone or together."""
    weak = any(is_weak(word_of(manifest, question)) for question in scrambled(manifest))
    return not weak and manifest.epsilon < PRACTICALLY_CERTAIN_FROM
