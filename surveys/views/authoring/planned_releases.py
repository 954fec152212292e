"""Adds and removes planned releases of a protected draft."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from surveys.access import Action
from surveys.authoring import services
from surveys.authoring.drafts import build_manifest, load_draft
from surveys.authoring.planned.release_card import build_release_card
from surveys.authoring.planned.release_form import ReleasePlanForm
from surveys.models import Survey
from surveys.releasing.choice import NotReleasable
from surveys.releasing.words import name_request
from surveys.views.authoring.access import authoring
from surveys.views.authoring.draft_page import (
    REFUSED,
    page_or_form,
    posted_to,
    require_draft,
    to_questions,
)

CARD = "#planned-releases"


@page_or_form
@authoring(Action.EDIT)
def planned(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Add a release. If the form has errors, show only the card with the errors."""
    require_draft(survey)
    load_draft(survey)
    manifest = build_manifest(survey=survey, wave_number=1)
    if manifest.planned_releases is None:  # the author has since changed the publication
        return to_questions(survey)
    form = ReleasePlanForm(posted_to(request), manifest=manifest)
    if form.is_valid():
        try:
            services.plan_release(survey=survey, request=form.request)
        except NotReleasable as problem:  # another window has since changed the draft
            form.add_error(None, str(problem))
        else:
            messages.success(request, f"{name_request(manifest, form.request)} is planned.")
            return to_questions(survey, CARD)
    context = {
        "survey": survey,
        "form": form,
        "releases": build_release_card(survey, manifest, form),
    }
    status = REFUSED if form.errors else 200
    return render(request, "surveys/authoring/planned_releases.html", context, status=status)


@require_POST
@authoring(Action.EDIT)
def remove(request: HttpRequest, survey: Survey, pk: int) -> HttpResponse:
    """Remove a release unless it is already gone."""
    services.drop_planned_release(survey=survey, pk=pk)
    messages.success(request, "The planned release was removed.")
    return to_questions(survey, CARD)
