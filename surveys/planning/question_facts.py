"""Describes questions in words for their author."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from surveys.formatting import join_list
from surveys.manifest.manifest import Manifest
from surveys.manifest.names import split_name
from surveys.manifest.questions import REFUSED_TEXT, ManifestQuestion
from surveys.manifest.rules import Rule
from surveys.manifest.scores import Score, write_total
from surveys.planning.packing import PackedOffer, offer_packing
from surveys.planning.question_costs import QuestionCost, find_question_cost


@dataclass(frozen=True, kw_only=True)
class QuestionFacts:
    """Everything that a page says about one question."""

    number: int  # as respondents count questions; texts are counted separately
    called: str  # "question 3", or "text 1"
    question: ManifestQuestion
    type_name: str
    options: tuple[str, ...]
    details: tuple[str, ...]
    rule: str
    cost: QuestionCost | None
    packing: PackedOffer | None


def list_facts(manifest: Manifest) -> list[QuestionFacts]:
    return [find_facts(manifest, question) for question in manifest.questions]


def find_facts(manifest: Manifest, question: ManifestQuestion) -> QuestionFacts:
    rule = question.rule
    return QuestionFacts(
        number=question.number,
        called=question.called,
        question=question,
        type_name=question.type_name,
        options=_list_options(question),
        details=(*_list_details(question), *_describe_same_fact(manifest, question)),
        rule="" if rule is None else describe_rule(rule, questions=manifest.questions),
        cost=find_question_cost(manifest, question),
        packing=offer_packing(manifest, question),
    )


def _list_options(question: ManifestQuestion) -> tuple[str, ...]:
    if not question.described.has_options:
        return ()
    return tuple(option.text for option in question.options)


def _list_details(question: ManifestQuestion) -> list[str]:
    found = []
    if question.described.has_points:
        ends = [
            f"{_write(number)} (“{label}”)" if label else _write(number)
            for number, label in (
                (question.minimum, question.low_label),
                (question.maximum, question.high_label),
            )
        ]
        found.append(f"From {ends[0]} to {ends[1]}.")
    elif question.score is not None:
        found += _describe_score(question, question.score)
    elif question.described.has_range:
        unit = f" {question.unit}" if question.unit else ""
        low, high = _write(question.minimum), _write(question.maximum)
        found.append(f"A whole number from {low} to {high}{unit}.")
    if question.described.has_follow_up:
        found.append(f"After Yes: {question.follow_up}")
    if question.limit is not None:
        found.append(f"Choose at most {question.limit}.")
    if question.together:
        found.append("On one page with the question before.")
    if question.refusal:
        found.append(f"“{REFUSED_TEXT}” is offered.")
    return found


def _describe_score(question: ManifestQuestion, score: Score) -> Iterator[str]:
    items = [
        f"{one.text}{' (reversed)' * one.reversed}{f' (×{one.weight})' * (one.weight > 1)}"
        for one in score.items
    ]
    if question.is_second:
        yield f"Sent: {question.computed}."
        return
    yield f"Items: {'; '.join(items)}"
    yield f"Answers: {', '.join(f'{write_total(one.value)} {one.text}' for one in score.options)}."
    yield f"Sent: {question.computed}."


def _describe_same_fact(manifest: Manifest, question: ManifestQuestion) -> list[str]:
    named = [one.number for one in manifest.questions if one.name == question.same_fact]
    what = "Second code of the scale" if question.is_second else "Asks for the same fact as"
    return [f"{what} Q{number}." for number in named]


def _write(number: int | None) -> str:
    return f"{number:,}".replace("-", "\N{MINUS SIGN}")


def describe_rule(rule: Rule, *, questions: Sequence[ManifestQuestion]) -> str:
    """Write a manifest's rule in words: Q1 is “Yes” and Q4 has “Bus”."""
    numbers = {question.name: question.number for question in questions}
    texts = {
        question.find_answer_name(option): option.text
        for question in questions
        for option in question.options
    }

    def write(part: Rule, *, inside: bool) -> str:
        if "not" in part:
            return f"not ({write(part['not'], inside=False)})"
        for word, joint in (("all", " and "), ("any", " or ")):
            if word in part:
                joined = joint.join(write(one, inside=True) for one in part[word])
                return f"({joined})" if inside else joined
        name, item = split_name(part["name"])
        chosen = [f"“{texts[part['name'], code]}”" for code in part["is"]]
        return f"Q{numbers[name]} {'has' if item else 'is'} {join_list(chosen, last='or')}"

    return write(rule, inside=False)
