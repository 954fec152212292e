"""Keep planned comparisons and alerts pointed at the same answers when a draft changes.

An answer is identified by its suffix in the name of an indicator (surveys.comparing.indicators).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from surveys.authoring.drafts import build_questions, name_questions
from surveys.comparing.indicators import list_parts
from surveys.manifest.releases import ReleaseKind
from surveys.models import PlannedComparison, Question


def list_parts_of(question: Question, questions: Sequence[Question]) -> dict[str, str]:
    """Map each suffix of a question's indicators to the meaning of Yes.

    `questions` must contain all questions of the survey, because they determine this question's
    number.
    """
    name = name_questions(questions)[str(question.pk)]
    described = {one.name: one for one in build_questions(questions)}
    return list_parts(described[name])


def find_plans(question: Question) -> list[PlannedComparison]:
    return [plan for plan in question.survey.planned_comparisons.all() if plan.uses(question.pk)]


def follow_answers(
    *, question: Question, before: Mapping[str, str], after: Mapping[str, str]
) -> int:
    """Update the comparisons that use a question's answers after the question was edited.

    A plan follows an answer that has moved, and keeps an answer that was only reworded. A plan
    whose answer is gone is deleted. Returns the number of deleted plans.
    """
    dropped = 0
    for plan in find_plans(question):
        parts = [
            (key, _find_part(part, before, after) if key == question.pk else part)
            for key, part in plan.answers
        ]
        if any(part is None for _, part in parts):
            plan.delete()
            dropped += 1
            continue
        plan.answers = parts
        plan.save()
    return dropped


def follow_alerts(
    *, question: Question, before: Mapping[str, str], after: Mapping[str, str]
) -> str:
    """Update planned alerts about a question's answers after an edit, as for comparisons.

    Returns a sentence if an alert was deleted because its answer is gone.
    """
    told = ""
    for plan in question.survey.planned_releases.filter(kind=ReleaseKind.ALERT):
        part = str(plan.answer)
        if question.pk not in plan.questions or part not in before:  # Yes and No never change
            continue
        found = _find_part(part, before, after)
        if found is None:
            plan.delete()
            told = "A planned alert was removed because its answer no longer exists."
        else:
            plan.answer = int(found)
            plan.save(update_fields=["answer"])
    return told


def _find_part(part: str, before: Mapping[str, str], after: Mapping[str, str]) -> str | None:
    """Find the suffix that an answer has after an edit, or return None if the answer is gone."""
    text = before.get(part)
    if text is None or after.get(part) == text:
        return part if part in after else None
    moved = next((place for place, answer in after.items() if answer == text), None)
    was_reworded = after.keys() == before.keys() and after[part] not in before.values()
    return part if moved is None and was_reworded else moved


def describe_dropped(count: int) -> str:
    """Say how many planned comparisons were removed, if any."""
    if count == 0:
        return ""
    if count == 1:
        return "A planned comparison was removed because an answer in it no longer exists."
    return f"{count} planned comparisons were removed because answers in them no longer exist."
