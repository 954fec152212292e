"""Shows the form of a question as a page, or as a part of the editor's page.

The editor's script identifies itself by a header. The part says whether the question was saved. The
status is always 200, because a half-typed question is not an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.forms.boundfield import BoundWidget
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from surveys.authoring.answer_options import call_all, name_answers, number_answered
from surveys.authoring.budget import Budget
from surveys.authoring.drafts import build_manifest
from surveys.authoring.forms import QUESTION_FORMS, Difference, QuestionForm, add_marks
from surveys.authoring.forms.differences import mark
from surveys.authoring.phone import Phone, describe_phone
from surveys.authoring.stamps import stamp_question
from surveys.manifest.questions import ManifestQuestion
from surveys.manifest.strength import Strength, describe_strength
from surveys.models import Question, Survey
from surveys.planning.offered_strengths import describe_strength_for
from surveys.planning.planner_links import plan_for_question
from surveys.planning.question_costs import describe_refusal_cost, describe_rule_cost, describe_ties
from surveys.planning.question_facts import find_facts
from surveys.views.authoring.draft_page import REFUSED, link_packing, total_context

SAVED, NOT_SAVED, OVERTAKEN = "saved", "refused", "overtaken"
# The disclosures of the editor's form. Their content is built only when they open, because building
# it takes longer than everything else.
PROTECTION, RULE, NAMES = FOLDS = ("protection", "rule", "names")


def is_in_editor(request: HttpRequest) -> bool:
    return "X-Editor" in request.headers


def choose_type(
    request: HttpRequest, survey: Survey, *, question: Question | None = None, wrong: bool
) -> HttpResponse:
    context = {
        "survey": survey,
        "question": question,
        "wrong": wrong,
        "protected": [f for f in QUESTION_FORMS.values() if "flips" in f.base_fields],
        "others": [f for f in QUESTION_FORMS.values() if "flips" not in f.base_fields],
    }
    name = "_types" if is_in_editor(request) else "question_types"
    return render(request, f"surveys/authoring/{name}.html", context, status=404 if wrong else 200)


def show_form(
    request: HttpRequest,
    survey: Survey,
    form: QuestionForm,
    *,
    stamp: str,
    differences: Sequence[Difference] = (),
) -> HttpResponse:
    """Show a form that was not saved. `differences` compare it with another window's version."""
    if is_in_editor(request):
        outcome = OVERTAKEN if differences else NOT_SAVED
        context = _panel_context(request, survey, form, stamp=stamp)
        context |= {"outcome": outcome, "differences": differences}
        if differences:  # the form is complete, although its cost waits for the choice
            questions = form.with_candidate(form.candidate())
            described = build_manifest(survey=survey, wave_number=1, questions=questions).questions
            context["phone"] = _describe_phone(survey, described[form.position - 1])
        return render(request, "surveys/authoring/_panel.html", context)
    context = {
        **_form_context(survey, form, stamp=stamp),
        "differences": differences,
        "cost_asked": form.is_cost_asked and not form.errors,
        **_cost(survey, form, FOLDS),
    }
    if manifest := context.get("manifest"):
        context |= total_context(manifest)
    status = REFUSED if form.errors else 200
    return render(request, "surveys/authoring/question_form.html", context, status=status)


def stamp_with_marks(
    question: Question, *, stored: QuestionForm, typed: QuestionForm | None = None
) -> str:
    """Stamp a stored question, and add marks for the shown and the typed values."""
    stamp = f"{stamp_question(question)} {mark('type', question.type)}"
    return add_marks(stamp, stored=stored, typed=typed)


def show_saved(
    request: HttpRequest, survey: Survey, *, pk: int, said: Sequence[str]
) -> HttpResponse:
    """Show the editor's part for a question that was saved, with its row in the list."""
    questions = list(survey.questions.all())
    [question] = [one for one in questions if one.pk == pk]
    form = QUESTION_FORMS[question.type](
        questions=questions, question=question, may_decline=survey.may_decline
    )
    stamp = stamp_with_marks(question, stored=form)
    context = _panel_context(request, survey, form, stamp=stamp)
    context |= {"outcome": SAVED, "said": said}
    context |= {"first": question == questions[0], "last": question == questions[-1]}
    return render(request, "surveys/authoring/_panel.html", context)


def _panel_context(
    request: HttpRequest, survey: Survey, form: QuestionForm, *, stamp: str
) -> dict[str, Any]:
    shown = FOLDS if form.errors else request.POST.getlist("shown")
    context = _form_context(survey, form, stamp=stamp) | {"usual_flips": form.usual_flips}
    if form.question is not None:
        context["called"] = call_all(form.questions)[str(form.question.pk)]
    context |= _cost(survey, form, shown)
    context["folded"] = {fold: True for fold in FOLDS if fold not in shown}
    if facts := context.get("facts"):
        context["budget"] = Budget(manifest=context["manifest"])
        context["phone"] = _describe_phone(survey, facts.question)
        context["plan"] = (
            urlencode(plan_for_question(context["manifest"], facts.question)) if facts.cost else ""
        )
    context["problem"] = next(iter(form.errors.values()), [""])[0]
    return context


def _describe_phone(survey: Survey, question: ManifestQuestion) -> Phone:
    return describe_phone(question, language=survey.language, confirms=survey.confirm_answers)


def _form_context(survey: Survey, form: QuestionForm, *, stamp: str) -> dict[str, Any]:
    return {
        "survey": survey,
        "form": form,
        "question": form.question,
        "stamp": stamp,
        "earlier": partial(_list_answers, form.earlier),
    }


def _list_answers(earlier: Sequence[Question]) -> list[tuple[int, Question, list[str]]]:
    """List earlier questions with the names of their answers in rules, if rules can use them."""
    return [
        (number, question, _call_answers(question)) for number, question in number_answered(earlier)
    ]


def _call_answers(question: Question) -> list[str]:
    names = list(name_answers(question))
    if question.options:
        return [f"{name} “{text}”" for name, text in zip(names, question.options, strict=True)]
    return names


def _cost(survey: Survey, form: QuestionForm, shown: Collection[str]) -> dict[str, Any]:
    """Return the cost of the question in the form, with the content of these disclosures."""
    candidate = form.shown()
    if candidate is None:
        symbols = form.guess_codes()
        return {"strengths": _pair(form, partial(describe_strength, symbols=symbols))}
    questions = form.with_candidate(candidate)
    manifest = build_manifest(survey=survey, wave_number=1, questions=questions)
    described = manifest.questions[form.position - 1]
    facts = find_facts(manifest, described)
    # The first question has no parent. It counts as its own parent here, and gets no offer.
    parent = questions[max(0, form.position - 2)]
    found = {
        "facts": facts,
        "packing_link": link_packing(survey, facts=facts, parent=parent, child=candidate),
        "manifest": manifest,
    }
    if PROTECTION in shown:
        found["strengths"] = _pair(form, partial(describe_strength_for, manifest, described))
    if described.is_scrambled and PROTECTION in shown:
        found["refusal_cost"] = describe_refusal_cost(manifest, described)
    if described.is_scrambled and RULE in shown:
        found["rule_cost"] = describe_rule_cost(manifest, described)
        found["rule_ties"] = describe_ties(manifest, described)
    return found


def _pair(
    form: QuestionForm, describe_choice: Callable[[int], Strength]
) -> list[tuple[BoundWidget, Strength]]:
    """Pair each strength that the form offers with its description."""
    if "flips" not in form.fields:
        return []
    return [(radio, describe_choice(int(radio.data["value"]))) for radio in form["flips"]]
