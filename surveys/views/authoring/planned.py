"""Adds and removes planned comparisons of a draft."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from surveys.access import Action
from surveys.authoring import services
from surveys.authoring.drafts import build_manifest
from surveys.authoring.planned.card import build_card
from surveys.authoring.planned.form import PlannedForm
from surveys.comparing.choice import describe_planned
from surveys.models import Survey
from surveys.views.authoring.access import authoring
from surveys.views.authoring.draft_page import (
    REFUSED,
    page_or_form,
    posted_to,
    require_draft,
    to_questions,
)

CARD = "#planned"


@page_or_form
@authoring(Action.EDIT)
def planned(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Add a comparison. If the form has errors, show only the card with the errors."""
    require_draft(survey)
    manifest = build_manifest(survey=survey, wave_number=1)
    form = PlannedForm(posted_to(request), manifest=manifest)
    if form.is_valid():
        services.plan_comparison(survey=survey, names=form.names)
        messages.success(request, f"{describe_planned(manifest, form.names)} is planned.")
        return to_questions(survey, CARD)
    context = {"survey": survey, "form": form, "planned": build_card(survey, manifest, form)}
    status = REFUSED if form.errors else 200
    return render(request, "surveys/authoring/planned.html", context, status=status)


@require_POST
@authoring(Action.EDIT)
def remove(request: HttpRequest, survey: Survey, pk: int) -> HttpResponse:
    """Remove a comparison unless it is already gone."""
    services.drop_planned(survey=survey, pk=pk)
    messages.success(request, "The planned comparison was removed.")
    return to_questions(survey, CARD)
