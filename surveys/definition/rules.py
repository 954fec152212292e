"""Converts rules between variable names and the keys of questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from surveys.authoring.answer_options import count_codes
from surveys.authoring.rule_text import write_rule
from surveys.definition.format import Problem, point
from surveys.manifest.names import item_name
from surveys.manifest.rules import Rule, rename
from surveys.models import Question

Path = tuple[str | int, ...]


class Names(Mapping[str, int]):
    """The positions of named questions in a document, from 0. Their keys are -1, -2 and so on."""

    def __init__(self, questions: Sequence[Any]) -> None:
        self._places: dict[str, int] = {}
        for place, question in enumerate(questions):
            name = question.get("name") if isinstance(question, dict) else None
            if isinstance(name, str):
                self._places.setdefault(name, place)

    def __getitem__(self, name: str) -> int:
        return self._places[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def find_key(self, name: str) -> int:
        return -self[name] - 1

    def split(self, name: str) -> tuple[str, str]:
        """Split a name in a rule into question and item. No question has the name of an item."""
        question, _, item = name.rpartition("_")
        return (question, item) if name not in self and question in self else (name, "")


class RuleReader:
    """Reads the references of one question. `known` are the questions before it."""

    def __init__(self, known: Sequence[Question], *, names: Names, place: int) -> None:
        self.known, self.names, self.place = known, names, place
        self.problems: list[Problem] = []

    def read_rule(self, described: Mapping[str, Any]) -> Rule | None:
        """Return the rule with keys, or None if there is no rule or it could not be stored."""
        rule: Rule | None = described.get("rule")
        if rule is None:
            return None
        fine = [self._check_leaf(leaf, path) for leaf, path in _walk(rule, ("rule",))]
        return rename(rule, self._find_key) if all(fine) else None

    def read_fact(self, described: Mapping[str, Any]) -> int | None:
        name = described.get("same_fact")
        if name is None or (other := self._find(name, name, ("same_fact",))) is None:
            return None
        if not other.described.is_scrambled:
            self._add(f"“{name}” is not scrambled. Name a question that is.", "same_fact")
            return None
        return self.names.find_key(name)

    def write(self, rule: Rule | None) -> str:
        """Write a rule as authors do."""
        return "" if rule is None else write_rule(rule, questions=self.known)

    def _check_leaf(self, leaf: Rule, path: Path) -> bool:
        name, item = self.names.split(leaf["name"])
        other = self._find(name, leaf["name"], (*path, "name"))
        if other is None:
            return False
        key = str(other.pk)
        symbols = count_codes(other)
        codes = symbols.get(item_name(key, item) if item else key, 0)
        if not codes:
            what = f"an item of “{name}”, such as {name}_1"
            if not other.described.has_items:
                what = "a question with answers to choose from, without an ending"
            self._add(f"A rule cannot use “{leaf['name']}”. Name {what}.", *path, "name")
        elif not all(code < codes for code in leaf["is"]):
            self._add(f"“{leaf['name']}” has the codes 0 to {codes - 1} only.", *path, "is")
        elif item and leaf["is"] != [1]:
            self._add("For an item, write [1]: it is chosen.", *path, "is")
        else:
            return True
        return False

    def _find(self, name: str, said: str, path: Path) -> Question | None:
        """Find an earlier question, or return None if it is missing or itself has problems."""
        if name not in self.names:
            self._add(f"No question is named “{said}”.", *path)
        elif self.names[name] >= self.place:
            self._add(f"“{name}” must come before this question.", *path)
        elif self.known[self.names[name]].text:
            return self.known[self.names[name]]
        return None

    def _find_key(self, name: str) -> str:
        question, item = self.names.split(name)
        key = str(self.names.find_key(question))
        return item_name(key, item) if item else key

    def _add(self, text: str, *path: str | int) -> None:
        where = point("questions", self.place, *path)
        self.problems.append(Problem(pointer=where, text=text))


def _walk(rule: Rule, path: Path) -> Iterator[tuple[Rule, Path]]:
    """Yield each condition on one question, with its path in the document."""
    for word in ("all", "any"):
        for place, part in enumerate(rule.get(word, ())):
            yield from _walk(part, (*path, word, place))
    if "not" in rule:
        yield from _walk(rule["not"], (*path, "not"))
    if "name" in rule:
        yield rule, path
