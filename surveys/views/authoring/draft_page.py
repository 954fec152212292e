"""Shows the pages of a draft, and has the functions that all authoring views share."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from surveys.authoring.drafts import build_manifest, load_draft
from surveys.authoring.errors import NotDraft
from surveys.authoring.forms import list_frozen
from surveys.authoring.launch_checks import (
    describe_size,
    find_launch_problems,
    list_exceeded_limits,
    list_warnings,
)
from surveys.authoring.planned.card import build_card, list_titles
from surveys.authoring.translations import summarize_languages
from surveys.lifecycle.errors import SurveyError
from surveys.manifest.manifest import Manifest
from surveys.models import Question, Survey
from surveys.planning.planner_links import is_mixed, plan_for, plan_for_question
from surveys.planning.question_facts import QuestionFacts, list_facts
from surveys.planning.subsets import describe_subset
from surveys.respondent.label.label import quote_label

REFUSED = 422  # a form with errors; nothing was stored
page_or_form = require_http_methods(["GET", "HEAD", "POST"])


def total_context(manifest: Manifest) -> dict[str, object]:
    """Return the context that describes the survey as a whole."""
    return {
        "manifest": manifest,
        "frozen": list_frozen(manifest),
        "total_epsilon": manifest.epsilon,
        "quote": quote_label(manifest),
        "planned_titles": list_titles(manifest),
        "size": describe_size(manifest),
        "subset": describe_subset(manifest, drawn=manifest.drawn),
    }


def require_draft(survey: Survey) -> None:
    """Raise NotDraft for a launched survey. The services check again under a lock."""
    if not survey.is_draft():
        raise NotDraft


def to_edit(survey: Survey) -> HttpResponse:
    return redirect("surveys:edit", slug=survey.slug)


def to_questions(survey: Survey, fragment: str = "") -> HttpResponse:
    return redirect(reverse("surveys:questions", args=[survey.slug]) + fragment)


def posted_to(request: HttpRequest) -> QueryDict | None:
    """Return the posted data, even if empty; None if the request is not a POST."""
    return request.POST if request.method == "POST" else None


def read_stamp(request: HttpRequest) -> str:
    """Return the stamp of what the author's form showed; empty if the form has no stamp."""
    return request.POST.get("stamp", "")


def show_questions(
    request: HttpRequest, survey: Survey, *, refusal: SurveyError | None = None
) -> HttpResponse:
    """Show the workbench, with a refusal if an action failed."""
    load_draft(survey)
    questions = list(survey.questions.all())
    manifest = build_manifest(survey=survey, wave_number=1, questions=questions)
    context: dict[str, object] = {
        "survey": survey,
        "refusal": refusal,
        "items": _list_items(survey, manifest, questions),
        "planned": build_card(survey, manifest),
        "total_epsilon": manifest.epsilon,
        "size": describe_size(manifest),
    }
    status = REFUSED if refusal else 200
    return render(request, "surveys/authoring/questions.html", context, status=status)


def show_draft(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show what a draft still needs and what it reveals in total."""
    load_draft(survey)
    manifest = build_manifest(survey=survey, wave_number=1)
    plan = plan_for(manifest)
    context: dict[str, object] = {
        "survey": survey,
        "problems": find_launch_problems(survey=survey, now=timezone.now()),
        "warnings": list_warnings(survey=survey, manifest=manifest),
        "limits": list_exceeded_limits(manifest),
        "languages": summarize_languages(survey=survey, manifest=manifest),
        "plan": plan,
        "plan_query": urlencode(plan.query) if plan else "",
        "plan_is_mixed": is_mixed(manifest),
        **total_context(manifest),
    }
    return render(request, "surveys/authoring/draft.html", context)


def _list_items(
    survey: Survey, manifest: Manifest, questions: Sequence[Question]
) -> list[tuple[Question, QuestionFacts, str, str]]:
    """List each question with its facts and its links to the planner and to packing."""
    all_facts = list_facts(manifest)
    parents = [None, *questions]
    return [
        (
            question,
            facts,
            urlencode(plan_for_question(manifest, facts.question)) if facts.cost else "",
            link_packing(survey, facts=facts, parent=parent or question, child=question),
        )
        for question, facts, parent in zip(questions, all_facts, parents, strict=False)
    ]


def link_packing(survey: Survey, *, facts: QuestionFacts, parent: Question, child: Question) -> str:
    """Link to a form for both as one question; it edits the parent if the child is not stored."""
    if facts.packing is None:
        return ""
    path = reverse("surveys:question_create", args=[survey.slug])
    if child.pk is None:
        path = reverse("surveys:question_edit", args=[survey.slug, parent.pk])
    offered = {
        "type": Question.Type.FOLLOW_UP.value,
        "text": parent.text,
        "follow_up": child.text,
        "flips": facts.packing.flips,
        "refusal": "",  # the offer assumes no refusal
    }
    return f"{path}?{urlencode(offered)}"
