"""Links a draft to the planner and fills in what the draft says."""

from __future__ import annotations

from dataclasses import dataclass

from surveys.manifest.manifest import Manifest
from surveys.manifest.questions import ManifestQuestion
from surveys.models import MAX_QUESTIONS
from surveys.planning.assumptions import MARGIN
from surveys.planning.people_needed import (
    find_decider,
    find_figure,
    find_follow_up,
    find_part,
)
from surveys.planning.plan_input import PlanInput


@dataclass(frozen=True, kw_only=True)
class DraftPlan:
    """The planner's input for a draft, and the number of the question that it describes.

    `harder` has the numbers of questions with an estimate that needs even more people. The planner
    cannot describe these estimates. `margin` is the question's margin with the expected number of
    people; None if the survey expects no number.
    """

    query: dict[str, str | int]
    number: int
    harder: tuple[int, ...]
    people: int | None
    margin: float | None


def plan_for(manifest: Manifest) -> DraftPlan | None:
    """Plan a draft for the question that needs the most people."""
    planned = [
        question
        for question in manifest.questions
        if question.is_scrambled and not question.has_gate
    ]
    if not planned:
        return None
    needed = [find_figure(manifest, question).find_people(MARGIN) for question in planned]
    most = max(needed)
    hardest = planned[needed.index(most)]
    people = manifest.people_planned
    return DraftPlan(
        query=_fill_in(manifest, hardest, questions=_count_asked(manifest)),
        number=hardest.number,
        harder=tuple(
            question.number
            for question in manifest.questions
            if question.is_scrambled and _most_people_needed(manifest, question) > most
        ),
        people=people,
        margin=None if people is None else find_figure(manifest, hardest).find_margin(people),
    )


def _most_people_needed(manifest: Manifest, question: ManifestQuestion) -> int:
    people = find_figure(manifest, question).find_people(MARGIN)
    if question.described.has_follow_up:
        people = max(people, find_follow_up(manifest, question).find_people(MARGIN))
    return people


def plan_for_question(manifest: Manifest, question: ManifestQuestion) -> dict[str, str | int]:
    """Return the input for one question; empty if the planner does not know its design."""
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
    """Count the codes that can differ between two people, over all that one person is asked."""
    counts = {one.name: one.differing_codes for one in manifest.questions if one.is_scrambled}
    return int(sum(manifest.pick_drawn(counts)))


def is_mixed(manifest: Manifest) -> bool:
    """Whether questions differ in what people and precision they need."""
    kinds = {
        (q.flips, q.k, q.refusal, q.rule is None, q.described.has_follow_up)
        for q in manifest.questions
        if q.is_scrambled
    }
    return len(kinds) > 1
