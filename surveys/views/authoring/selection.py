"""Moves, changes and deletes several questions of a draft together, and undoes a deletion."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from surveys.access import Action
from surveys.authoring.errors import BrokenRules, SelectionRefused
from surveys.authoring.forms.selection import Change, SelectionForm
from surveys.authoring.selection import (
    delete_questions,
    duplicate_questions,
    move_questions,
    restore_questions,
    set_declining,
    set_strength,
    set_together,
)
from surveys.formatting import join_list
from surveys.models import Survey
from surveys.views.authoring.access import authoring
from surveys.views.authoring.draft_page import (
    find_deletion,
    keep_deletion,
    read_stamp,
    require_draft,
    show_questions,
    to_questions,
)


@require_POST
@authoring(Action.EDIT)
def change(request: HttpRequest, survey: Survey) -> HttpResponse:
    require_draft(survey)
    form = SelectionForm(request.POST, questions=list(survey.questions.all()))
    if not form.is_valid():
        problems = [str(text) for texts in form.errors.values() for text in texts]
        return show_questions(request, survey, refusal=SelectionRefused(" ".join(problems)))
    try:
        return _do(request, survey, form.cleaned_data)
    except (BrokenRules, SelectionRefused) as error:
        return show_questions(request, survey, refusal=error)


def _do(request: HttpRequest, survey: Survey, chosen: dict[str, Any]) -> HttpResponse:
    keys, said = chosen["question"], ""
    match chosen["action"]:
        case Change.DELETE:
            keep_deletion(request, survey, delete_questions(survey=survey, keys=keys))
            return to_questions(survey, "#undo")
        case Change.DUPLICATE:
            copies = duplicate_questions(survey=survey, keys=keys)
            return to_questions(survey, f"#question-{copies[0].pk}")
        case Change.MOVE:
            move_questions(survey=survey, keys=keys, after=chosen["after"])
        case Change.STRENGTH:
            strengthened = set_strength(survey=survey, keys=keys, flips=chosen["flips"])
            said = _count(strengthened.changed) + _describe_unscrambled(strengthened.left)
        case Change.TOGETHER:
            placed = set_together(survey=survey, keys=keys, together=bool(chosen["together"]))
            said = _count(len(placed.changed)) + _describe_misfits(placed.left)
        case _:
            switched = set_declining(survey=survey, keys=keys, allowed=bool(chosen["declining"]))
            said = f"{_count(len(switched.changed))} {switched.problem}".strip()
    if said:
        messages.success(request, said)
    # The focus returns to the box, so authors keep their place in the list.
    return to_questions(survey, f"#select-{keys[0]}")


def _count(changed: int) -> str:
    return "1 question was changed." if changed == 1 else f"{changed} questions were changed."


def _describe_unscrambled(numbers: tuple[int, ...]) -> str:
    if not numbers:
        return ""
    named = join_list([f"Q{number}" for number in numbers])
    return f" {named} {'is' if len(numbers) == 1 else 'are'} not scrambled."


def _describe_misfits(numbers: tuple[int, ...]) -> str:
    if not numbers:
        return ""
    named = join_list([f"Q{number}" for number in numbers])
    return (
        f" {named} {'does' if len(numbers) == 1 else 'do'} not fit the question before. Type, "
        "answers, declining and rule must be the same."
    )


@require_POST
@authoring(Action.EDIT)
def restore(request: HttpRequest, survey: Survey) -> HttpResponse:
    require_draft(survey)
    deletion = find_deletion(request, survey, list(survey.questions.all()))
    try:
        count = restore_questions(survey=survey, deletion=deletion, stamp=read_stamp(request))
    except (BrokenRules, SelectionRefused) as error:
        return show_questions(request, survey, refusal=error)
    keep_deletion(request, survey, None)
    back = "The question is" if count == 1 else f"{count} questions are"
    messages.success(request, f"{back} back.")
    assert deletion is not None
    return to_questions(survey, f"#select-{deletion['questions'][0][0]}")
