"""Rules as choices: earlier questions, chosen answers to each, and the word that joins them.

Choices become the text that authors could also type, and that text is parsed. Rules therefore have
only one notation and one parser (surveys.authoring.rule_text).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from surveys.authoring.answer_options import name_answers, number_answered
from surveys.authoring.errors import RuleError
from surveys.authoring.rule_text import list_items, parse_rule
from surveys.manifest.rules import Rule
from surveys.models import Question

AND, OR = "and", "or"
MOST_CONDITIONS = 10


@dataclass(frozen=True, kw_only=True)
class Condition:
    """The key of a question, and the names of the answers that satisfy the condition."""

    key: str
    answers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Conditions:
    joint: str = AND
    parts: tuple[Condition, ...] = ()

    def write(self, earlier: Sequence[Question]) -> str:
        """Write the rule as authors do, without the parts that have no answer."""
        known = {str(question.pk): (number, question) for number, question in list_usable(earlier)}
        parts = [_write(*known[part.key], part.answers) for part in self.parts if part.answers]
        return f" {self.joint} ".join(parts)


def list_usable(earlier: Sequence[Question]) -> list[tuple[int, Question]]:
    """List the questions that a rule can refer to, with their numbers."""
    return [(number, one) for number, one in number_answered(earlier) if name_answers(one)]


def read_conditions(text: str, *, earlier: Sequence[Question]) -> Conditions | None:
    """Read the text of a rule, or return None if it is invalid or choices cannot express it."""
    try:
        rule = parse_rule(text, earlier=earlier)
    except RuleError:
        return None
    found = Conditions() if rule is None else _split(rule, earlier)
    if found is None or parse_rule(found.write(earlier), earlier=earlier) != rule:
        return None
    return found


def _write(number: int, question: Question, answers: Sequence[str]) -> str:
    word = "has" if question.described.has_items else "is"
    return f"Q{number} {word} {'one of ' if len(answers) > 1 else ''}{', '.join(answers)}"


def _split(rule: Rule, earlier: Sequence[Question]) -> Conditions | None:
    names = {
        str(one.pk): {code: name for name, code in name_answers(one).items()} for one in earlier
    }
    joint, parts = AND, [rule]
    if "all" in rule:
        parts = rule["all"]
    elif "any" in rule and not list_items(rule):
        joint, parts = OR, rule["any"]
    found = [_read_part(part, names) for part in parts]
    if not all(found) or len(parts) > MOST_CONDITIONS:
        return None
    return Conditions(joint=joint, parts=tuple(part for part in found if part))


def _read_part(part: Rule, names: Mapping[str, Mapping[int, str]]) -> Condition | None:
    if items := list_items(part):
        return Condition(key=items[0][0], answers=tuple(item for _, item in items))
    if "name" not in part:
        return None
    key = part["name"]
    return Condition(key=key, answers=tuple(names[key][code] for code in part["is"]))
