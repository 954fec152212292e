"""Says which answers someone who reads the codes can largely infer, and how reliably."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _

from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.strength import PRACTICALLY_CERTAIN_FROM, count_true_codes, is_weak
from surveys.respondent.label.guesses import write_guess
from surveys.respondent.label.names import scrambled, write_whole
from surveys.respondent.label.odds import word_of


def are_read_alone(manifest: Manifest, questions: Iterable[ManifestQuestion]) -> bool:
    """Return whether one code alone reveals each answer, and most of these codes are the answer.

    The code of a number only rounds the number, so it does not count.
    """
    return all(
        not question.is_rounded
        and count_true_codes(question.mechanism) > 0
        and question.differing_codes == 1
        and not manifest.is_told_by_others(question)
        for question in questions
    )


def describe_readable(manifest: Manifest, questions: Sequence[ManifestQuestion]) -> str:
    """Say how well a reader of the codes knows these answers."""
    if not are_read_alone(manifest, questions):
        return _describe_guess(manifest)
    counts = {count_true_codes(question.mechanism) for question in questions}
    if len(counts) == 1 and len(questions) == len(scrambled(manifest)):
        sentence = _("%(count)s of 100 codes are the true answer.")
    else:
        sentence = _("Up to %(count)s of 100 codes are the true answer.")
    return sentence % {"count": write_whole(max(counts))}


def _describe_guess(manifest: Manifest) -> str:
    """Say how often, at most, a guess from all codes can be right."""
    guess = _("%(most)s of 100 guesses can be right.")
    return guess % {"most": write_guess(manifest.drawn_epsilon)}


def hides_every_answer(manifest: Manifest) -> bool:
    """Return whether no answer is weakly protected by its code, coins or all codes together."""
    weak = any(is_weak(word_of(manifest, question)) for question in scrambled(manifest))
    return not weak and manifest.epsilon < PRACTICALLY_CERTAIN_FROM
