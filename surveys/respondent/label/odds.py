"""How each answer is scrambled, and how well that protects it.

Every number comes from the question's real k and T, rounded so that it never promises more
than what runs.
"""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from privacy.mechanism.drawing import SCALE
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.strength import PROTECTION, count_true_codes, strength_word
from surveys.respondent.label.names import (
    form_of_tenths,
    name_questions,
    scrambled,
    write_tenths,
    write_whole,
)
from surveys.respondent.label.parts import Odds, join_sentences

# What other codes add is at least this much; smaller differences come from rounding sums.
_TINY = 1e-9


def word_of(manifest: Manifest, question: ManifestQuestion) -> str:
    """Return the word for all that is said about one answer."""
    return strength_word(manifest.statement_epsilon(question))


def is_told_by_others(manifest: Manifest, question: ManifestQuestion) -> bool:
    """Whether codes of dependent questions say something about the answer too."""
    return manifest.statement_epsilon(question) > question.epsilon + _TINY


def is_told_by_rows(question: ManifestQuestion) -> bool:
    """Whether the codes of several rows together say more than one."""
    return question.has_items and question.epsilon > question.mechanism.epsilon + _TINY


def describe_odds(manifest: Manifest) -> tuple[Odds, ...]:
    groups: dict[tuple[str, str, int], list[ManifestQuestion]] = {}
    for question in scrambled(manifest):
        described = (
            _odds_sentence(manifest, question),
            word_of(manifest, question),
            _count_dots(question),
        )
        groups.setdefault(described, []).append(question)
    return tuple(
        Odds(
            scope="" if len(groups) == 1 else name_questions(manifest, questions),
            sentence=sentence,
            strength=word,
            protection=_(PROTECTION[word]),
            counted=counted,
        )
        for (sentence, word, counted), questions in groups.items()
    )


def _count_dots(question: ManifestQuestion) -> int:
    """Count the codes of 100 that the sentence counts, if there are two codes."""
    if question.k != 2:
        return 0
    return count_true_codes(question.mechanism) or _swapped(question)


def _swapped(question: ManifestQuestion) -> int:
    """Return how many of 100 codes become the other one, if there are two."""
    return 100 * (SCALE - question.mechanism.threshold) // SCALE


def _odds_sentence(manifest: Manifest, question: ManifestQuestion) -> str:
    sentences = list(_own_odds(question))
    if question.has_gate:
        sentences.append(_("Whether you answer at all is scrambled too."))
    if is_told_by_rows(question):
        sentences.append(_("All rows together tell more."))
    if is_told_by_others(manifest, question):
        sentences.append(_("The codes of other questions tell about this answer too."))
    return join_sentences(sentences)


def _own_odds(question: ManifestQuestion) -> tuple[str, ...]:
    if count_true_codes(question.mechanism):
        return _kept_odds(question)
    if question.has_only_yes_and_no:
        return (_yes_no_odds(question),)
    others = question.k - 1
    tenths = 1000 * (SCALE - question.mechanism.threshold) // (SCALE * others)
    number = form_of_tenths(tenths)
    times = {"count": write_tenths(tenths)}
    if question.has_items:  # a row is selected or not: there is one other code
        return (
            ngettext(
                "For each row, whether you select it or not, "
                "the other code is sent %(count)s time in 100.",
                "For each row, whether you select it or not, "
                "the other code is sent %(count)s times in 100.",
                number,
            )
            % times,
        )
    if question.is_rounded:
        if others == 1:
            sent = ngettext(
                "Then the other code is sent %(count)s time in 100.",
                "Then the other code is sent %(count)s times in 100.",
                number,
            )
        else:
            sent = ngettext(
                "Then each other code is sent %(count)s time in 100.",
                "Then each other code is sent %(count)s times in 100.",
                number,
            )
        return (_("Your number is turned into one of two codes by chance."), sent % times)
    return (_option_odds(tenths, others=others),)


def _option_odds(tenths: int, *, others: int) -> str:
    number = form_of_tenths(tenths)
    if others == 1:
        sent = ngettext(
            "Whatever you answer, the other answer’s code is sent %(count)s time in 100.",
            "Whatever you answer, the other answer’s code is sent %(count)s times in 100.",
            number,
        )
    else:
        sent = ngettext(
            "Whatever you answer, each other answer’s code is sent %(count)s time in 100.",
            "Whatever you answer, each other answer’s code is sent %(count)s times in 100.",
            number,
        )
    return sent % {"count": write_tenths(tenths)}


def _yes_no_odds(question: ManifestQuestion) -> str:
    yes, no = (option.text for option in sorted(question.options, key=lambda o: -o.code))
    count = _swapped(question)
    # Translators: "no" and "yes" are the words of the two answers, "count" is a number of people.
    return ngettext(
        "Of every 100 people who answer %(no)s, %(count)s sends the same code as a %(yes)s.",
        "Of every 100 people who answer %(no)s, %(count)s send the same code as a %(yes)s.",
        count,
    ) % {"no": no, "yes": yes, "count": write_whole(count)}


def _kept_odds(question: ManifestQuestion) -> tuple[str, ...]:
    count = {"count": write_whole(count_true_codes(question.mechanism))}
    if question.is_rounded:
        kept = _("Then %(count)s of 100 codes stay as they are.") % count
        return (_("Your number is turned into one of two codes by chance."), kept)
    if question.has_items:
        return (_("For each row, %(count)s of 100 codes are the true answer.") % count,)
    return (_("%(count)s of 100 codes are the true answer.") % count,)
