"""Parse and write rules in authors' notation: "Q1 is yes and not (Q2 is one of 1, 3)".

Authors may also type the names of questions: "smokes is yes".
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence

from surveys.authoring.answer_options import name_answers, number_answered
from surveys.authoring.errors import RuleError
from surveys.manifest.names import item_name, split_name
from surveys.manifest.rules import Rule
from surveys.models import Question

_TOKEN = re.compile(r"\s*([(),]|[<>=!≠≤≥]+|[^\s(),<>=!≠≤≥]+)")
_QUESTION = re.compile(r"Q([1-9]\d{0,2})", re.IGNORECASE)
# Signs that many people type for "is" and "is one of", and for "is not".
_SAME = ("=", "==", "in")
_OTHER = ("!=", "≠", "<>")
_ORDERS: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "≤": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "≥": operator.ge,
}
HELP = "Write it like “Q1 is yes”, “Q2 is one of 1, 3” or “Q1 is yes and not (Q3 has 2)”."
MAX_DEPTH = 20


def parse_rule(text: str, *, earlier: Sequence[Question]) -> Rule | None:
    """Parse the text of a rule, or return None if the text is empty.

    `earlier` are the questions before this one, in their order on the page. Raises RuleError if the
    text cannot be read.
    """
    if not text.strip():
        return None
    return _Parser(text, earlier).parse()


def write_rule(rule: Rule, *, questions: Sequence[Question]) -> str:
    """Write a stored rule as an author would type it."""
    numbers = {str(question.pk): number for number, question in number_answered(questions)}
    by_key = {str(question.pk): question for question in questions}

    def write(part: Rule, *, inside: bool) -> str:
        if "not" in part:
            return f"not ({write(part['not'], inside=False)})"
        items = list_items(part)
        if items:
            return f"Q{numbers.get(items[0][0], '?')} has {', '.join(item for _, item in items)}"
        for word, joint in (("all", " and "), ("any", " or ")):
            if word in part:
                joined = joint.join(write(one, inside=True) for one in part[word])
                return f"({joined})" if inside else joined
        key = part["name"]
        number = f"Q{numbers.get(key, '?')}"
        names = {code: name for name, code in name_answers(by_key[key]).items()}
        chosen = [names.get(code, "?") for code in part["is"]]
        return f"{number} is {'one of ' if len(chosen) > 1 else ''}{', '.join(chosen)}"

    return write(rule, inside=False)


def list_items(rule: Rule) -> list[tuple[str, str]]:
    """List each condition's question and item if all concern one "select several" question."""
    parts = rule.get("any", [rule])
    names = [split_name(part["name"]) for part in parts if "name" in part]
    items = [(key, item) for key, item in names if item]
    alike = len(set(items)) == len(parts) and len({key for key, _ in items}) == 1
    return items if alike else []


class _Parser:
    def __init__(self, text: str, earlier: Sequence[Question]) -> None:
        self._tokens = _TOKEN.findall(text)
        self._place = 0
        self._depth = 0
        self._earlier = dict(number_answered(earlier))

    def parse(self) -> Rule:
        rule = self._any()
        if self._next:
            raise RuleError(f"The rule cannot be read from “{self._next}” onwards. {HELP}")
        return rule

    @property
    def _next(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _take(self, *wanted: str) -> bool:
        if self._next.lower() not in wanted:
            return False
        self._place += 1
        return True

    def _any(self) -> Rule:
        parts = [self._all()]
        while self._take("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else {"any": parts}

    def _all(self) -> Rule:
        parts = [self._one()]
        while self._take("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else {"all": parts}

    def _one(self) -> Rule:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise RuleError("The rule is nested too deeply. Write it with fewer brackets.")
        try:
            if self._take("not"):
                return {"not": self._one()}
            if self._take("("):
                rule = self._any()
                if not self._take(")"):
                    raise RuleError("The rule opens a bracket but does not close it. Add “)”.")
                return rule
            return self._condition()
        finally:
            self._depth -= 1

    def _condition(self) -> Rule:
        token = self._next
        number = self._read_question(token)
        if number is None:
            found = f"not “{token}”" if token else "but the rule ends"
            raise RuleError(f"A question such as Q1 must come here, {found}. {HELP}")
        self._place += 1
        question = self._find(number, token)
        several = question.described.has_items
        word = "has" if several else "is"
        relation = self._next.lower()
        if relation not in (word, *_SAME, *(() if several else (*_OTHER, *_ORDERS))):
            raise RuleError(f"The word “{word}” must follow {token}. {HELP}")
        self._place += 1
        if relation in _ORDERS:
            return {"name": str(question.pk), "is": self._compared(question, token, relation)}
        negated = relation in _OTHER or (not several and self._take("not"))
        if self._take("one") and not self._take("of"):
            raise RuleError(f"The word “of” must follow “one”. {HELP}")
        codes = self._listed(question, token) if relation == "in" else self._values(question, token)
        rule: Rule
        if several:
            items = [{"name": item_name(str(question.pk), code), "is": [1]} for code in codes]
            rule = items[0] if len(items) == 1 else {"any": items}
        else:
            rule = {"name": str(question.pk), "is": sorted(codes)}
        return {"not": rule} if negated else rule

    def _read_question(self, token: str) -> int | None:
        """Return the number of a question, given as in Q3 or as the name of an earlier question."""
        if match := _QUESTION.fullmatch(token):
            return int(match[1])
        names = {one.name: number for number, one in self._earlier.items() if one.name}
        return names.get(token.lower())

    def _find(self, number: int, token: str) -> Question:
        if number not in self._earlier:
            raise RuleError(
                f"{token} does not come before this question. A rule can only use earlier "
                "questions."
            )
        question = self._earlier[number]
        if not name_answers(question):
            raise RuleError(
                f"A rule cannot use {token}, because it has no answers to choose from. Use a "
                "question that has answers."
            )
        return question

    def _compared(self, question: Question, token: str, sign: str) -> list[int]:
        """Read the number after a sign such as >=, and return the codes that satisfy it."""
        keys = name_answers(question)
        if question.described.fixed_answers:
            raise RuleError(
                f"“{sign}” compares numbers, but the answers to {token} are {', '.join(keys)}."
            )
        bound = self._value(keys, token)
        codes = [code for name, code in keys.items() if _ORDERS[sign](int(name), int(bound))]
        if not codes:
            raise RuleError(f"No answer to {token} is {sign} {bound}.")
        return codes

    def _listed(self, question: Question, token: str) -> list[int]:
        """Read the values after "in", with or without brackets."""
        opened = self._take("(")
        codes = self._values(question, token)
        if opened and not self._take(")"):
            raise RuleError("The rule opens a bracket but does not close it. Add “)”.")
        return codes

    def _values(self, question: Question, token: str) -> list[int]:
        keys = name_answers(question)
        codes = [keys[self._value(keys, token)]]
        while self._take(","):
            codes.append(keys[self._value(keys, token)])
        return list(dict.fromkeys(codes))

    def _value(self, keys: Mapping[str, int], token: str) -> str:
        value = self._next
        if value.lower() not in keys:
            offered = ", ".join(keys)
            wrong = f"“{value}” is not an answer to {token}."
            missing = f"An answer is missing after {token}."
            raise RuleError(f"{wrong if value else missing} Its answers are called {offered}.")
        self._place += 1
        return value.lower()
