"""Branching rules, such as "ask this only if …", about the answers to earlier questions.

A rule is plain JSON, in the same form in the database, the manifest and the browser:

    {"name": "q1", "is": [1]}     the answer to q1 is one of these codes
    {"all": [rule, …]}            all of them hold
    {"any": [rule, …]}            at least one holds
    {"not": rule}                 it does not hold

A question that was not asked or not answered has none of the codes. For respondents, rules are
evaluated only in the browser (client/report/rules.js). `holds` does the same for synthetic
respondents. In the database, rules refer to questions by primary key, because numbers change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import product
from typing import Any

Rule = dict[str, Any]
MAX_CASES = 20_000


def holds(rule: Rule, codes: Mapping[str, int | None]) -> bool:
    """Return whether a rule holds for these answers. None or a missing name means no answer."""
    if "all" in rule:
        return all(holds(part, codes) for part in rule["all"])
    if "any" in rule:
        return any(holds(part, codes) for part in rule["any"])
    if "not" in rule:
        return not holds(rule["not"], codes)
    return codes.get(rule["name"]) in rule["is"]


def leaves(rule: Rule) -> Iterator[Rule]:
    """Yield all conditions on single answers."""
    for part in (*rule.get("all", ()), *rule.get("any", ())):
        yield from leaves(part)
    if "not" in rule:
        yield from leaves(rule["not"])
    if "name" in rule:
        yield rule


def rename(rule: Rule, new_name: Callable[[str], str]) -> Rule:
    """Return the rule with new names. `new_name` raises KeyError for an unknown name."""
    if "name" in rule:
        return {"name": new_name(rule["name"]), "is": sorted(rule["is"])}
    if "not" in rule:
        return {"not": rename(rule["not"], new_name)}
    word = "all" if "all" in rule else "any"
    return {word: [rename(part, new_name) for part in rule[word]]}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question as rules see it. `symbols` maps each of its symbols to the number of codes."""

    name: str
    symbols: Mapping[str, int]  # 2 for each item of "select several"
    rule: Rule | None = None
    may_refuse: bool = False
    at_most: int | None = None  # how many of the items may be 1


class TooComplex(ValueError):
    """A rule has too many cases to try."""


_shared: ContextVar[list[int] | None] = ContextVar("shared", default=None)


@contextmanager
def share_cases(most: int) -> Iterator[None]:
    """Limit all calls of `outcomes` in the `with` block to `most` cases in total."""
    token = _shared.set([most])
    try:
        yield
    finally:
        _shared.reset(token)


@dataclass
class _Seen:
    true: bool = False
    false: bool = False
    cases: int = 0
    shared: list[int] | None = field(default_factory=_shared.get)

    def count(self) -> None:
        self.cases += 1
        if self.shared is not None:
            self.shared[0] -= 1
        if self.cases > MAX_CASES or (self.shared is not None and self.shared[0] < 0):
            raise TooComplex

    @property
    def both(self) -> bool:
        return self.true and self.false


def outcomes(rule: Rule, *, earlier: Sequence[Asked]) -> tuple[bool, bool]:
    """Return whether any answers satisfy a rule, and whether any answers violate it.

    Only answers that people can give are tried. The rules of the `earlier` questions are taken into
    account, so questions that are never asked together are never answered together. If no condition
    distinguishes several codes, only one is tried. Raises TooComplex if too many cases are left.
    """
    relevant = _with_ancestors(rule, earlier)
    told = [leaf for one in (rule, *(a.rule for a in relevant if a.rule)) for leaf in leaves(one)]
    seen = _Seen()
    _try(rule, relevant, {}, told, seen)
    return seen.true, seen.false


def _with_ancestors(rule: Rule, earlier: Sequence[Asked]) -> list[Asked]:
    wanted = {leaf["name"] for leaf in leaves(rule)}
    found = []
    for asked in reversed(earlier):
        if wanted & asked.symbols.keys():
            found.append(asked)
            if asked.rule:
                wanted |= {leaf["name"] for leaf in leaves(asked.rule)}
    return found[::-1]


def _try(
    rule: Rule,
    questions: Sequence[Asked],
    codes: dict[str, int | None],
    told: Sequence[Rule],
    seen: _Seen,
) -> None:
    seen.count()
    settled = _foresee(rule, codes) if questions else holds(rule, codes)
    if settled is not None:  # later answers cannot change this, and some are always possible
        seen.true |= settled
        seen.false |= not settled
        return
    first, *rest = questions
    for answer in _answers(first, codes, told, seen):
        _try(rule, rest, {**codes, **answer}, told, seen)
        if seen.both:
            return


def _foresee(rule: Rule, codes: Mapping[str, int | None]) -> bool | None:
    """Return whether a rule holds for the codes so far, or None if that depends on later codes."""
    if "not" in rule:
        inside = _foresee(rule["not"], codes)
        return None if inside is None else not inside
    for word, decisive in (("all", False), ("any", True)):
        if word in rule:
            parts = [_foresee(part, codes) for part in rule[word]]
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
    if rule["name"] not in codes:
        return None
    return codes[rule["name"]] in rule["is"]


def _answers(
    asked: Asked, codes: Mapping[str, int | None], told: Sequence[Rule], seen: _Seen
) -> Iterator[dict[str, int | None]]:
    nothing: dict[str, int | None] = dict.fromkeys(asked.symbols)
    if asked.rule is not None and not holds(asked.rule, codes):
        yield nothing
        return
    if asked.may_refuse:
        yield nothing
    named = {leaf["name"] for leaf in told}
    symbols = [name for name in asked.symbols if name in named]
    for chosen in product(*(_kinds(name, asked.symbols[name], told) for name in symbols)):
        if asked.at_most is None or sum(chosen) <= asked.at_most:
            yield dict(zip(symbols, chosen, strict=True))
            continue
        seen.count()  # invalid combinations also take time


def _kinds(name: str, k: int, told: Sequence[Rule]) -> list[int]:
    """Return one code of each group of codes that the conditions distinguish."""
    about = [leaf["is"] for leaf in told if leaf["name"] == name]
    kinds = {tuple(code in chosen for chosen in about): code for code in reversed(range(k))}
    return sorted(kinds.values())
