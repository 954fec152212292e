"""Convert questions and choices from other programs into Murmur's questions. Imports no Django."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from surveys.authoring.pasting.wordings import is_none, is_refusal, read_yes_or_no
from surveys.exchange.reading.conditions import Condition, NotReadable, read_condition
from surveys.exchange.reading.lines import HIDDEN, Kind, Line
from surveys.exchange.reading.reasons import NO_FORMATTING, NO_RULE, NO_SCORE, PIPED
from surveys.exchange.reading.sums import Step, Sum, read_formula

_LEAST_POINTS, _MOST_POINTS, _POINTS = 3, 11, range(-89, 101)
# Types whose questions can share a page. The child process cannot load surveys.manifest.grids.
TYPES_IN_GRIDS = ("yes_no", "choice", "scale")
SHARES_PAGES = "Questions with the same answers share a page."
_YES, _NO = {"yes", "y", "true"}, {"no", "n", "false"}
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->", re.DOTALL)
_BREAK = re.compile(r"<(?:br|/p|/div|/li)\b[^<>]*>", re.IGNORECASE)
_PARAGRAPHS = re.compile("\n{3,}")
_SPACES = re.compile(r"[ \t]+")
_PIPE = re.compile(r"\$\{[^}]*\}")


# The translations of a text: maps each language to the translation and its column.
Words = Mapping[str, tuple[str, str]]


@dataclass(kw_only=True)
class Choice:
    """An answer to choose from. `line` and the two columns are its place in the file."""

    value: str
    text: str
    line: Line
    value_column: str
    text_column: str
    words: Words = field(default_factory=dict)


@dataclass(kw_only=True)
class Item:
    """A question in the file. `content` is as in QuestionContent, without the rule."""

    line: int
    name: str
    content: dict[str, Any]
    parts: list[int] = field(default_factory=list)  # the lines with the question's answers
    # Maps values to the names of their answers in rules. A value that stands for several answers
    # has several names.
    answers: dict[str, str] = field(default_factory=dict)
    second: str = ""  # the name of the question that is asked after Yes, if there is one
    rule: Condition | None = None
    rule_column: str = ""
    name_column: str = ""
    same_fact: str = ""
    same_fact_column: str = ""
    flips_column: str = ""
    # The cells whose values change if this remains a single question: line, column and note.
    moved: list[tuple[int, str, str]] = field(default_factory=list)
    # The terms of a sum, the steps of a formula on the sum (reading.sums), the names of bands by
    # result and, once the item is a score, the lines of the score's items.
    terms: Sum = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    bands: dict[str, str] = field(default_factory=dict)
    terms_column: str = ""
    members: list[int] = field(default_factory=list)
    # The column of a heading in the question's row. The heading may be left out.
    heading: str = ""


@dataclass(kw_only=True)
class Parsed:
    """The result of the child process, which is passed on as plain JSON."""

    lines: list[Line]
    items: list[Item]
    settings: dict[str, Any]
    settings_line: int = 0  # the line of the consent
    answers: list[int] = field(default_factory=list)  # the lines of lists of answers
    translations: dict[str, dict[str, str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)  # parts that have no row and are left out

    def write(self) -> dict[str, Any]:
        written = asdict(self)
        for line in written["lines"]:
            line["taken"] = sorted(line["taken"])
        return written

    @classmethod
    def read(cls, written: dict[str, Any]) -> Parsed:
        lines = [Line(**one | {"taken": set(one["taken"])}) for one in written["lines"]]
        items = [Item(**one) for one in written["items"]]
        return cls(**written | {"lines": lines, "items": items})


def clean_text(text: str) -> str:
    """Drop hidden characters, and markup, which Murmur would not render."""
    plain = HIDDEN.sub("", html.unescape(_TAG.sub("", _BREAK.sub("\n", text))))
    lines = "\n".join(_SPACES.sub(" ", line).strip() for line in plain.splitlines())
    return _PARAGRAPHS.sub("\n\n", lines).strip()


def read_label(line: Line, column: str, *, pipes: re.Pattern[str] = _PIPE) -> str:
    """Take text that people will read, without markup. Leave out a row with piped answers."""
    written = line.take(column)
    if pipes.search(written):
        line.leave(PIPED, column)
    text = clean_text(written)
    if " ".join(text.split()) != " ".join(written.split()):
        line.note(column, NO_FORMATTING)
    return text


def read_rule(line: Line, column: str) -> Condition | None:
    written = line.take(column)
    if not written:
        return None
    try:
        return simplify(read_condition(written))
    except NotReadable as problem:
        line.note(column, f"{NO_RULE} {problem}")
        return None


def read_score(line: Line, column: str) -> dict[str, Any] | None:
    """Read a formula as the content of a score, or leave the row out if this fails."""
    try:
        terms, steps = read_formula(line.take(column))
    except NotReadable as problem:
        line.leave(f"{NO_SCORE} {problem}", column)
        return None
    return {"type": "score", "terms": terms, "steps": steps}


def simplify(condition: Condition) -> Condition:
    """Drop double negations, which result from `!=` and from boxes."""
    word, *parts = condition
    if word in ("is", "has"):
        return condition
    inside = [simplify(part) for part in parts]
    if word == "not" and inside[0][0] == "not":
        return list(inside[0][1])
    return [word, *inside]


def join_rules(*rules: Condition | None) -> Condition | None:
    """Join the rule of a group with the question's own rule."""
    found = [rule for at, rule in enumerate(rules) if rule is not None and rule not in rules[:at]]
    return found[0] if len(found) == 1 else ["all", *found] if found else None


