"""Planned comparisons follow the answers that they name when a draft changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db.models import Q, QuerySet

from surveys.authoring.drafts import build_questions, name_questions
from surveys.comparing.indicators import list_parts
from surveys.models import PlannedComparison, Question


def list_parts_of(question: Question, questions: Sequence[Question]) -> dict[str, str]:
    """The parts of a question that can be compared, as it stands among the questions."""
    name = name_questions(questions)[str(question.pk)]
    described = {one.name: one for one in build_questions(questions)}
    return list_parts(described[name])


def find_plans(question: Question) -> QuerySet[PlannedComparison]:
    return question.survey.planned_comparisons.filter(Q(outcome=question) | Q(group=question))


def follow_answers(
    *, question: Question, before: Mapping[str, str], after: Mapping[str, str]
) -> int:
    """Let plans follow a question's answers to their new places; drop those whose answer is gone.

    A reworded answer in the same place stays planned. Returns how many plans were dropped.
    """
    dropped = 0
    for plan in find_plans(question):
        # If both ends are answers to this question, both move.
        ends = [end for end in ("outcome", "group") if getattr(plan, f"{end}_id") == question.pk]
        parts = {end: _find_part(getattr(plan, f"{end}_part"), before, after) for end in ends}
        if None in parts.values():
            plan.delete()
            dropped += 1
            continue
        for end, part in parts.items():
            setattr(plan, f"{end}_part", part)
        plan.save()
    return dropped


def _find_part(part: str, before: Mapping[str, str], after: Mapping[str, str]) -> str | None:
    """Find where an answer is after an edit; None if it is gone."""
    text = before.get(part)
    if text is None or after.get(part) == text:
        return part if part in after else None
    moved = next((place for place, answer in after.items() if answer == text), None)
    was_reworded = after.keys() == before.keys() and after[part] not in before.values()
    return part if moved is None and was_reworded else moved


def describe_dropped(count: int) -> str:
    """Say how many planned comparisons went with an answer; empty for none."""
    if count == 0:
        return ""
    if count == 1:
        return "A planned comparison used an answer that is gone, so it was removed."
    return f"{count} planned comparisons used answers that are gone, so they were removed."
