"""Changes to several questions of a draft at once. Authors can undo a deletion."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypedDict

from surveys.authoring.answer_options import call_all, number_all, number_answered
from surveys.authoring.drafts import build_questions
from surveys.authoring.errors import SelectionRefused, TooManyQuestions
from surveys.authoring.planned.following import describe_dropped, find_plans
from surveys.authoring.planned.release_card import drop_from_releases
from surveys.authoring.services import (
    Switched,
    changes_draft,
    check_rules,
    list_content,
    lock_draft,
    place_questions,
    switch_refusals,
)
from surveys.authoring.stamps import stamp_order
from surveys.authoring.variable_names import conform_name
from surveys.manifest.grids import fits
from surveys.models import MAX_QUESTIONS, Kind, PlannedRelease, Question, Survey

NOT_RESTORED = (
    "Questions, answers or plans were changed after this deletion, so it can no longer be undone."
)
MOST_KEPT = 200_000  # letters; limited because every page reads the whole session
_RELEASE = ("kind", "questions", "epsilon_hundredths", "answer", "percent", "group")


class Deletion(TypedDict):
    """The deleted rows, kept in the session. `stamp` is the draft's stamp after the deletion.

    Comparisons and releases are stored with their primary keys. `releases` are the releases that
    the deletion changed or removed, as they were before.
    """

    stamp: str
    done: str  # the sentence that says what was deleted
    questions: list[tuple[int, int, dict[str, Any]]]  # key, position and content
    comparisons: list[tuple[int, list[Any]]]
    releases: list[tuple[int, dict[str, Any]]]


@dataclass(frozen=True, kw_only=True)
class Strengthened:
    changed: int
    left: tuple[int, ...]  # the numbers of questions without a strength


@changes_draft(Kind.QUESTIONS)
def move_questions(*, survey: Survey, keys: Collection[int], after: int | None) -> None:
    """Move questions, in their order, to the place after another question, or to the top.

    Raises BrokenRules if a rule becomes invalid, or SelectionRefused if one of the questions is
    gone.
    """
    questions = _find(survey, keys)
    spoken, rest = call_all(questions), [one for one in questions if one.pk not in keys]
    moved = [one for one in questions if one.pk in keys]
    place = 0
    if after is not None:
        places = [number for number, one in enumerate(rest, start=1) if one.pk == after]
        if not places:
            raise SelectionRefused("Move the questions after one that is not selected.")
        [place] = places
    place_questions([*rest[:place], *moved, *rest[place:]])
    check_rules(survey, spoken=spoken)


@changes_draft(Kind.STRENGTHS)
def set_strength(*, survey: Survey, keys: Collection[int], flips: int) -> Strengthened:
    """Give scrambled questions with these keys the same strength. Unscrambled ones have none."""
    questions = _find(survey, keys)
    chosen = [(number, one) for number, one in number_answered(questions) if one.pk in keys]
    rows = [one for _, one in chosen if one.described.is_scrambled]
    for row in rows:
        row.flips = flips
    Question.objects.bulk_update(rows, ["flips"])
    left = tuple(number for number, one in chosen if not one.described.is_scrambled)
    return Strengthened(changed=len(rows), left=left)


@changes_draft(Kind.QUESTIONS)
def set_declining(*, survey: Survey, keys: Collection[int], allowed: bool) -> Switched:
    """Offer or stop offering "Prefer not to say". Raises BrokenRules if a rule becomes invalid."""
    switched = switch_refusals(_find(survey, keys), allowed=allowed, keys=keys)
    check_rules(survey)
    return switched


@changes_draft(Kind.QUESTIONS)
def set_together(*, survey: Survey, keys: Collection[int], together: bool) -> Switched:
    """Ask neighbouring questions on one page where they fit together, or each on its own page.

    A question that does not fit the previous one is left as it was. If both have the same type,
    `left` contains the number of the question.
    """
    questions = _find(survey, keys)
    described = build_questions(questions)
    changed, left = [], []
    for place, (number, question) in enumerate(number_all(questions)):
        marked = together and place > 0 and {question.pk, questions[place - 1].pk} <= set(keys)
        if marked and not fits(described[place - 1], described[place]):
            if question.type == questions[place - 1].type and question.described.is_answered:
                left.append(number)
        elif question.pk in keys and question.together != marked:
            question.together = marked
            changed.append(number)
    Question.objects.bulk_update(questions, ["together"])
    return Switched(changed=tuple(changed), left=tuple(left))


@changes_draft(Kind.QUESTIONS)
def duplicate_questions(*, survey: Survey, keys: Collection[int]) -> list[Question]:
    """Copy each question to the place after the original, and return the copies.

    A copy has the rule of its original. Raises SelectionRefused if the draft would have too many
    questions.
    """
    questions = _find(survey, keys)
    if len(questions) + len(keys) > MAX_QUESTIONS:
        raise SelectionRefused(str(TooManyQuestions()))
    taken = [one.name for one in questions]
    order, copies = list[Question](), list[Question]()
    scales = dict[int | None, int]()
    for question in questions:
        order.append(question)
        if question.pk not in keys:
            continue
        content = list_content(question)
        if content["name"]:
            content["name"] = conform_name(content["name"], taken=taken)
            taken.append(content["name"])
        if question.is_second:  # the copy refers to the copied scale, if there is one
            content["same_fact"] = scales.get(question.same_fact, question.same_fact)
        # Copies come last until all questions have their places.
        position = len(questions) + len(copies) + 1
        copies.append(survey.questions.create(position=position, **content))
        order.append(copies[-1])
        scales[question.pk] = copies[-1].pk
    place_questions(order)
    check_rules(survey)
    return copies


@changes_draft(Kind.QUESTIONS)
def delete_questions(*, survey: Survey, keys: Collection[int]) -> Deletion:
    """Delete questions and their plans, and return the data for undoing the deletion.

    Raises BrokenRules if a rule of another question needs one of them, and SelectionRefused if the
    deleted text would be too long to restore.
    """
    questions = _find(survey, keys)
    spoken, chosen = call_all(questions), [one for one in questions if one.pk in keys]
    comparisons = {plan.pk: plan for one in chosen for plan in find_plans(one)}
    before = {plan.pk: _read_release(plan) for plan in survey.planned_releases.all()}
    told = []
    for question in chosen:
        told.append(drop_from_releases(question))
        question.survey.planned_comparisons.filter(pk__in=comparisons).delete()
        Question.objects.filter(pk=question.pk).delete()
    rest = [one for one in questions if one.pk not in keys]
    place_questions(rest)
    check_rules(survey, spoken=spoken)
    after = {plan.pk: _read_release(plan) for plan in survey.planned_releases.all()}
    count = "The question was" if len(chosen) == 1 else f"{len(chosen)} questions were"
    said = (f"{count} deleted.", describe_dropped(len(comparisons)), *dict.fromkeys(told))
    deletion = Deletion(
        stamp=stamp_order(survey, rest),
        done=" ".join(filter(None, said)),
        questions=[(one.pk, one.position, dict(list_content(one))) for one in chosen],
        comparisons=[(key, plan.answers) for key, plan in comparisons.items()],
        releases=[(key, values) for key, values in before.items() if after.get(key) != values],
    )
    if len(json.dumps(deletion)) > MOST_KEPT:
        raise SelectionRefused(
            "So much text cannot be deleted at once, because the deletion could not be undone. "
            "Select fewer questions."
        )
    return deletion


@changes_draft(Kind.QUESTIONS)
def restore_questions(*, survey: Survey, deletion: Deletion | None, stamp: str) -> int:
    """Undo a deletion, and return how many questions were restored.

    Raises SelectionRefused unless both the `stamp` of the author's form and the draft match the
    deletion. Raises BrokenRules if an edit since the deletion contradicts the rules.
    """
    rest = list(survey.questions.all())
    if deletion is None or {stamp, stamp_order(survey, rest)} != {deletion["stamp"]}:
        raise SelectionRefused(NOT_RESTORED)
    taken, order = [one.name for one in rest], list(rest)
    for key, position, content in deletion["questions"]:
        if content["name"]:
            content["name"] = conform_name(content["name"], taken=taken)
        taken.append(content["name"])
        # Restored questions come last until every question has its place.
        created = survey.questions.create(pk=key, position=MAX_QUESTIONS + position, **content)
        order.insert(position - 1, created)
    place_questions(order)
    check_rules(survey)
    for key, answers in deletion["comparisons"]:
        survey.planned_comparisons.create(pk=key, answers=answers)
    for key, values in deletion["releases"]:
        PlannedRelease.objects.update_or_create(pk=key, survey=survey, defaults=values)
    return len(deletion["questions"])


def _find(survey: Survey, keys: Collection[int]) -> list[Question]:
    """Return all questions of the locked draft, or raise SelectionRefused if a key is gone."""
    questions = list(lock_draft(survey=survey).questions.all())
    if not set(keys) <= {question.pk for question in questions}:
        raise SelectionRefused("A selected question was deleted in another window. Select again.")
    return questions


def _read_release(plan: PlannedRelease) -> dict[str, Any]:
    return {name: getattr(plan, name) for name in _RELEASE}
