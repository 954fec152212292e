"""Lets authors save a survey as a definition, import one as a draft, and compare two."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.models import User
from surveys.access import Action, find_surveys_for, get_survey
from surveys.authoring.drafts import load_draft
from surveys.authoring.errors import Overtaken
from surveys.definition.checking import check_definition
from surveys.definition.comparing import list_changes
from surveys.definition.creating import create_previewed, stamp_preview
from surveys.definition.exporting import build_definition, export_definition
from surveys.definition.format import ImportOutdated, InvalidDefinition, Problem
from surveys.definition.forms import ComparisonForm, DefinitionForm
from surveys.definition.preview import describe_rest, list_rows
from surveys.definition.replacing import hash_definition, replace_draft
from surveys.definition.schema import build_schema
from surveys.definition.structure import find_structure_problems
from surveys.downloads import attach
from surveys.models import Question, Survey
from surveys.views.authoring.access import authoring
from surveys.views.authoring.draft_page import (
    REFUSED,
    page_or_form,
    posted_to,
    read_stamp,
    to_edit,
)

CREATE, REPLACE = "create", "replace"  # the names of buttons
CHANGED = (
    "The draft has changed since you compared it, so nothing was saved. The differences below are "
    "the new ones."
)


@require_safe
def schema(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Publish the JSON Schema, which editors and programs read."""
    return JsonResponse(build_schema(), content_type="application/schema+json")


@require_safe
@authoring(Action.EDIT)
def export(request: HttpRequest, survey: Survey) -> HttpResponse:  # noqa: ARG001
    response = HttpResponse(export_definition(survey), content_type="application/json")
    return attach(response, f"{survey.slug}.json")


@page_or_form
@login_required
def import_definition(request: HttpRequest) -> HttpResponse:
    """Show the form, then a preview, and create the draft as previewed."""
    user = cast(User, request.user)
    form = DefinitionForm(posted_to(request), request.FILES or None)
    context: dict[str, object] = {"form": form}
    if form.is_valid():
        try:
            definition = form.parse()
            checked = check_definition(definition)
            context["problems"] = checked.problems
            if not checked.problems:
                if CREATE in request.POST:
                    survey = create_previewed(definition, owner=user, stamp=read_stamp(request))
                    messages.success(request, "The draft was created. It is not open yet.")
                    return to_edit(survey)
                context |= _show(definition, checked.questions)
        except InvalidDefinition as error:
            context["problems"] = error.problems
        except ImportOutdated as error:
            form.add_error(None, str(error))
            context |= _show(definition, checked.questions)
        if "rows" in context:
            context["stamp"] = stamp_preview(definition, owner=user)
        form = context["form"] = _show_text(form, DefinitionForm)
    status = REFUSED if form.errors or context.get("problems") else 200
    return render(request, "surveys/authoring/import_definition.html", context, status=status)


def _show(definition: Mapping[str, Any], questions: Sequence[Question]) -> dict[str, object]:
    answered = sum(question.described.is_answered for question in questions)
    return {
        "title": definition["title"],
        "rows": list_rows(questions),
        "answered": answered,
        "rest": describe_rest(definition),
    }


def _show_text(form: DefinitionForm, make_form: Callable[..., DefinitionForm]) -> DefinitionForm:
    """Return the form with the text of the file, so that authors can correct or resend it."""
    text = form.content.decode("utf-8-sig", errors="replace")
    shown = make_form({"text": text})
    shown.is_valid()
    for error in form.non_field_errors():
        shown.add_error(None, error)
    return shown


@page_or_form
@authoring(Action.EDIT)
def compare(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show the differences between this survey and another survey or a file.

    The author can then replace a draft with the file, unless the draft has changed since.
    """
    others = find_surveys_for(request.user, Action.EDIT).exclude(pk=survey.pk).order_by("-pk")
    make_form = partial(ComparisonForm, surveys=list(others))
    form: DefinitionForm = make_form(posted_to(request), request.FILES or None)
    context: dict[str, object] = {"survey": survey}
    problems: Sequence[Problem] = []
    if form.is_valid():
        slug = form.cleaned_data["other"]
        try:
            if slug:
                other = get_survey(request.user, slug, Action.EDIT)
                old = build_definition(other)
                context["name"] = other.title
            else:
                old = form.parse()
                context["name"] = "The file"
                if REPLACE in request.POST:
                    replace_draft(survey=survey, definition=old, read=[read_stamp(request)])
                    messages.success(request, "The draft was replaced by the file.")
                    return to_edit(survey)
                problems = find_structure_problems(old)
        except InvalidDefinition as error:
            problems = error.problems
        except Overtaken:
            form.add_error(None, CHANGED)
        if not problems:
            load_draft(survey)
            context["changes"] = changes = list_changes(old, build_definition(survey))
            if changes and not slug and survey.is_draft():
                context["stamp"] = hash_definition(export_definition(survey))
                form = _show_text(form, make_form)
    context |= {"problems": problems, "form": form}
    status = REFUSED if form.errors or problems else 200
    return render(request, "surveys/authoring/compare_definitions.html", context, status=status)
