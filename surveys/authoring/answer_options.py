"""The numbers of a draft's questions, and the codes, words and names of their answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext

from privacy.mechanism.mechanisms import MAX_SYMBOLS
from surveys.manifest.names import call_question, item_name, number_questions
from surveys.manifest.plain_text import fold
from surveys.manifest.questions import REFUSED_TEXT, Option, fixed_options
from surveys.models import Question


def number_all(questions: Sequence[Question]) -> Iterator[tuple[int, Question]]:
    """Number questions as respondents count them, and information texts separately."""
    numbers = number_questions(question.described.is_answered for question in questions)
    return zip(numbers, questions, strict=True)


def number_answered(questions: Sequence[Question]) -> list[tuple[int, Question]]:
    """Number the questions that people answer, without information texts."""
    return [
        (number, question)
        for number, question in number_all(questions)
        if question.described.is_answered
    ]


def call_all(questions: Sequence[Question]) -> Mapping[str, str]:
    """Map primary keys to what sentences call the questions, such as question 3 or text 1."""
    return {
        str(question.pk): call_question(number, is_answered=question.described.is_answered)
        for number, question in number_all(questions)
    }


def list_options(question: Question) -> tuple[Option, ...]:
    """List the answers to choose from, with Murmur's own answers in the active language."""
    described = question.described
    if described.fixed_answers:
        return tuple(
            replace(option, text=gettext(option.text)) for option in fixed_options(question.carrier)
        )
    if described.has_options:
        texts = question.options
    elif question.has_point_shares:
        assert question.minimum is not None
        assert question.maximum is not None
        texts = [str(point) for point in range(question.minimum, question.maximum + 1)]
    else:
        texts = []
    return tuple(
        Option(code=code, text=text) for code, text in enumerate(texts, described.first_code)
    )


def name_answers(question: Question) -> dict[str, int]:
    """Map the names that rules use for a question's answers to the codes of these answers.

    A fixed answer is named by its key, a point of a scale by its number, and an option by its
    place in the list.
    """
    described = question.described
    if described.fixed_answers:
        by_code = sorted(described.fixed_answers, key=lambda answer: answer.code)
        return {answer.key: answer.code for answer in by_code}
    options = list_options(question)
    if described.has_options:
        return {str(number): option.code for number, option in enumerate(options, start=1)}
    return {option.text: option.code for option in options}


def count_codes(question: Question) -> dict[str, int]:
    """Count the codes that a rule can test, for the question or for each of its items."""
    key, options = str(question.pk), list_options(question)
    if question.described.has_items:
        return {item_name(key, option.code): 2 for option in options}
    return {key: len(options)}


def has_room_for_refusal(question: Question) -> bool:
    """Return whether "prefer not to say" can be added.

    It cannot be added if an option already has the same meaning, or if the question would have too
    many codes.
    """
    options = [fold(option.text) for option in list_options(question)]
    if fold(REFUSED_TEXT) in options:
        return False
    if question.described.has_items or not question.described.has_options:
        return True
    return len(options) + (question.rule is not None) < MAX_SYMBOLS


def find_words(question: Question) -> dict[tuple[str, int], str]:
    """Map the name and code that rules use for an answer to the words of that answer."""
    key, options = str(question.pk), list_options(question)
    if question.described.has_items:
        return {(item_name(key, option.code), 1): option.text for option in options}
    return {(key, option.code): option.text for option in options}
