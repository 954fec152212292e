"""Turn the sums of a file into scores, which ask their items and send one or two codes.

A code is the total, or a value that a formula computes from the total. A sum that no score can
express is left out with a note of the reason, and its items stay questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, override

from surveys.authoring.forms.questions import ScoreForm
from surveys.authoring.rule_checks import HAS_TWO
from surveys.authoring.scale_lines import REVERSED, build_score
from surveys.exchange.codes import Codes, NoCodes, find_codes
from surveys.exchange.reading.conditions import list_names
from surveys.exchange.reading.lines import cut
from surveys.exchange.reading.questions import Item, Parsed
from surveys.exchange.reading.reasons import NO_SCORE, NO_SUM
from surveys.manifest.plain_text import fold
from surveys.manifest.question_types import NO, YES
from surveys.manifest.scores import LEAST_ITEMS, MOST_ITEMS, MOST_OPTIONS, MOST_WEIGHT, Output
from surveys.models import MAX_ITEM_LENGTH, Question

KEPT_SINGLE = "Its items stay single questions, as chosen."
_ITEMS = ("yes_no", "choice", "scale")
_OWN = {"yes": YES, "no": NO}
_NUMBER = re.compile(r"-?\d{1,7}(?:\.\d{1,6})?", re.ASCII)
_WRITTEN = ("text", "scored_items", "scored_options", "output", "options", "cut_off", "__all__")
Numbers = tuple[float, ...]  # the number that each answer adds to a sum


class _NoScore(Exception):
    """Says why a sum cannot be a score."""


@dataclass(frozen=True, kw_only=True)
class _Mark:
    """The relation of an item's numbers to the score's values. `rest` is a remaining constant."""

    weight: int
    is_reversed: bool
    rest: float


def settle_scores(parsed: Parsed, *, singly: bool = False) -> None:
    """Replace the items of each sum with a score, or leave the sum out.

    If two sums add the same item, the first sum keeps it. A score takes the place of its first
    item.
    """
    _Settler(parsed).settle(singly=singly)


class _Settler:
    def __init__(self, parsed: Parsed) -> None:
        self.parsed, self.lines = parsed, parsed.lines
        self.named: dict[str, list[Item]] = {}
        self.needed: dict[str, int] = {}  # maps a name to the row of a question that refers to it
        self.answers: dict[int, list[tuple[str, str]]] = {}  # keyed by line
        self.items_of: dict[str, str] = {}  # maps the name of an item to its score
        self.scales: dict[tuple[str, ...], Item] = {}  # keyed by the terms of the scale's total
        self.have_seconds: set[int] = set()  # the lines of scales that have a second code
        self.computed = [item for item in parsed.items if item.terms]
        for item in parsed.items:
            self.named.setdefault(item.name, []).append(item)
            if item.second:
                self.named.setdefault(item.second, []).append(item)
            if not item.terms:
                for name in (*list_names(item.rule or ["all"]), item.same_fact):
                    self.needed.setdefault(name, self.lines[item.line].row)

    def settle(self, *, singly: bool) -> None:
        gone: set[int] = set()
        placed: dict[int, Item] = {}
        unsent = self._list_unsent()
        for item in self.computed:
            gone.add(id(item))
            try:
                if singly:
                    raise _NoScore(KEPT_SINGLE)
                if item.line in unsent:
                    continue
                total = self._find_total(item)
                if scale := self.scales.get(_identify(total)):
                    self._add_second(item, scale)
                    gone.remove(id(item))
                    continue
                members = self._build(item, total)
            except (_NoScore, NoCodes) as problem:
                self.lines[item.line].leave(f"{NO_SCORE} {problem}", item.terms_column)
                continue
            self._replace(item, members)
            self.scales[_identify(total)] = item
            placed[id(members[0])] = item
            gone |= set(map(id, members))
        for item in self.computed:
            if item.line in unsent:
                self._say_unsent(item)
        items = self.parsed.items
        self.parsed.items = [
            placed.get(id(one), one) for one in items if id(one) in placed or id(one) not in gone
        ]

    def _list_unsent(self) -> set[int]:
        """List the lines of totals that Murmur exports only for computing codes.

        Such totals have neither text nor a strength. Totals in files from other programs are sent.
        """
        read = {term["name"] for one in self.computed if one.flips_column for term in one.terms}
        return {
            item.line
            for item in self.computed
            if item.name in read and not (item.steps or item.flips_column or item.content["text"])
        }

    def _say_unsent(self, item: Item) -> None:
        line = self.lines[item.line]
        if _identify(item) in self.scales:
            line.note(item.name_column, "Only what is computed from it is sent.", "same")
        else:
            line.leave(f"{NO_SCORE} What is computed from it was left out.", item.terms_column)

    def _find_total(self, item: Item) -> Item:
        """Find the sum, in this row or another, whose total an item sends or cuts into bands."""
        if not item.steps:
            return item
        names = {term["name"] for term in item.terms} - {""}
        if item.terms == [{"name": name, "weight": 1.0} for name in names]:
            for total in self.named.get(item.terms[0]["name"], ()):
                if total.terms:
                    return self._check_total(total, item)
        if len(names) < LEAST_ITEMS:
            raise _NoScore(NO_SUM)
        return item

    def _check_total(self, total: Item, item: Item) -> Item:
        called = cut(total.name)
        if len(self.named[total.name]) > 1:
            raise _NoScore(f"The name {called} is used in {len(self.named[total.name])} rows.")
        if total.steps:
            raise _NoScore(f"{called} is not a sum.")
        if total.line > item.line:
            raise _NoScore(f"{called} comes after it.")
        return total

    def _build(self, score: Item, total: Item) -> list[Item]:
        """Write the content of the score, and return its items in the order they are asked."""
        terms: dict[str, list[Mapping[str, Any]]] = {}
        for term in total.terms:
            terms.setdefault(term["name"], []).append(term)
        constant = sum(term["weight"] for term in terms.pop("", []))
        if not LEAST_ITEMS <= len(terms) <= MOST_ITEMS:
            raise _NoScore(
                f"It adds {len(terms)} questions. A score has {LEAST_ITEMS} to {MOST_ITEMS}."
            )
        members = sorted((self._find(name, score) for name in terms), key=lambda one: one.line)
        self._compare(score, members)
        answers = self._list_answers(members[0])
        values = [_list_values(member, answers) for member in members]
        counted = [
            _count(member, terms[member.name], found)
            for member, found in zip(members, values, strict=True)
        ]
        base, marks = _find_base([_read_numbers(found) for found in values], counted, constant)
        content = score.content | {
            "text": score.content["text"] or score.name,
            "output": Output.TOTAL,
            "scored_items": list(map(_write_item, members, marks)),
            "scored_options": [
                f"{int(value)} {text}" for value, (_, text) in zip(base, answers, strict=True)
            ],
        }
        if members[0].content.get("refusal"):
            content["refusal"] = True
        _check_form(content)
        codes = _find_codes(score, scale=content)
        _check_form(content | codes.content)
        score.content, score.answers = content | codes.content, dict(codes.answers)
        return members

    def _add_second(self, item: Item, scale: Item) -> None:
        """Make an item the second code of a scale."""
        called = cut(scale.name)
        if len(self.named[scale.name]) > 1:
            raise _NoScore(f"The name {called} is used in {len(self.named[scale.name])} rows.")
        if scale.line in self.have_seconds:
            raise _NoScore(f"{called} {HAS_TWO}")
        if item.rule not in (None, scale.rule):
            raise _NoScore(f"Its rule differs from the rule of {called}.")
        codes = _find_codes(item, scale=scale.content)
        if codes.content["output"] == scale.content["output"]:
            raise _NoScore(f"{called} sends the same kind of code.")
        _check_form(scale.content | codes.content)
        self.have_seconds.add(scale.line)
        line = self.lines[item.line]
        line.note(
            item.terms_column,
            f"Becomes the second code of {called}. Both are about one fact, so their ε add up.",
        )
        if item.same_fact not in ("", scale.name):
            line.note(item.same_fact_column, f"Left out: it is about the same fact as {called}.")
        if item.content.pop("refusal", False):
            line.note(item.terms_column, f"People decline it together with {called}.", "same")
        if not line.text:
            line.note(item.name_column, "It has no text, so its name appears in results.")
        item.content |= {"type": "second", "text": item.content["text"] or item.name}
        item.content |= codes.content
        item.answers, item.rule, item.same_fact = dict(codes.answers), None, scale.name

    def _find(self, name: str, score: Item) -> Item:
        found, called = self.named.get(name, []), cut(name)
        if len(found) > 1:
            raise _NoScore(f"The name {called} is used in {len(found)} rows.")
        if not found or self.lines[found[0].line].left:
            raise _NoScore(f"{called} is not a question that was taken over.")
        [item] = found
        text = item.content.get("text", "")
        problems = (
            (bool(item.terms), f"{called} is computed itself."),
            (item.line > score.line, f"{called} comes after it."),
            (name in self.items_of, f"{called} is an item of {self.items_of.get(name)} already."),
            (name in self.needed, f"Row {self.needed.get(name)} refers to {called}."),
            (item.same_fact != "", f"{called} is marked as the same fact as another question."),
            (
                item.content["type"] not in _ITEMS,
                f"{called} is not a question with one answer from a list.",
            ),
            (len(item.answers) > MOST_OPTIONS, f"{called} has more than {MOST_OPTIONS} answers."),
            (not text, f"{called} has no text."),
            ("|" in text, f"The text of {called} contains “|”, which items cannot contain."),
        )
        for is_so, problem in problems:
            if is_so:
                raise _NoScore(problem)
        return item

    def _compare(self, score: Item, members: Sequence[Item]) -> None:
        first = members[0]
        texts: dict[str, str] = {}
        for member in members:
            same = texts.setdefault(fold(member.content["text"]), member.name)
            if same != member.name:
                raise _NoScore(f"{cut(same)} and {cut(member.name)} have the same text.")
        for other in members[1:]:
            both = f"{cut(first.name)} and {cut(other.name)}"
            if self._list_answers(first) != self._list_answers(other):
                raise _NoScore(f"{both} have different answers.")
            if first.rule != other.rule:
                raise _NoScore(f"{both} have different rules.")
            if first.content.get("refusal", False) != other.content.get("refusal", False):
                raise _NoScore(f"Only one of {both} may be declined.")
        if score.rule is not None and score.rule != first.rule:
            raise _NoScore("Its rule differs from the rule of its items.")

    def _list_answers(self, item: Item) -> list[tuple[str, str]]:
        """List the answers of a question: their names in rules, and their texts."""
        if item.line not in self.answers:  # thousands of sums can add the same items
            self.answers[item.line] = self._read_answers(item)
        return self.answers[item.line]

    def _read_answers(self, item: Item) -> list[tuple[str, str]]:
        content = item.content
        if content["type"] == "yes_no":
            with override(self.parsed.settings.get("language", "en")):
                return [(called, gettext(_OWN[called])) for called in item.answers.values()]
        if content["type"] == "choice":
            return [(str(place), text) for place, text in enumerate(content["options"], start=1)]
        low, high = content["minimum"], content["maximum"]
        ends = {low: content.get("low_label"), high: content.get("high_label")}
        return [(str(point), ends.get(point) or str(point)) for point in range(low, high + 1)]

    def _replace(self, score: Item, members: Sequence[Item]) -> None:
        """Say what happens to the items, and note which lines the score uses."""
        line, first = self.lines[score.line], members[0]
        line.note(
            score.terms_column,
            f"{len(members)} questions became items of this score. They are no longer sent one by "
            "one, only as a total.",
        )
        if not line.text:
            line.note(
                score.name_column,
                "It has no text, so its name appears above the items. Write a text before the "
                "opening.",
            )
        if first.content.get("refusal"):
            line.note(score.terms_column, "People can decline the whole score, but no single item.")
        score.rule, score.members = first.rule, [member.line for member in members]
        score.rule_column = score.rule_column or first.rule_column
        score.parts += [number for member in members for number in (member.line, *member.parts)]
        for member in members:
            self.items_of[member.name] = cut(score.name)
            own = self.lines[member.line]
            own.note(member.name_column, "Items of a score have no names.", "same")
            if member.flips_column:
                own.note(member.flips_column, "The strength of the score counts.")
        self._translate(members)

    def _translate(self, members: Sequence[Item]) -> None:
        """Add translations that Murmur provides for single questions, but not for items."""
        answers = self._list_answers(members[0])
        for language, words in self.parsed.translations.items():
            with override(language):
                for called, text in answers:
                    if called in _OWN:
                        words.setdefault(text, gettext(_OWN[called]))
                    elif called == text:
                        words.setdefault(text, text)
            for member in members:
                text = member.content["text"]
                if text in words:
                    words.setdefault(_write_line(text), _write_line(words[text]))


def _identify(total: Item) -> tuple[str, ...]:
    return tuple(sorted(map(repr, total.terms)))


def _find_codes(item: Item, *, scale: Mapping[str, Any]) -> Codes:
    """Find the codes that an item sends for a scale with this content."""
    lines = {name: scale[name] for name in ("scored_items", "scored_options")}
    score = build_score(Question(type=Question.Type.SCORE, output=Output.TOTAL, **lines))
    assert score is not None
    return find_codes(item.steps, low=score.minimum, high=score.maximum, names=item.bands)


def _list_values(item: Item, answers: Sequence[tuple[str, str]]) -> list[str]:
    """List the values of the answers in the file. Without a list, each point is its own value."""
    values = {called: value for value, called in item.answers.items()}
    if len(values) not in (0, len(answers)):
        raise _NoScore(f"Two answers of {cut(item.name)} have the same value.")
    return [values[called] if values else called for called, _ in answers]


def _read_numbers(values: Sequence[str]) -> Numbers:
    """Read values as numbers, or return no numbers if one of the values is not a number."""
    return tuple(map(float, values)) if all(map(_NUMBER.fullmatch, values)) else ()


def _count(item: Item, terms: Sequence[Mapping[str, Any]], values: Sequence[str]) -> Numbers:
    numbers, called = _read_numbers(values), cut(item.name)
    if not numbers and any("counts" not in term for term in terms):
        raise _NoScore(f"{called} has an answer whose value is not a number.")
    counted = [0.0] * len(values)
    for term in terms:
        for place, value in enumerate(values):
            if "counts" in term:
                number = term["counts"].get(value, term["otherwise"])
            else:
                number = numbers[place]
            counted[place] += number * term["weight"]
    if not all(one.is_integer() for one in counted):
        raise _NoScore(f"{called} does not count in whole numbers.")
    return tuple(counted)


def _find_base(
    values: Sequence[Numbers], counted: Sequence[Numbers], constant: float
) -> tuple[Numbers, list[_Mark]]:
    """Find numbers for the shared answers that fit all items, unchanged or reversed.

    The values in the file are tried first, and then the numbers of each item, beginning with the
    smallest range.
    """
    rest = None
    whole = [one for one in values if one and all(number.is_integer() for number in one)]
    least = sorted(counted, key=lambda one: max(one) - min(one))
    for bases in (whole, least):
        fitting = []
        for base in dict.fromkeys(bases):
            marks = list(_mark(base, counted))
            if len(marks) == len(counted):
                left = constant + sum(mark.rest for mark in marks)
                rest = left if rest is None else rest
                if left == 0:
                    fitting.append((base, marks))
        if fitting:
            return min(fitting, key=lambda one: sum(mark.is_reversed for mark in one[1]))
    if rest is None:
        raise _NoScore(
            "Its items do not count the same numbers, as they are or reversed, with whole weights "
            f"up to {MOST_WEIGHT}."
        )
    raise _NoScore(f"It differs by {rest:+g} from the sum of its items.".replace("-", "−"))


def _mark(base: Numbers, counted: Sequence[Numbers]) -> Iterator[_Mark]:
    """Compare items with the numbers in `base`, and leave out items that do not fit."""
    low, high = min(base), max(base)
    if low == high:
        return
    for numbers in counted:
        steep = (numbers[base.index(high)] - numbers[base.index(low)]) / (high - low)
        weight, ends = abs(steep), low + high
        turned = base if steep > 0 else tuple(ends - value for value in base)
        rests = {one - weight * value for one, value in zip(numbers, turned, strict=True)}
        if weight.is_integer() and 1 <= weight <= MOST_WEIGHT and len(rests) == 1:
            yield _Mark(weight=int(weight), is_reversed=steep < 0, rest=rests.pop())


def _write_line(text: str) -> str:
    return " ".join(text.split())


def _write_item(item: Item, mark: _Mark) -> str:
    parts = [_write_line(item.content["text"])]
    parts += [REVERSED] * mark.is_reversed + [f"×{mark.weight}"] * (mark.weight > 1)
    written = " | ".join(parts)
    if len(written) > MAX_ITEM_LENGTH:
        raise _NoScore(f"The text of {cut(item.name)} is too long for an item.")
    return written


def _check_form(content: Mapping[str, Any]) -> None:
    """Check a score with the authors' form. If the form rejects it, the items stay questions."""
    data = dict(ScoreForm().initial) | {
        name: "\n".join(value) if isinstance(value, list) else value
        for name, value in content.items()
    }
    errors = ScoreForm(data, questions=[]).errors
    if texts := [str(text) for name in _WRITTEN for text in errors.get(name, ())]:
        raise _NoScore(" ".join(texts))
