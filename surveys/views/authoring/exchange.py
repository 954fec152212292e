"""Lets authors import a questionnaire from another program, or save a survey for such a program."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from accounts.models import User
from surveys.access import Action, can, needs
from surveys.definition.exporting import build_definition
from surveys.downloads import attach
from surveys.exchange.form import UploadForm
from surveys.exchange.jobs import SINGLY, TOO_OLD, create_from, store_upload
from surveys.exchange.lists import build_lists
from surveys.exchange.writing.redcap import write_dictionary
from surveys.exchange.writing.xlsform import write_xlsform
from surveys.lifecycle.errors import SurveyError
from surveys.models import Import, Survey
from surveys.views.authoring.draft_page import REFUSED, page_or_form, to_edit

_WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@page_or_form
@login_required
def upload(request: HttpRequest) -> HttpResponse:
    """Show the form; store a valid file until a worker reads it."""
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if form.is_valid():
        file = form.cleaned_data["file"]
        stored = store_upload(
            owner=cast(User, request.user), name=file.name or "file", content=file.read()
        )
        return redirect("surveys:imported", slug=stored.slug)
    status = REFUSED if form.errors else 200
    return render(request, "surveys/authoring/import.html", {"form": form}, status=status)


@page_or_form
@login_required
def imported(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what became of each row; create the draft if the author asks for it."""
    owner = cast(User, request.user)
    owned = Import.objects.filter(owner=owner).defer("content")
    found = get_object_or_404(owned.select_related("survey"), slug=slug)
    if found.survey is not None and not can(owner, Action.EDIT, found.survey):
        raise Http404
    if request.method == "POST":
        problem = TOO_OLD
        try:
            if survey := create_from(upload=found, singly="singly" in request.POST):
                return to_edit(survey)
        except SurveyError as error:  # the limits have changed since the file was read
            problem = str(error)
        messages.error(request, problem)
        return redirect("surveys:import")
    definition = found.definition or {}
    context = {
        "found": found,
        "lists": build_lists(found.outcomes),
        "has_scores": SINGLY in definition,
    }
    return render(request, "surveys/authoring/imported.html", context)


# A waiting page polls this URL, which does not prolong the session.
imported_panel = require_safe(imported)


@require_safe
@needs(Action.EDIT)
def xlsform(_request: HttpRequest, survey: Survey) -> HttpResponse:
    content = write_xlsform(build_definition(survey), form_id=survey.slug)
    return attach(HttpResponse(content, content_type=_WORKBOOK), f"murmur-{survey.slug}.xlsx")


@require_safe
@needs(Action.EDIT)
def redcap_dictionary(_request: HttpRequest, survey: Survey) -> HttpResponse:
    content = write_dictionary(build_definition(survey))
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    return attach(response, f"murmur-{survey.slug}-redcap.csv")
