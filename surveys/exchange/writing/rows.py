"""The rows of a definition in XLSForm and REDCap: names, answers with values, and rules.

`reading` reads the rows back. The value of an option is its place, because drafts store no values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext, override

from surveys.exchange.writing.score_rows import list_values, read_score, write_code, write_total
from surveys.manifest.grids import TYPES_IN_GRIDS
from surveys.manifest.question_types import NO, TYPES, YES, QuestionType
from surveys.manifest.questions import REFUSED_TEXT
from surveys.manifest.rules import Rule
from surveys.manifest.scores import Output

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
REFUSED = "refused"
Question = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Answer:
    value: str
    text: str
    is_own: bool = False  # whether Murmur provides the answer and its translations


@dataclass(kw_only=True)
class Row:
    """A question, the second question of a follow-up, or an item or a formula of a score."""

    name: str
    question: Question
    text: str
    answers: Sequence[Answer] = ()
    follows: str = ""  # the name of the row whose Yes leads to this row
    is_item: bool = False
    formula: str = ""
    bands: Sequence[Answer] = ()  # the results of the formula
    is_unsent: bool = False  # whether this is an item, or a total that is only sent as codes
    grid: str = ""  # the name of the rows that share a page, if this row is one of them

    @property
    def type(self) -> QuestionType:
        if self.is_item:
            return QuestionType.CHOICE
        return QuestionType.YES_NO if self.follows else QuestionType(self.question["type"])


@dataclass(kw_only=True)
class Rows:
    """All rows. `names` maps names in the definition to names in the file."""

    language: str
    rows: list[Row] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, str] = field(default_factory=dict)
    items: dict[str, list[str]] = field(default_factory=dict)
    totals: dict[str, str] = field(default_factory=dict)  # maps a scale to the row of its total
    questions: dict[str, Question] = field(default_factory=dict)


def build_rows(definition: Mapping[str, Any], *, in_small_letters: bool = False) -> Rows:
    found = Rows(language=definition.get("settings", {}).get("language", "en"))
    used: set[str] = {"record_id", "consent"}

    def use(*wanted: str) -> str:
        for name in map(str.lower, wanted) if in_small_letters else wanted:
            if _NAME.fullmatch(name) and name.lower() not in used:
                used.add(name.lower())
                return name
        number = 2
        while f"{wanted[-1]}_{number}" in used:
            number += 1
        return use(f"{wanted[-1]}_{number}")

    with override(found.language):
        for question in definition["questions"]:
            own = question.get("name", "")
            name = (
                use(*filter(None, (question.get("source_name", ""), own))) if own else use("text")
            )
            found.names[own], found.questions[own] = name, question
            if question["type"] in (QuestionType.SCORE, QuestionType.SECOND):
                scale = found.questions[question["same_fact"]] if _is_second(question) else question
                found.rows += _list_score(question, name, use, scale=scale, rows=found)
                continue
            found.rows.append(
                Row(
                    name=name,
                    question=question,
                    text=question["text"],
                    answers=_list_answers(question),
                )
            )
            if question.get("follow_up"):
                found.seconds[own] = use(f"{name}_then")
                found.rows.append(
                    Row(
                        name=found.seconds[own],
                        question=question,
                        text=question["follow_up"],
                        answers=_list_yes_no(),
                        follows=name,
                    )
                )
    for before, row in pairwise(found.rows):
        if row.question.get("together") and _fits(before, row):
            before.grid = row.grid = before.grid or use(f"{before.name}_rows")
    return found


def _fits(before: Row, row: Row) -> bool:
    """Return whether two questions can share a page because answers and rule are the same."""
    first, second = (
        (one.question["type"], one.answers, one.question.get("rule")) for one in (before, row)
    )
    return first == second and second[0] in TYPES_IN_GRIDS


def _is_second(question: Question) -> bool:
    return bool(question["type"] == QuestionType.SECOND)


def _list_score(
    question: Question, name: str, use: Callable[..., str], *, scale: Question, rows: Rows
) -> Iterator[Row]:
    """Yield the rows of the items and of the formulas. The last row has the score's own name.

    A second code has no rows for items, and has the rule of its scale.
    """
    score = read_score(question, scale=scale)
    if _is_second(question):
        question = {**question, **{key: scale[key] for key in ("rule",) if key in scale}}
    answers = [
        Answer(value=str(value), text=one.text)
        for value, one in zip(list_values(score), score.options, strict=True)
    ]
    names = list(rows.items.get(scale["name"], ()))
    for place, item in enumerate(score.items if not names else (), start=1):
        names.append(use(f"{name}_{place}"))
        yield Row(
            name=names[-1],
            question=question,
            text=item.text,
            answers=answers,
            is_item=True,
            is_unsent=True,
        )
    rows.items[scale["name"]] = names
    formula, bands = write_total(score, names=names), list[Answer]()
    if score.bounds:
        if scale["name"] not in rows.totals:
            rows.totals[scale["name"]] = total = use(f"{name}_total")
            yield Row(name=total, question=question, text="", formula=formula, is_unsent=True)
        formula = write_code(score, output=question["output"], total=rows.totals[scale["name"]])
        bands = _number(question["options"]) if question["output"] == Output.BANDS else []
    rows.totals.setdefault(scale["name"], name)
    yield Row(name=name, question=question, text=question["text"], formula=formula, bands=bands)


def _list_yes_no() -> list[Answer]:
    return [
        Answer(value=value, text=gettext(text), is_own=True)
        for value, text in (("yes", YES), ("no", NO))
    ]


def _number(options: Sequence[str]) -> list[Answer]:
    return [Answer(value=str(place), text=text) for place, text in enumerate(options, start=1)]


def _list_answers(question: Question) -> list[Answer]:
    described = TYPES[question["type"]]
    if described.fixed_answers:
        answers = _list_yes_no()
    elif described.has_options:
        answers = _number(question["options"])
    elif described.has_points:
        low, high = question["minimum"], question["maximum"]
        ends = {low: question.get("low_label"), high: question.get("high_label")}
        answers = [
            Answer(value=str(point), text=ends.get(point) or str(point))
            for point in range(low, high + 1)
        ]
    else:
        return []
    if question.get("refusal"):
        answers.append(Answer(value=REFUSED, text=gettext(REFUSED_TEXT), is_own=True))
    return answers


def write_rule(
    rule: Rule,
    rows: Rows,
    *,
    equals: Callable[[str, str], str],
    has: Callable[[str, str], str],
) -> str:
    """Write a rule. `equals` and `has` write a condition on one answer or on one box."""

    def write(part: Rule, *, inside: bool) -> str:
        if "not" in part:
            return f"not({write(part['not'], inside=False)})"
        for word, joint in (("all", " and "), ("any", " or ")):
            if word in part:
                joined = joint.join(write(one, inside=True) for one in part[word])
                return f"({joined})" if inside else joined
        return _write_condition(part, inside=inside)

    def _write_condition(part: Rule, *, inside: bool) -> str:
        name, item = _split(part["name"], rows)
        if item:
            held = has(rows.names[name], item)
            return held if part["is"] == [1] else f"not({held})"
        conditions = [equals(*pair) for pair in _list_values(name, part["is"], rows)]
        joined = " or ".join(conditions)
        return f"({joined})" if inside and len(conditions) > 1 else joined

    return write(rule, inside=False)


def _split(name: str, rows: Rows) -> tuple[str, str]:
    """Split an item's name. Names of questions may have underscores but never end in a number."""
    if name in rows.questions:
        return name, ""
    question, _, item = name.rpartition("_")
    return question, item


def _list_values(name: str, codes: Sequence[int], rows: Rows) -> list[tuple[str, str]]:
    """List the pairs of row and value that together stand for these codes."""
    question, called = rows.questions[name], rows.names[name]
    described = TYPES[question["type"]]
    if question["type"] in (QuestionType.SCORE, QuestionType.SECOND):
        return [(called, str(code + (question["output"] == Output.BANDS))) for code in codes]
    if described.has_follow_up:
        # Code 0 means No, 1 means Yes and then Yes, and 2 means Yes and then No.
        second = rows.seconds[name]
        one_each = {0: (called, "no"), 1: (second, "yes"), 2: (second, "no")}
        if {1, 2} <= set(codes):
            return [(called, "no")] * (0 in codes) + [(called, "yes")]
        return [one_each[code] for code in codes]
    if described.fixed_answers:
        return [(called, "yes" if code == 1 else "no") for code in codes]
    first = question["minimum"] if described.has_points else 1 - described.first_code
    return [(called, str(code + first)) for code in codes]
