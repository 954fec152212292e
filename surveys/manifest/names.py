"""The numbers of questions, and the names of symbols, questions and items that rules refer to.

Questions are numbered as respondents count them. Information texts have separate numbers.
A question has one name: q3 in a manifest, and a primary key in the database. The name of an item of
a "select several" question ends with the item's number (q3_2). The name of the symbol that says
whether such a question was answered ends with "gate" (q3_gate). Only this module writes and reads
these names. In manifests from earlier versions, the numbers in names also count information texts.

In files, a question also has a variable, such as used_cannabis. Nothing else uses variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

# The greatest length of a variable. With the longest suffix in files, such a variable has 32
# characters, which is Stata's limit.
MAX_NAME_LENGTH = 20
MAX_LABEL_LENGTH = 80
MAX_SOURCE_LENGTH = 200  # the greatest length of a name kept from an imported file
_QUESTION = re.compile("[qt][0-9]+")


def number_questions(are_answered: Iterable[bool]) -> list[int]:
    """Number the questions that people answer and, separately, the information texts, from 1."""
    numbers = {True: 0, False: 0}
    found = []
    for is_answered in are_answered:
        numbers[is_answered] += 1
        found.append(numbers[is_answered])
    return found


def question_name(number: int, *, is_answered: bool) -> str:
    return f"{'q' if is_answered else 't'}{number}"


def call_question(number: int, *, is_answered: bool) -> str:
    """Return the name of a question in sentences for authors, such as question 3 or text 1."""
    return f"{'question' if is_answered else 'text'} {number}"


def item_name(question: str, item: int | str) -> str:
    return f"{question}_{item}"


def gate_name(question: str) -> str:
    return f"{question}_gate"


def split_name(name: str) -> tuple[str, str]:
    """Split a name in a rule into the question and the item, which may be empty."""
    question, _, item = name.partition("_")
    return question, item


def rename_question(name: str, names: dict[str, str]) -> str:
    """Replace the question in a name with its new name, or raise KeyError if it is unknown."""
    question, item = split_name(name)
    return item_name(names[question], item) if item else names[question]


def rename_in_files(name: str, variables: Mapping[str, str]) -> str:
    """Replace the question at the start of a name with its variable: q3_2 becomes used_2.

    Names without a question, or of a question without a variable, stay as they are.
    """
    found = _QUESTION.match(name)
    variable = variables.get(found[0]) if found else ""
    return f"{variable}{name[len(found[0]) :]}" if found and variable else name
