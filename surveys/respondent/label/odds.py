"""Says in whole numbers how each answer is scrambled, and groups the questions by strength.

Every number comes from the question's real k and T. Rounding never promises more protection than
the code gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from privacy.mechanism.drawing import SCALE
from privacy.mechanism.mechanisms import RandomizedResponse
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.scores import Output, Score, find_output
from surveys.manifest.strength import PROTECTION, count_true_codes, strength_word
from surveys.respondent.label.names import name_questions, scrambled, write_whole
from surveys.respondent.label.parts import Group, Odds, Picture, join_sentences

PICTURED = 10  # people


def word_of(manifest: Manifest, question: ManifestQuestion) -> str:
    """Return the word for the strength of all that a person's codes say about one answer."""
    return strength_word(manifest.statement_epsilon(question))


def describe_groups(manifest: Manifest) -> tuple[Group, ...]:
    """Group the scrambled questions by strength, the strongest first."""
    by_word: dict[str, dict[str, list[ManifestQuestion]]] = {word: {} for word in PROTECTION}
    second_of = {one.scale: one for one in manifest.questions if one.is_second}
    for question in scrambled(manifest):
        if not question.is_second:  # the sentence of its scale covers both
            sentence = _describe_odds(manifest, question, second_of.get(question.name))
            by_word[word_of(manifest, question)].setdefault(sentence, []).append(question)
    are_alike = sum(len(alike) for alike in by_word.values()) == 1
    return tuple(
        Group(
            strength=word,
            protection=_(PROTECTION[word]),
            odds=tuple(
                Odds(
                    names=tuple(
                        code.name
                        for question in questions
                        for code in (question, second_of.get(question.name))
                        if code is not None
                    ),
                    scope="" if are_alike else name_questions(manifest, questions),
                    sentence=sentence,
                )
                for sentence, questions in alike.items()
            ),
        )
        for word, alike in by_word.items()
        if alike
    )


def count_codes(mechanism: RandomizedResponse) -> tuple[int, int]:
    """Return the count that a sentence states, and the number of codes or people that it is out of.

    If most codes are true, the sentence counts the true codes of 100. Otherwise it counts the
    people with another answer who send the same code, rounded down. This count is out of 100, or
    out of 1,000 if fewer than one in 100 sends the code.
    """
    kept = count_true_codes(mechanism)
    if kept:
        return kept, 100
    return next(
        (count, people)
        for people in (100, 1000)
        for count in (_count_same(mechanism, people),)
        if count
    )


def _count_same(mechanism: RandomizedResponse, people: int) -> int:
    swapped = SCALE - mechanism.threshold
    return people * swapped // (SCALE * (mechanism.symbols - 1))


def picture_least(questions: Iterable[ManifestQuestion], *, are_read: bool) -> Picture:
    """Show how many people send the same code for the weakest of these questions.

    `are_read` says that most codes are the true answers. If they are not, a picture with none of
    ten people would suggest that they are, so the sentence counts more people instead.
    """
    weakest = min((one.mechanism for one in questions), key=lambda one: _count_same(one, 10_000))
    same = _count_same(weakest, PICTURED)
    if same:
        some = ngettext(
            "By chance, about %(count)s of %(people)s people with another answer sends your code.",
            "By chance, about %(count)s of %(people)s people with another answer send your code.",
            same,
        )
        numbers = {"people": write_whole(PICTURED), "count": write_whole(same)}
        return Picture(same=same, sentence=some % numbers)
    if are_read:
        none = _("Of %(people)s people with another answer, not even one sends your code too.")
        return Picture(same=0, sentence=none % {"people": write_whole(PICTURED)})
    return Picture(same=None, sentence=_describe_others(*count_codes(weakest)))


def _describe_odds(
    manifest: Manifest, question: ManifestQuestion, second: ManifestQuestion | None
) -> str:
    if second is None:
        return join_sentences(_list_sentences(manifest, question))
    return join_sentences(_list_sentences_of_two(manifest, question, second))


def _list_sentences_of_two(
    manifest: Manifest, first: ManifestQuestion, second: ManifestQuestion
) -> Iterator[str]:
    yield _describe_two(first, second)
    for question in (first, second):
        sentence = join_sentences(_list_chances(question))
        yield _name_output(question) % {"sentence": sentence}
    yield _("Both codes together tell more.")
    if manifest.is_told_by_others(first, apart_from=second):
        yield _("The codes of other questions tell about this answer too.")


def _list_sentences(manifest: Manifest, question: ManifestQuestion) -> Iterator[str]:
    if question.score is not None:
        yield _describe_score(question, question.score)
    yield from _list_chances(question)
    if question.has_gate:
        yield _("Whether you answer at all is scrambled too.")
    if question.differing_codes > 1:
        yield _("All rows together tell more.")
    if manifest.is_told_by_others(question):
        yield _("The codes of other questions tell about this answer too.")


