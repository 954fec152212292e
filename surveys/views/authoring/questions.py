"""Lets authors write and move the questions of a draft, and see what they cost."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from surveys.access import Action
from surveys.authoring import services
from surveys.authoring.errors import (
    AddedTwice,
    BrokenRules,
    Overtaken,
    QuestionDeleted,
    TooManyQuestions,
)
from surveys.authoring.forms import (
    QUESTION_FORMS,
    Difference,
    MoveForm,
    QuestionForm,
    list_differences,
    take_theirs,
)
from surveys.authoring.forms.differences import KEEP, THEIRS, mark
from surveys.authoring.planned.card import list_titles
from surveys.authoring.planned.release_card import list_release_titles
from surveys.authoring.stamps import stamp_questions
from surveys.models import Question, Survey
from surveys.planning.question_facts import list_facts
from surveys.views.authoring.access import authoring
from surveys.views.authoring.draft_page import (
    page_or_form,
    posted_to,
    read_stamp,
    require_draft,
    show_questions,
    to_questions,
)
from surveys.views.authoring.question_form import (
    choose_type,
    is_in_editor,
    show_form,
    show_saved,
    stamp_with_marks,
)

KEEP_TYPE = f"{KEEP}type"
RULE_DROPPED = (
    "The rule of the question was removed. A question that is not scrambled is asked of everyone, "
    "because leaving it out would reveal an earlier answer."
)


@require_safe
@authoring(Action.EDIT)
def list_questions(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show the workbench of a draft. After the opening, show the frozen questions."""
    wave = survey.find_wave()
    if wave is None:
        return show_questions(request, survey)
    manifest = wave.description
    context = {
        "survey": survey,
        "facts": list_facts(manifest),
        "planned_titles": list_titles(manifest),
        "release_titles": list_release_titles(manifest),
    }
    return render(request, "surveys/authoring/frozen_questions.html", context)


