"""Applies a remedy to a draft in one step, and undoes such a step."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypedDict

from django.db import transaction

from surveys.authoring.budget import GOALS, find_broken_plan
from surveys.authoring.drafts import build_manifest
from surveys.authoring.errors import RemedyRefused
from surveys.authoring.services import changes_draft, lock_draft
from surveys.authoring.stamps import stamp_budget
from surveys.formatting import epsilon
from surveys.manifest.manifest import Manifest
from surveys.models import Kind, Question, Survey
from surveys.planning.remedies import MOST_FLIPS, Remedy, RemedyKind, find_remedy, protect

OVERTAKEN = (
    "The questions or their strengths were changed after the page was shown. Look at the remedies "
    "again: these are for the draft as it is now."
)
NOT_UNDONE = (
    "The questions or their strengths were changed after this step, so it can no longer be undone."
)


class Undo(TypedDict):
    """Values before a step, kept in the session. `stamp` is the draft's stamp after the step."""

    stamp: str
    done: str  # the sentence that says what the step did
    drawn: int | None
    flips: dict[str, int]  # maps primary keys to flips


@changes_draft(Kind.STRENGTHS)
def apply_remedy(
    *,
    survey: Survey,
    stamp: str,
    kind: RemedyKind,
    goal: str,
    kept: Collection[str] | None = None,
) -> Undo:
    """Bring the total ε within one of GOALS.

    For RemedyKind.SOME, `kept` are the keys of the questions that keep their strength. Raises
    RemedyRefused if the draft no longer matches the stamp, or if the remedy does not exist or would
    break a plan.
    """
    locked = lock_draft(survey=survey)
    questions, manifest = _read(locked)
    if stamp != stamp_budget(locked, manifest, questions):
        raise RemedyRefused(OVERTAKEN)
    pairs = list(zip(questions, manifest.questions, strict=True))
    names = None if kept is None else [one.name for row, one in pairs if str(row.pk) in kept]
    remedy = _find_remedy(manifest, kind, limit=GOALS[goal], kept=names)
    changed = {
        row: one.flips
        for row, one in zip(questions, remedy.manifest.questions, strict=True)
        if one.is_scrambled and one.flips != row.flips
    }
    before = {str(row.pk): row.flips for row in changed}
    drawn = locked.drawn
    is_subset = kind == RemedyKind.SUBSET
    _store(locked, changed, drawn=remedy.manifest.drawn if is_subset else drawn)
    questions, manifest = _read(locked)
    stamp = stamp_budget(locked, manifest, questions)
    return Undo(stamp=stamp, done=remedy.done, drawn=drawn, flips=before)


def _find_remedy(
    manifest: Manifest, kind: RemedyKind, *, limit: float, kept: Collection[str] | None
) -> Remedy:
    found = find_remedy(manifest, kind, goal=limit, kept=kept)
    if found is None and kept:
        least = protect(manifest, flips=MOST_FLIPS, kept=kept).epsilon
        raise RemedyRefused(
            f"Even with {MOST_FLIPS} flips of 100 for all other questions, the total ε would be "
            f"{epsilon(least)}, above {limit:g}. Tick fewer questions."
        )
    if found is None or manifest.epsilon <= limit:
        raise RemedyRefused(OVERTAKEN)  # no page has such a button
    if problem := find_broken_plan(manifest, found):
        raise RemedyRefused(problem)
    return found


@transaction.atomic
def is_done_already(*, survey: Survey, goal: str, undo: Undo | None) -> bool:
    """Return whether the last step reached the goal, for a button that was pressed twice."""
    locked = lock_draft(survey=survey)
    questions, manifest = _read(locked)
    is_last = undo is not None and undo["stamp"] == stamp_budget(locked, manifest, questions)
    return is_last and manifest.epsilon <= GOALS[goal]


@changes_draft(Kind.STRENGTHS)
def undo_remedy(*, survey: Survey, undo: Undo | None, stamp: str) -> None:
    """Restore the strengths and the random subset from before a step.

    Raises RemedyRefused unless the step matches both the draft and the `stamp` of the author's
    form.
    """
    locked = lock_draft(survey=survey)
    questions, manifest = _read(locked)
    if undo is None or {stamp, stamp_budget(locked, manifest, questions)} != {undo["stamp"]}:
        raise RemedyRefused(NOT_UNDONE)
    flips = {row: undo["flips"].get(str(row.pk), row.flips) for row in questions}
    _store(locked, flips, drawn=undo["drawn"])


def _read(survey: Survey) -> tuple[list[Question], Manifest]:
    questions = list(survey.questions.all())
    return questions, build_manifest(survey=survey, wave_number=1, questions=questions)


def _store(survey: Survey, flips: Mapping[Question, int], *, drawn: int | None) -> None:
    for question, number in flips.items():
        question.flips = number
    Question.objects.bulk_update(flips, ["flips"])
    survey.drawn = drawn
    survey.save(update_fields=["drawn"])
