"""The part of a question's form that chooses its rule. It works without scripts.

The page shows the rule twice: as chosen answers, and as text that can be edited. `shown` is the
text that the page showed. The author changed the version that differs from `shown`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.utils.text import Truncator

from surveys.authoring.answer_options import list_options, name_answers
from surveys.authoring.rule_choice import (
    AND,
    MOST_CONDITIONS,
    OR,
    Condition,
    Conditions,
    list_usable,
    read_conditions,
)
from surveys.models import Question

JOINTS = ((AND, "All of them"), (OR, "At least one"))
SHOWN, JOINT, QUESTION, ANSWER = "rule_shown", "rule_joint", "rule_question", "rule_answer"
INPUTS = ("rule", SHOWN, JOINT, QUESTION, ANSWER)  # everything that a form sends about its rule
TWICE = (
    "You changed the rule both by choosing answers and by typing text. Keep one change and undo "
    "the other."
)
GONE = "A question in the rule no longer comes before this one. Choose again."
UNTICKED = "Tick at least one answer to Q{number}, or choose “No question” there."


@dataclass(frozen=True, kw_only=True)
class Row:
    """A menu of questions, with the value, words and tick of each answer to the chosen question."""

    number: int  # the number of the row, from 1
    key: str = ""
    word: str = ""
    answers: tuple[tuple[str, str, bool], ...] = ()


class RuleChoice:
    """The chosen answers and the resulting text. `problem` says why the text cannot be used.

    While the author writes, a row without a ticked answer is only `unfinished`.
    """

    def __init__(self, data: QueryDict | None, *, earlier: Sequence[Question], text: str) -> None:
        self.earlier, self.text, self.shown = earlier, text.strip(), text.strip()
        self.problem = self.unfinished = ""
        self.usable = list_usable(earlier)
        self._questions = {str(question.pk): question for _, question in self.usable}
        found = read_conditions(self.text, earlier=earlier)
        self.is_typed_only = found is None
        self.conditions = found or Conditions()
        if data is not None and SHOWN in data:
            self._take(data)

    def _take(self, data: QueryDict) -> None:
        posted = self._read(data)
        shown = str(data[SHOWN]).strip()
        before = read_conditions(shown, earlier=self.earlier) or Conditions()
        chosen = posted.write(self.earlier)
        is_chosen = bool(self.unfinished) or chosen != before.write(self.earlier)
        if not is_chosen or self.problem:
            return
        if self.text not in (shown, chosen):
            self.problem, self.shown = TWICE, shown
        else:
            self.text = self.shown = chosen
        self.conditions, self.is_typed_only = posted, False

    def _read(self, data: QueryDict) -> Conditions:
        numbers = {str(question.pk): number for number, question in self.usable}
        parts = []
        for row, key in enumerate(data.getlist(QUESTION)[:MOST_CONDITIONS]):
            if key not in self._questions:
                self.problem = self.problem or (GONE if key else "")
                continue
            ticked = data.getlist(ANSWER)
            names = [
                name
                for name in name_answers(self._questions[key])
                if f"{row}.{key}.{name}" in ticked
            ]
            parts.append(Condition(key=key, answers=tuple(names)))
            if not names:
                self.unfinished = UNTICKED.format(number=numbers[key])
        joint = OR if data.get(JOINT) == OR else AND
        return Conditions(joint=joint, parts=tuple(parts))

    @property
    def options(self) -> list[tuple[str, str]]:
        """The questions to choose from."""
        named = [
            (str(question.pk), f"Q{number} {Truncator(question.text).chars(80)}")
            for number, question in self.usable
        ]
        return [("", "No question"), *named]

    @property
    def joints(self) -> tuple[tuple[str, str], ...]:
        """The ways to join conditions, if there are several conditions."""
        return JOINTS if len(self.conditions.parts) > 1 else ()

    @property
    def rows(self) -> list[Row]:
        """The conditions, and an empty row for the next one."""
        rows = [self._build_row(number, part) for number, part in enumerate(self.conditions.parts)]
        return [*rows, Row(number=len(rows) + 1)][:MOST_CONDITIONS]

    def _build_row(self, place: int, part: Condition) -> Row:
        question = self._questions[part.key]
        names = {code: name for name, code in name_answers(question).items()}
        answers = tuple(
            (f"{place}.{part.key}.{name}", option.text, name in part.answers)
            for option in list_options(question)
            for name in [names[option.code]]
        )
        row = Row(number=place + 1, key=part.key, answers=answers)
        return replace(row, word="has" if question.described.has_items else "is")