@page_or_form
@authoring(Action.EDIT)
def create(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show the types to choose from, then the form of the chosen type."""
    require_draft(survey)
    draft_key = _read_draft_key(request)
    if draft_key and (added := survey.questions.filter(draft_key=draft_key).first()):
        return _edit(request, survey, added)  # the reply did not reach the page
    usual = Question.Type.YES_NO if request.method == "POST" else ""
    chosen = request.GET.get("type", usual)
    if chosen not in QUESTION_FORMS:
        return choose_type(request, survey, wrong=chosen != "")
    questions = list(survey.questions.all())
    form = QUESTION_FORMS[chosen](
        posted_to(request),
        questions=questions,
        offered=request.GET.dict(),
        may_decline=survey.may_decline,
        in_editor=is_in_editor(request),
    )
    stamp = read_stamp(request) or stamp_questions(questions)
    if _is_to_be_stored(request, form):
        try:
            question = services.add_question(
                survey=survey, stamp=read_stamp(request), draft_key=draft_key, **form.content()
            )
        except TooManyQuestions as error:
            form.add_error(None, f"{error} Delete one first.")
        except BrokenRules as error:
            form.add_error(None, str(error))
        except Overtaken:
            return _edit(request, survey, survey.questions.get(draft_key=draft_key))
        except AddedTwice as error:
            form.add_error(None, str(error))
            stamp = stamp_questions(questions)
        else:
            return _show_stored(request, survey, question)
    return show_form(request, survey, form, stamp=stamp)


@page_or_form
@authoring(Action.EDIT)
def edit(request: HttpRequest, survey: Survey, pk: int) -> HttpResponse:
    """Show the form of the question's type, or of another type if the author chose one."""
    require_draft(survey)
    question = survey.questions.filter(pk=pk).first()
    if question is None:
        is_page = request.method == "POST" and not is_in_editor(request)
        raise QuestionDeleted if is_page else Http404
    return _edit(request, survey, question)


def _edit(request: HttpRequest, survey: Survey, question: Question) -> HttpResponse:
    # Someone else may have changed the type while this form was open.
    chosen = request.POST.get("type") or request.GET.get("type", question.type)
    if chosen not in QUESTION_FORMS:
        return choose_type(request, survey, question=question, wrong=chosen != "")
    questions = list(survey.questions.all())
    posted = posted_to(request)
    if posted is not None:
        chosen, posted = _merge(posted, chosen, question, questions)
    form = QUESTION_FORMS[chosen](
        posted,
        questions=questions,
        question=question,
        offered=request.GET.dict(),
        may_decline=survey.may_decline,
        in_editor=is_in_editor(request),
    )
    had_rule = question.rule is not None
    stamp = read_stamp(request) or stamp_with_marks(
        question, stored=QUESTION_FORMS[question.type](questions=questions, question=question)
    )
    differences: list[Difference] = []
    if _is_to_be_stored(request, form):
        try:
            dropped = services.edit_question(
                question=question, stamp=read_stamp(request), **form.content()
            )
        except BrokenRules as error:
            form.add_error(None, str(error))
        except Overtaken as error:
            newer = get_object_or_404(survey.questions, pk=question.pk)
            stored = QUESTION_FORMS[newer.type](questions=questions, question=newer)
            differences = _list_differences(form, stored, stamp=stamp)
            if not differences:  # the same form was sent twice
                return _show_stored(request, survey, newer)
            form.add_error(None, str(error))
            stamp = stamp_with_marks(newer, stored=stored, typed=form)
        else:
            said = [RULE_DROPPED] if had_rule and "rule" not in form.fields else []
            return _show_stored(request, survey, question, said=[*said, *filter(None, [dropped])])
    return show_form(request, survey, form, stamp=stamp, differences=differences)


def _merge(
    posted: QueryDict, chosen: str, question: Question, questions: Sequence[Question]
) -> tuple[str, QueryDict]:
    """Return the type and data of a form, with stored values where its author chose them."""
    if not any(name.startswith(KEEP) for name in posted):
        return chosen, posted
    own = QUESTION_FORMS[chosen].base_fields
    if posted.get(KEEP_TYPE) == THEIRS:
        chosen = question.type
    stored, typed = (
        QUESTION_FORMS[chosen](data, questions=questions, question=question)
        for data in (None, posted)
    )
    also = stored.fields.keys() - own.keys()
    return chosen, take_theirs(
        posted, stored, typed=typed, stamp=posted.get("stamp", ""), also=also
    )


def _list_differences(form: QuestionForm, stored: QuestionForm, *, stamp: str) -> list[Difference]:
    found = list_differences(form, stored, stamp=stamp)
    if stored.type == form.type:
        return found
    types = Difference(
        choice=KEEP_TYPE,
        label="Type",
        mine=form.type_name,
        theirs=stored.type_name,
        is_mine=mark("type", form.type) not in stamp.split(),
    )
    return [types, *found]


def _read_draft_key(request: HttpRequest) -> str:
    sent = request.POST.get("draft_key", "")
    return sent if re.fullmatch("[0-9-]{1,36}", sent) else ""


def _is_to_be_stored(request: HttpRequest, form: QuestionForm) -> bool:
    is_whole = not form.is_cost_asked and not form.unfinished
    return request.method == "POST" and is_whole and form.is_valid()


def _show_stored(
    request: HttpRequest, survey: Survey, question: Question, *, said: Sequence[str] = ()
) -> HttpResponse:
    if is_in_editor(request):
        return show_saved(request, survey, pk=question.pk, said=said)
    for warning in said:
        messages.warning(request, warning)
    return to_questions(survey, f"#question-{question.pk}")


@require_POST
@authoring(Action.EDIT)
def move(request: HttpRequest, survey: Survey, pk: int) -> HttpResponse:
    question = get_object_or_404(survey.questions, pk=pk)
    form = MoveForm(request.POST)
    if not form.is_valid():
        raise BadRequest("direction must be up or down")
    try:
        services.move_question(question=question, step=form.step)
    except BrokenRules as error:
        return show_questions(request, question.survey, refusal=error)
    # The button with this id gets the focus, so that authors can press it again.
    edges = {1: "down", question.survey.questions.count(): "up"}
    held = edges.get(question.position, form.cleaned_data["direction"])
    return to_questions(question.survey, f"#{held}-{question.pk}")
