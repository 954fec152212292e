"""How well each answer is protected, and how well all answers are protected together.

Every number comes from the question's real k and T, rounded so that it never promises more
than what runs.
"""

from __future__ import annotations

import math
from collections import Counter

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop as noop
from django.utils.translation import ngettext

from privacy.mechanism.drawing import SCALE
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.strength import LIGHT, strength_word
from surveys.respondent.label.names import (
    form_of_tenths,
    name_questions,
    scrambled,
    write_tenths,
    write_whole,
)
from surveys.respondent.label.parts import Odds, join_sentences

PROTECTION = {
    "strong": noop("Protection: strong"),
    "medium": noop("Protection: medium"),
    "light": noop("Protection: light"),
}
TOGETHER = {
    "strong": noop("Taken together, the protection is strong."),
    "medium": noop("Taken together, the protection is medium."),
    "light": noop("Taken together, the protection is light."),
}
# A dependant adds at least this much; smaller differences come from rounding sums.
_TINY = 1e-9


def equivalent_flips(*, k: int, threshold: int) -> int:
    """Return 100 / (1 + e^ε), rounded down: for k = 2, how many of 100 send the other code."""
    swapped = SCALE - threshold
    return 100 * swapped // (swapped + (k - 1) * threshold)


def _flips_of(epsilon: float) -> int:
    return math.floor(100 / (1 + math.exp(epsilon)))


def describe_odds(manifest: Manifest) -> tuple[Odds, ...]:
    groups: dict[tuple[str, str, int], list[ManifestQuestion]] = {}
    for question in scrambled(manifest):
        described = (
            _odds_sentence(manifest, question),
            strength_word(_flips(manifest, question)),
            _swapped(question) if question.k == 2 else 0,
        )
        groups.setdefault(described, []).append(question)
    return tuple(
        Odds(
            scope="" if len(groups) == 1 else name_questions(manifest, questions),
            sentence=sentence,
            strength=strength,
            protection=_(PROTECTION[strength]),
            swapped=swapped,
        )
        for (sentence, strength, swapped), questions in groups.items()
    )


def _swapped(question: ManifestQuestion) -> int:
    """Return how many of 100 codes become the other one, if there are two."""
    return 100 * (SCALE - question.mechanism.threshold) // SCALE


def _told_by_others(manifest: Manifest, question: ManifestQuestion) -> float:
    """Return the ε that the codes of dependent questions add to this one."""
    more = manifest.statement_epsilon(question) - question.epsilon
    return more if more > _TINY else 0.0


def _flips(manifest: Manifest, question: ManifestQuestion) -> int:
    """Return how well one answer (or one row of "select several") is protected, in flips of 100."""
    more = _told_by_others(manifest, question)
    if more:
        return _flips_of(question.mechanism.epsilon + more)
    flips = equivalent_flips(k=question.k, threshold=question.mechanism.threshold)
    if question.has_gate:
        gate = equivalent_flips(k=question.gate_k, threshold=question.gate_mechanism.threshold)
        flips = min(flips, gate)
    return flips


def _odds_sentence(manifest: Manifest, question: ManifestQuestion) -> str:
    sentences = list(_own_odds(question))
    if question.has_gate:
        sentences.append(_("Whether you answer at all is scrambled too."))
    if _told_by_others(manifest, question):
        sentences.append(_("The codes of later questions tell about this answer too."))
    return join_sentences(sentences)


def _own_odds(question: ManifestQuestion) -> tuple[str, ...]:
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


def guess_from_one() -> str:
    return _("Someone who saw your code could make a fair guess.")


def is_light_anywhere(manifest: Manifest) -> bool:
    """Whether one answer or all together are protected lightly, in the browser or with coins."""
    flips = [_flips(manifest, question) for question in scrambled(manifest)]
    return LIGHT in map(strength_word, (*flips, _flips_of(manifest.epsilon)))


def describe_together(manifest: Manifest) -> tuple[str, ...]:
    codes = Counter(symbol.block for symbol in manifest.symbols if symbol.threshold is not None)
    if manifest.drawn is None:
        fewest = most = codes.total()
    else:
        sizes = sorted(codes.values())
        fewest, most = sum(sizes[: manifest.drawn]), sum(sizes[-manifest.drawn :])
    if most < 2:
        return ()
    if fewest == most:
        first = ngettext(
            "Together, your %(count)s code says more than one alone.",
            "Together, your %(count)s codes say more than one alone.",
            most,
        ) % {"count": write_whole(most)}
    else:
        first = _("Together, your codes say more than one alone.")
    # An answer may reveal more with coins, and the coins page has its own label.
    word = strength_word(_flips_of(manifest.drawn_epsilon))
    if word != LIGHT:
        return (first, _(TOGETHER[word]))
    return (first, _(TOGETHER[word]), _("Someone who saw them all could make a fair guess."))
