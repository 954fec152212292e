"""Which answers a reader of the codes mostly knows, and how well."""

from __future__ import annotations

from collections.abc import Sequence

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
from surveys.respondent.label.names import scrambled, write_whole
from surveys.respondent.label.odds import (
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


def describe_readable(manifest: Manifest, questions: Sequence[ManifestQuestion]) -> tuple[str, int]:
    """Say how well a reader of the codes knows these answers.

    Return the sentence, and how many codes of 100 it counts, or 0.
    """
    if all(_tells_alone(manifest, question) for question in questions):
        counts = {count_true_codes(question.mechanism) for question in questions}
        most = max(counts)
        if len(counts) == 1 and len(questions) == len(scrambled(manifest)):
            sentence = _("%(count)s of 100 codes are the true answer.")
        else:
            sentence = _("Up to %(count)s of 100 codes are the true answer.")
        return sentence % {"count": write_whole(most)}, most
    return describe_guess(manifest), 0


def describe_guess(manifest: Manifest) -> str:
    """Say how often a guess from all codes is right at most."""
    guess = _("A guess from your codes can be right %(most)s times in 100.")
    return guess % {"most": write_guess(manifest.drawn_epsilon)}


def _tells_alone(manifest: Manifest, question: ManifestQuestion) -> bool:
    """Whether one code is all that tells the answer."""
    several = question.differing_codes > 1 or manifest.is_told_by_others(question)
    return _sends_answers(question) and not several


def hides_every_answer(manifest: Manifest) -> bool:
    """Whether no answer is protected weakly, in the browser or with coins, alone or together."""
    weak = any(is_weak(word_of(manifest, question)) for question in scrambled(manifest))
    return not weak and manifest.epsilon < PRACTICALLY_CERTAIN_FROM
