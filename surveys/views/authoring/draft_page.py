"""Shows the pages of a draft, and contains the functions that all authoring views share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from surveys.authoring.budget import Budget
from surveys.authoring.drafts import build_manifest, load_draft
from surveys.authoring.errors import NotDraft
from surveys.authoring.forms import list_frozen
from surveys.authoring.forms.selection import SelectionForm
from surveys.authoring.launch_checks import (
    describe_size,
    find_launch_problems,
    list_exceeded_limits,
    list_warnings,
)
from surveys.authoring.planned.card import build_card, list_titles
from surveys.authoring.planned.release_card import build_release_card, list_release_titles
from surveys.authoring.remedies import Undo
from surveys.authoring.selection import Deletion
from surveys.authoring.stamps import stamp_budget, stamp_order
from surveys.authoring.translations import summarize_languages
from surveys.authoring.usual import find_usual_strength
from surveys.lifecycle.errors import SurveyError
from surveys.manifest.manifest import Limit, Manifest
from surveys.manifest.strength import name_flips, offer_flips
from surveys.models import Question, Survey
from surveys.planning.expected import find_expected
from surveys.planning.planner_links import plan_for, plan_for_question
from surveys.planning.question_facts import QuestionFacts, list_facts
from surveys.planning.remedies import RemedyKind
from surveys.planning.subsets import describe_subset
from surveys.respondent.label.label import quote_label

REFUSED = 422  # a form with errors; nothing was stored
_UNDO, MOST_UNDONE = "undo", 5  # the key in the session, and the number of drafts
_DELETION = "deletion"  # the key in the session
page_or_form = require_http_methods(["GET", "HEAD", "POST"])


def total_context(manifest: Manifest) -> dict[str, object]:
    """Return the context that describes the survey as a whole."""
    return {
        "manifest": manifest,
        "frozen": list_frozen(manifest),
        "total_epsilon": manifest.epsilon,
        "quote": quote_label(manifest),
        "planned_titles": list_titles(manifest),
        "release_titles": list_release_titles(manifest),
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
    """Return the posted data, which may be empty, or None if the request is not a POST."""
    return request.POST if request.method == "POST" else None


def read_stamp(request: HttpRequest) -> str:
    """Return the stamp of the values in the author's form, or "" if the form has no stamp."""
    return request.POST.get("stamp", "")


def budget_context(
    request: HttpRequest, survey: Survey, manifest: Manifest, page: str
) -> dict[str, object]:
    """Return the context for _budget.html on this page of a draft."""
    questions = list(survey.questions.all())
    stamp = stamp_budget(survey, manifest, questions)
    undo = read_undo(request, survey)
    posted = request.POST if request.POST.get("kind") == RemedyKind.SOME else QueryDict()
    budget = Budget(manifest=manifest)
    rows = [
        (str(row.pk), one)
        for row, one in zip(questions, manifest.questions, strict=True)
        if one.is_scrambled
    ]
    return {
        "budget": budget,
        "largest": next((row for row in rows if row[1] == budget.largest), None),
        "budget_page": page,
        "budget_stamp": stamp,
        "budget_rows": rows,
        # The ticked remedy and questions, if the remedy was refused.
        "ticked_goal": posted.get("goal"),
        "ticked": posted.getlist("keep"),
        "undo": undo if undo and undo["stamp"] == stamp else None,
    }


def read_undo(request: HttpRequest, survey: Survey) -> Undo | None:
    undo: Undo | None = request.session.get(_UNDO, {}).get(survey.slug)
    return undo


def keep_undo(request: HttpRequest, survey: Survey, undo: Undo | None) -> None:
    """Keep what is needed to undo the last step, for a few drafts. With None, forget it."""
    kept = request.session.get(_UNDO, {})
    kept.pop(survey.slug, None)
    if undo is not None:
        kept[survey.slug] = undo
    request.session[_UNDO] = dict(list(kept.items())[-MOST_UNDONE:])


def find_deletion(
    request: HttpRequest, survey: Survey, questions: Sequence[Question]
) -> Deletion | None:
    """Return the last deletion of this session, if it was in this draft and can be undone."""
    kept: tuple[str, Deletion] = request.session.get(_DELETION) or ("", cast(Deletion, {}))
    slug, deletion = kept
    is_last = slug == survey.slug and deletion["stamp"] == stamp_order(survey, questions)
    return deletion if is_last else None


def keep_deletion(request: HttpRequest, survey: Survey, deletion: Deletion | None) -> None:
    """Keep what is needed to undo a deletion, until the next deletion. With None, forget it."""
    request.session[_DELETION] = None if deletion is None else (survey.slug, deletion)


def show_questions(
    request: HttpRequest, survey: Survey, *, refusal: SurveyError | None = None
) -> HttpResponse:
    """Show the workbench, with a refusal if an action failed."""
    load_draft(survey)
    questions = list(survey.questions.all())
    manifest = build_manifest(survey=survey, wave_number=1, questions=questions)
    usual = find_usual_strength(questions)
    context: dict[str, object] = {
        "survey": survey,
        "refusal": refusal,
        "items": _list_items(survey, manifest, questions),
        "planned": build_card(survey, manifest),
        "releases": build_release_card(survey, manifest),
        "size": describe_size(manifest),
        "usual_flips": usual,
        "strengths": [(flips, name_flips(flips)) for flips in offer_flips(usual)],
        "selection": SelectionForm(posted_to(request), questions=questions),
        "deletion": find_deletion(request, survey, questions),
        **budget_context(request, survey, manifest, "questions"),
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
        "problems": find_launch_problems(survey=survey, now=timezone.now(), manifest=manifest),
        "warnings": list_warnings(survey=survey, manifest=manifest),
        # The bar already shows the limit of the total ε.
        "limits": [one for one in list_exceeded_limits(manifest) if one.key != Limit.TOTAL_EPSILON],
        "languages": summarize_languages(survey=survey, manifest=manifest),
        "plan": plan,
        "plan_query": urlencode(plan.query) if plan else "",
        "expected": find_expected(manifest),
        **total_context(manifest),
        **budget_context(request, survey, manifest, "edit"),
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
    """Link to a form that asks both as one question, or to the parent's form for a new child."""
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
