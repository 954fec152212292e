"""Lets authors write and move the questions of a draft, and see what they cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.forms.boundfield import BoundWidget
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from surveys.access import Action
from surveys.authoring import services
from surveys.authoring.answer_options import name_answers, number_answered
from surveys.authoring.drafts import build_manifest
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
from surveys.authoring.forms.differences import KEEP, THEIRS
from surveys.authoring.planned.card import list_titles
from surveys.authoring.planned.release_card import list_release_titles
from surveys.authoring.stamps import stamp_question, stamp_questions
from surveys.manifest.strength import Strength, describe_strength
from surveys.models import Question, Survey
from surveys.planning.offered_strengths import describe_strength_for
from surveys.planning.question_costs import describe_refusal_cost, describe_rule_cost, describe_ties
from surveys.planning.question_facts import find_facts, list_facts
from surveys.views.authoring.access import authoring
from surveys.views.authoring.draft_page import (
    REFUSED,
    link_packing,
    page_or_form,
    posted_to,
    read_stamp,
    require_draft,
    show_questions,
    to_questions,
    total_context,
)

KEEP_TYPE = f"{KEEP}type"
RULE_DROPPED = (
    "The question no longer has a rule: a question that is not scrambled is asked of everyone, "
    "because leaving it out would reveal an earlier answer."
)


@require_safe
@authoring(Action.EDIT)
def list_questions(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show the workbench of a draft. After the opening, show the frozen words."""
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
    usual = Question.Type.YES_NO if request.method == "POST" else ""
    chosen = request.GET.get("type", usual)
    if chosen not in QUESTION_FORMS:
        return _choose_type(request, survey, wrong=chosen != "")
    questions = list(survey.questions.all())
    offered = request.GET.dict()
    form = QUESTION_FORMS[chosen](
        _posted(request), questions=questions, offered=offered, may_decline=survey.may_decline
    )
    stamp = read_stamp(request) or stamp_questions(questions)
    if _is_to_be_stored(request, form):
        try:
            question = services.add_question(
                survey=survey, stamp=read_stamp(request), **form.content()
            )
        except TooManyQuestions as error:
            form.add_error(None, f"{error} Delete one first.")
        except BrokenRules as error:
            form.add_error(None, str(error))
        except AddedTwice as error:
            form.add_error(None, str(error))
            stamp = stamp_questions(questions)
        else:
            return to_questions(survey, f"#question-{question.pk}")
    return _show_form(request, survey, form, stamp=stamp)


@page_or_form
@authoring(Action.EDIT)
def edit(request: HttpRequest, survey: Survey, pk: int) -> HttpResponse:
    """Show the form of the question's type, or of another type chosen instead."""
    require_draft(survey)
    question = survey.questions.filter(pk=pk).first()
    if question is None:
        raise QuestionDeleted if request.method == "POST" else Http404
    # Somebody else may have changed the type while this form was open.
    chosen = request.POST.get("type") or request.GET.get("type", question.type)
    if chosen not in QUESTION_FORMS:
        return _choose_type(request, survey, question=question, wrong=chosen != "")
    questions = list(survey.questions.all())
    posted = _posted(request)
    if posted is not None:
        chosen, posted = _merge(posted, chosen, question, questions)
    form = QUESTION_FORMS[chosen](
        posted, questions=questions, question=question, offered=request.GET.dict()
    )
    had_rule = question.rule is not None
    stamp = read_stamp(request) or stamp_question(question)
    differences: list[Difference] = []
    if _is_to_be_stored(request, form):
        try:
            dropped = services.edit_question(
                question=question, stamp=read_stamp(request), **form.content()
            )
        except BrokenRules as error:
            form.add_error(None, str(error))
        except Overtaken as error:
            newer = get_object_or_404(survey.questions, pk=pk)
            differences = _list_differences(form, newer, questions)
            if not differences:  # the same form was sent twice
                return to_questions(survey, f"#question-{question.pk}")
            form.add_error(None, str(error))
            stamp = stamp_question(newer)
        else:
            if had_rule and "rule" not in form.fields:
                messages.warning(request, RULE_DROPPED)
            if dropped:
                messages.warning(request, dropped)
            return to_questions(survey, f"#question-{question.pk}")
    return _show_form(request, survey, form, stamp=stamp, differences=differences)


def _merge(
    posted: QueryDict, chosen: str, question: Question, questions: Sequence[Question]
) -> tuple[str, QueryDict]:
    """Return the type and the data of a form, with what is stored where its author chose so."""
    own = QUESTION_FORMS[chosen].base_fields
    if posted.get(KEEP_TYPE) == THEIRS:
        chosen = question.type
    stored = QUESTION_FORMS[chosen](questions=questions, question=question)
    return chosen, take_theirs(posted, stored, also=stored.fields.keys() - own.keys())


