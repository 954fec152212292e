"""The names of symbols, and of the questions and items that rules refer to.

A question has one name (q3 in a manifest, a primary key in the database). Each item of a
"select several" question adds its number (q3_2), and the symbol that says whether such a question
was answered adds the word "gate" (q3_gate). Only this module writes and reads these names.
"""

from __future__ import annotations


def question_name(number: int) -> str:
    return f"q{number}"


def item_name(question: str, item: int | str) -> str:
    return f"{question}_{item}"


def gate_name(question: str) -> str:
    return f"{question}_gate"


def split_name(name: str) -> tuple[str, str]:
    """Split a name that a rule uses into the question and its item; the item may be empty."""
    question, _, item = name.partition("_")
    return question, item


def rename_question(name: str, names: dict[str, str]) -> str:
    """Replace the question in a name by its new name; KeyError for an unknown question."""
    question, item = split_name(name)
    return item_name(names[question], item) if item else names[question]
