"""Links a draft to the planner and fills in what the draft says."""

from __future__ import annotations

from dataclasses import dataclass

from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.models import MAX_QUESTIONS
from surveys.planning.people_needed import find_decider, find_part, people_needed
from surveys.planning.plan_input import PlanInput


@dataclass(frozen=True, kw_only=True)
class DraftPlan:
    """The planner's input for a draft, and the number of the question described."""

    query: dict[str, str | int]
    number: int


def plan_for(manifest: Manifest) -> DraftPlan | None:
    """Plan a draft for the question that needs the most people of those the planner can describe.

    If a question has a follow-up, the planner can describe only its first part.
    """
    planned = [one for one in manifest.questions if one.is_scrambled and not one.has_gate]
    if not planned:
        return None
    hardest = max(planned, key=lambda one: people_needed(manifest, one))
    return DraftPlan(
        query=_fill_in(manifest, hardest, questions=_count_asked(manifest)),
        number=hardest.number,
    )


def plan_for_question(manifest: Manifest, question: ManifestQuestion) -> dict[str, str | int]:
    """Return the input for one question, or {} if the planner cannot describe its design."""
    if question.has_gate:
        return {}
    return _fill_in(manifest, question, questions=question.differing_codes)


def _fill_in(
    manifest: Manifest, question: ManifestQuestion, *, questions: int
) -> dict[str, str | int]:
    query: dict[str, str | int] = {"questions": min(questions, MAX_QUESTIONS)}
    query["flips"] = question.flips
    if question.is_rounded:
        query |= {"figure": "mean", "share": 50}
    if question.described.has_follow_up:
        query["share"] = 80  # the share of No to the first part, which has a single code
    if question.answers != PlanInput.options:
        query["options"] = question.answers
    if question.refusal:
        query["refusing"] = round(100 * PlanInput.refusing)
    if question.rule is not None:
        query["asked"] = round(100 * PlanInput.asked)
        query["decided"] = str(find_decider(manifest, question))
    query["closing"] = "watched" if manifest.is_watched else "fixed"
    if manifest.people_planned is not None:
        query["people"] = manifest.people_planned
    if manifest.drawn is not None:
        query["part"] = f"{100 * find_part(manifest):g}"
    return query


def _count_asked(manifest: Manifest) -> int:
    """Count the codes in which two people can differ, over all questions that a person is asked."""
    counts = {one.name: one.differing_codes for one in manifest.questions if one.is_scrambled}
    return int(sum(manifest.pick_drawn(counts)))