def _list_chances(question: ManifestQuestion) -> Iterator[str]:
    """Say how chance changes the answer."""
    if question.is_rounded and question.score is not None:
        yield _("Your total is turned into one of two codes by chance.")
    elif question.is_rounded:
        yield _("Your number is turned into one of two codes by chance.")
    yield _describe_true_codes(question) or _describe_same_codes(question)


def _describe_two(first: ManifestQuestion, second: ManifestQuestion) -> str:
    """Say what becomes of the items of a scale with two codes."""
    by_output = {find_output(one.type): one for one in (first, second)}
    bands, cut_off = by_output.get(Output.BANDS), by_output.get(Output.CUT_OFF)
    count = 0 if bands is None else len(bands.options)
    named = {"count": write_whole(count), "number": ""}
    if cut_off is not None:
        assert cut_off.score is not None
        named["number"] = write_whole(cut_off.score.bounds[0])
    if bands is None:
        sentence = _("Only your total and whether it is %(number)s or more are scrambled and sent.")
    elif cut_off is None:
        # Translators: a band is a range of totals, such as 5 to 9; "count" is from 2 to 6.
        sentence = ngettext(
            "Only your total and which of the %(count)s bands it is in are scrambled and sent.",
            "Only your total and which of the %(count)s bands it is in are scrambled and sent.",
            count,
        )
    else:
        # Translators: "number" is a total; a band is a range of totals.
        sentence = ngettext(
            "Only which of %(count)s bands your total is in, and whether it is %(number)s or "
            "more, are scrambled and sent.",
            "Only which of %(count)s bands your total is in, and whether it is %(number)s or "
            "more, are scrambled and sent.",
            count,
        )
    return sentence % named


def _name_output(question: ManifestQuestion) -> str:
    match find_output(question.type):
        case Output.TOTAL:
            # Translators: how the code for a person's total is scrambled; a sentence follows.
            return _("For the total: %(sentence)s")
        case Output.BANDS:
            # Translators: how the code for the range of the total is scrambled.
            return _("For the band: %(sentence)s")
    # Translators: how the code that says whether the total reaches a limit is scrambled.
    return _("For the limit: %(sentence)s")


def _describe_score(question: ManifestQuestion, score: Score) -> str:
    """Say what becomes of the items, which are never sent."""
    match find_output(question.type):
        case Output.TOTAL:
            return _("Only your total is scrambled and sent.")
        case Output.CUT_OFF:
            # Translators: the total of a person's answers; "number" is a total.
            sentence = _("Only whether your total is %(number)s or more is scrambled and sent.")
            return sentence % {"number": write_whole(score.bounds[0])}
    bands = len(question.options)
    # Translators: a band is a range of totals, such as 5 to 9; "count" is from 2 to 6.
    return ngettext(
        "Only which of the %(count)s bands your total is in is scrambled and sent.",
        "Only which of the %(count)s bands your total is in is scrambled and sent.",
        bands,
    ) % {"count": write_whole(bands)}


def _describe_true_codes(question: ManifestQuestion) -> str:
    count = count_true_codes(question.mechanism)
    if not count:
        return ""
    if question.is_rounded:
        sentence = _("Then %(count)s of 100 codes stay as they are.")
    elif question.has_items:
        sentence = _("For each row, %(count)s of 100 codes are the true answer.")
    else:
        sentence = _("%(count)s of 100 codes are the true answer.")
    return sentence % {"count": write_whole(count)}


def _describe_same_codes(question: ManifestQuestion) -> str:
    count, people = count_codes(question.mechanism)
    if question.is_answered_yes_or_no:
        return _describe_yes_no(question, count)
    if question.has_items:
        sentence = ngettext(
            "For each row: of %(people)s people with another answer, "
            "on average at least %(count)s sends your code too.",
            "For each row: of %(people)s people with another answer, "
            "on average at least %(count)s send your code too.",
            count,
        )
    elif question.is_rounded and question.score is None:
        sentence = ngettext(
            "Of %(people)s people with another number, "
            "on average at least %(count)s sends your code too.",
            "Of %(people)s people with another number, "
            "on average at least %(count)s send your code too.",
            count,
        )
    else:
        return _describe_others(count, people)
    return sentence % {"count": write_whole(count), "people": write_whole(people)}


def _describe_others(count: int, people: int) -> str:
    # Translators: "people" is 100 or 1,000, "count" is some of them.
    return ngettext(
        "Of %(people)s people with another answer, "
        "on average at least %(count)s sends your code too.",
        "Of %(people)s people with another answer, "
        "on average at least %(count)s send your code too.",
        count,
    ) % {"count": write_whole(count), "people": write_whole(people)}


def _describe_yes_no(question: ManifestQuestion, count: int) -> str:
    yes, no = (option.text for option in sorted(question.options, key=lambda o: -o.code))
    # Translators: "no" and "yes" are the words of the two answers, "count" is a number of people.
    return ngettext(
        "Of 100 people who answer %(no)s, %(count)s sends the same code as a %(yes)s.",
        "Of 100 people who answer %(no)s, %(count)s send the same code as a %(yes)s.",
        count,
    ) % {"no": no, "yes": yes, "count": write_whole(count)}