def _list_differences(
    form: QuestionForm, newer: Question, questions: Sequence[Question]
) -> list[Difference]:
    found = list_differences(form, QUESTION_FORMS[form.type](questions=questions, question=newer))
    if newer.type == form.type:
        return found
    theirs = QUESTION_FORMS[newer.type].type.label
    return [Difference(choice=KEEP_TYPE, label="Type", mine=form.type_name, theirs=theirs), *found]


def _posted(request: HttpRequest) -> QueryDict | None:
    """Return the posted data. While the author is writing, the question text may be missing."""
    posted = posted_to(request)
    if posted is None or not _is_while_writing(request) or posted.get("text", "").strip():
        return posted
    completed = posted.copy()
    completed["text"] = "?"
    return completed


def _is_while_writing(request: HttpRequest) -> bool:
    return "HX-Request" in request.headers


def _is_to_be_stored(request: HttpRequest, form: QuestionForm) -> bool:
    return request.method == "POST" and form.is_valid() and not form.is_cost_asked


def _choose_type(
    request: HttpRequest, survey: Survey, *, question: Question | None = None, wrong: bool
) -> HttpResponse:
    context = {
        "survey": survey,
        "question": question,
        "wrong": wrong,
        "protected": [f for f in QUESTION_FORMS.values() if "flips" in f.base_fields],
        "others": [f for f in QUESTION_FORMS.values() if "flips" not in f.base_fields],
    }
    return render(
        request, "surveys/authoring/question_types.html", context, status=404 if wrong else 200
    )


def _show_form(
    request: HttpRequest,
    survey: Survey,
    form: QuestionForm,
    *,
    stamp: str,
    differences: Sequence[Difference] = (),
) -> HttpResponse:
    writing = _is_while_writing(request)
    context: dict[str, object] = {
        "survey": survey,
        "form": form,
        "question": form.question,
        "stamp": stamp,
        "differences": differences,
        "earlier": _list_answers(form.earlier),
        "cost_asked": form.is_cost_asked and not form.errors and not writing,
        "cost_problem": next(iter(form.errors.values()), [""])[0] if writing else "",
        **_cost(survey, form),
    }
    status = REFUSED if form.errors and not writing else 200
    return render(request, "surveys/authoring/question_form.html", context, status=status)


def _list_answers(earlier: Sequence[Question]) -> list[tuple[int, Question, list[str]]]:
    """List earlier questions with their answers' names in rules; no names if unusable."""
    return [
        (number, question, _call_answers(question)) for number, question in number_answered(earlier)
    ]


def _call_answers(question: Question) -> list[str]:
    names = list(name_answers(question))
    if question.options:
        return [f"{name} “{text}”" for name, text in zip(names, question.options, strict=True)]
    return names


def _cost(survey: Survey, form: QuestionForm) -> dict[str, Any]:
    """Return the cost of the question as the form has it, and the total with it."""
    candidate = form.shown()
    if candidate is None:
        symbols = form.guess_codes()
        return {"strengths": _pair(form, partial(describe_strength, symbols=symbols))}
    questions = form.with_candidate(candidate)
    manifest = build_manifest(survey=survey, wave_number=1, questions=questions)
    described = manifest.questions[form.position - 1]
    facts = find_facts(manifest, described)
    # The first question has no parent. It is its own parent here, and there is no offer for it.
    parent = questions[max(0, form.position - 2)]
    return {
        "strengths": _pair(form, partial(describe_strength_for, manifest, described)),
        "facts": facts,
        "refusal_cost": describe_refusal_cost(manifest, described)
        if described.is_scrambled
        else "",
        "rule_cost": describe_rule_cost(manifest, described) if described.is_scrambled else "",
        "rule_ties": describe_ties(manifest, described) if described.is_scrambled else "",
        "packing_link": link_packing(survey, facts=facts, parent=parent, child=candidate),
        **total_context(manifest),
    }


def _pair(
    form: QuestionForm, describe_choice: Callable[[int], Strength]
) -> list[tuple[BoundWidget, Strength]]:
    """Pair each strength that the form offers with its description."""
    if "flips" not in form.fields:
        return []
    return [(radio, describe_choice(int(radio.data["value"]))) for radio in form["flips"]]


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
    # A button with this id gets the focus, so that one can press it again.
    edges = {1: "down", question.survey.questions.count(): "up"}
    held = edges.get(question.position, form.cleaned_data["direction"])
    return to_questions(question.survey, f"#{held}-{question.pk}")