@dataclass(kw_only=True)
class Closed:
    """The question that a list of answers becomes."""

    type: str
    options: list[str] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    refusal: bool = False
    minimum: int | None = None
    maximum: int | None = None
    low_label: str = ""
    high_label: str = ""
    moved: list[tuple[Choice, str]] = field(default_factory=list)  # values that are not kept


def build_closed(choices: Sequence[Choice], *, several: bool, declared: bool = False) -> Closed:
    """Choose the type of question for a list of answers, and note the changes to the cells."""
    found = Closed(type="several" if several else "declared" if declared else "choice")
    kept = []
    for choice in choices:
        if is_refusal(choice.text):
            found.refusal = True
            _drop(choice, "Offered as Murmur’s own “prefer not to say”.", "same")
        elif several and is_none(choice.text):
            _drop(choice, "“None of these” is left out: Murmur’s page offers it anyway.", "change")
        else:
            kept.append(choice)
    if not (several or declared):
        if yes_no := _read_yes_no(kept):
            return _become_yes_no(found, kept, yes_no)
        if points := _read_points(kept):
            return _become_scale(found, kept, points)
    first_with: dict[str, int] = {}
    moved: dict[int, list[tuple[Choice, int]]] = {}
    for place, choice in enumerate(kept, start=1):
        found.options.append(choice.text)
        if first := first_with.get(choice.value):
            reason = f"Answer {place} has the same value as answer {first}. Rules cannot name it."
            choice.line.note(choice.value_column, reason)
            found.answers.pop(choice.value, None)
            continue
        first_with[choice.value] = place
        found.answers[choice.value] = str(place)
        if choice.value != str(place):
            moved.setdefault(id(choice.line), []).append((choice, place))
    for pairs in moved.values():  # all answers are in one cell, or each is in a separate cell
        said = ", ".join(f"“{choice.value}” becomes {place}" for choice, place in pairs)
        found.moved.append((pairs[0][0], f"{said}."))
    return found


def _read_yes_no(choices: Sequence[Choice]) -> dict[str, str]:
    """Map two values to "yes" and "no", or return an empty map if they mean something else.

    The values 1, 0 and 2 may stand for anything, so their texts must say yes and no.
    """
    if len(choices) != 2:
        return {}
    found = {}
    for choice in choices:
        value = choice.value.casefold()
        named = "yes" if value in _YES else "no" if value in _NO else ""
        said = read_yes_or_no(choice.text)
        meant = named if said in ("", named) else ""
        if value in ("1", "0", "2"):
            meant = said
        found[choice.value] = meant
    return found if set(found.values()) == {"yes", "no"} else {}


