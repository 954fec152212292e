"""Links from a draft to the planner, filled in with what the draft says."""

from __future__ import annotations

from collections import Counter

from privacy.planning.precision import people_for_half_width
from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.models import MAX_QUESTIONS
from surveys.planning.plan_input import PlanInput


def plan_for(manifest: Manifest) -> dict[str, str | int]:
    """The planner's input for a draft, taken from its least precise question."""
    planned = [
        question
        for question in manifest.questions
        if question.is_protected and not question.has_gate
    ]
    if not planned:
        return {}
    hardest = max(
        planned,
        key=lambda question: people_for_half_width(
            share=PlanInput.share, half_width=PlanInput.margin, mechanism=question.mechanism
        ),
    )
    return _fill_in(manifest, hardest, questions=_count_asked(manifest))


def plan_for_question(manifest: Manifest, question: ManifestQuestion) -> dict[str, str | int]:
    """The same for one question; empty if the planner does not know its design."""
    if question.has_gate:
        return {}
    return _fill_in(manifest, question, questions=_count_codes(question))


def _fill_in(
    manifest: Manifest, question: ManifestQuestion, *, questions: int
) -> dict[str, str | int]:
    query: dict[str, str | int] = {"questions": min(questions, MAX_QUESTIONS)}
    query["flips"] = question.flips
    if question.is_rounded:
        query |= {"figure": "mean", "share": 50}
    if question.described.has_follow_up:
        query["share"] = 80  # of No to the first part, one of its codes
    if question.answers != PlanInput.options:
        query["options"] = question.answers
    if question.refusal:
        query["refusing"] = round(100 * PlanInput.refusing)
    if question.rule is not None:
        query["asked"] = round(100 * PlanInput.asked)
    query["closing"] = "fixed" if manifest.has_fixed_end else "watched"
    if manifest.cap is not None:
        query["people"] = manifest.cap
    if manifest.drawn is not None:
        query["part"] = f"{100 * manifest.asked_fraction:.1f}"
    return query


def _count_codes(question: ManifestQuestion) -> int:
    """How many codes of a question can differ between two people."""
    return question.differing_items + question.has_gate if question.has_items else 1


def _count_asked(manifest: Manifest) -> int:
    """How many codes of everything that one person is asked can differ."""
    counts = Counter[int]()
    for question in manifest.questions:
        if question.is_protected:
            counts[manifest.blocks[question.name]] += _count_codes(question)
    return sum(sorted(counts.values(), reverse=True)[: manifest.drawn])


def is_mixed(manifest: Manifest) -> bool:
    """Whether questions differ in strength or in codes, which one plan cannot show."""
    kinds = {(q.flips, q.k, q.refusal) for q in manifest.questions if q.is_protected}
    return len(kinds) > 1