def _become_yes_no(found: Closed, choices: Sequence[Choice], answers: dict[str, str]) -> Closed:
    found.type, found.answers = "yes_no", answers
    for choice in choices:
        own = answers[choice.value]
        if not read_yes_or_no(choice.text):
            choice.line.note(choice.text_column, f"Murmur says “{own.capitalize()}” here.")
        if choice.value.casefold() not in (*_YES, *_NO, "0", "1"):
            found.moved.append((choice, f"{choice.value} becomes {own}."))
        _drop_words(choice)
    return found


def _read_points(choices: Sequence[Choice]) -> list[int]:
    """Return the consecutive points of a scale, of which only the first and last may have words."""
    try:
        points = [int(choice.value) for choice in choices]
    except ValueError:
        return []
    low = points[0] if points else 0
    if points != list(range(low, low + len(points))):
        return []
    if not _LEAST_POINTS <= len(points) <= _MOST_POINTS or not {low, points[-1]} < set(_POINTS):
        return []
    inner = [choice.text in ("", choice.value) for choice in choices[1:-1]]
    return points if all(inner) else []


def _become_scale(found: Closed, choices: Sequence[Choice], points: list[int]) -> Closed:
    found.type, found.minimum, found.maximum = "scale", points[0], points[-1]
    found.answers = {
        choice.value: str(point) for choice, point in zip(choices, points, strict=True)
    }
    ends = (choices[0], choices[-1])
    found.low_label, found.high_label = (
        "" if choice.text == choice.value else choice.text for choice in ends
    )
    for choice in choices:
        if choice not in ends or choice.text == choice.value:
            _drop_words(choice)
    return found


def _drop(choice: Choice, reason: str, kind: Kind) -> None:
    columns = (choice.text_column, *(column for _, column in choice.words.values()))
    for column in dict.fromkeys(columns):
        choice.line.note(column, reason, kind)
    if choice.value_column not in columns:
        choice.line.note(choice.value_column, reason, "same")


def _drop_words(choice: Choice) -> None:
    """Note translations that are left out because Murmur has its own words for the answer."""
    for text, column in choice.words.values():
        if text != choice.value and not read_yes_or_no(text):
            choice.line.note(column, "Left out: Murmur has its own words here.", "change")


def describe_closed(closed: Closed) -> dict[str, Any]:
    """Return the content of a question with these answers."""
    content: dict[str, Any] = {"type": closed.type, "refusal": closed.refusal}
    if closed.options:
        content["options"] = closed.options
    if closed.minimum is not None:
        content |= {"minimum": closed.minimum, "maximum": closed.maximum}
        content |= {"low_label": closed.low_label, "high_label": closed.high_label}
    return content


def merge_follow_ups(items: list[Item], follow_ups: Mapping[int, str], lines: list[Line]) -> None:
    """Join each follow-up question with the question whose Yes leads to it.

    `follow_ups` maps the line of a follow-up to the name of the first question. Questions are only
    joined if the column `murmur_follow_up` says so, because the two answers become one code.
    """
    by_name = {item.name: item for item in items}
    for number, name in follow_ups.items():
        [second] = [item for item in items if item.line == number]
        first, line = by_name.get(name), lines[number]
        fits = (
            first is not None
            and first.line != number
            and first.content["type"] == second.content["type"] == "yes_no"
            and second.rule in (["is", name, "yes"], ["is", name, "1"])
            and not (first.content.get("refusal") and second.content.get("refusal"))
        )
        if first is None or not fits:
            line.note("murmur_follow_up", f"{name} is not an earlier yes/no question.")
            continue
        first.content |= {"type": "follow_up", "follow_up": second.content["text"]}
        both = "yes-yes yes-no"
        first.answers = {"no": "no", "0": "no", "yes": both, "1": both}
        first.second = second.name
        first.parts.append(number)
        items.remove(second)
        line.note(second.name_column, "Its answer is part of the question before.", "same")
        for column in filter(None, (second.flips_column, second.same_fact_column)):
            line.note(column, "The value of the first question counts.")
