"""Lets authors download all texts of a draft, and upload them translated."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from surveys.access import Action
from surveys.authoring.drafts import build_manifest
from surveys.authoring.errors import PreviewOutdated
from surveys.authoring.translating.form import TranslationFileForm
from surveys.authoring.translating.reading import read_file
from surveys.authoring.translating.storing import store_file
from surveys.authoring.translating.writing import write_file
from surveys.downloads import attach
from surveys.models import Survey
from surveys.views.authoring.access import authoring
from surveys.views.authoring.draft_page import (
    REFUSED,
    page_or_form,
    posted_to,
    read_stamp,
    require_draft,
)

SAVE = "save"  # the name of the button


@require_safe
@authoring(Action.EDIT)
def download(request: HttpRequest, survey: Survey) -> HttpResponse:  # noqa: ARG001
    require_draft(survey)
    manifest = build_manifest(survey=survey, wave_number=1)
    content = write_file(survey=survey, manifest=manifest)
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    return attach(response, f"{survey.slug}_translations.csv")


@page_or_form
@authoring(Action.EDIT)
def upload(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show the form, then what a file would change, and store the changes as previewed."""
    require_draft(survey)
    form = TranslationFileForm(posted_to(request), request.FILES or None)
    reading = None
    if form.is_valid():
        text = form.cleaned_data["text"]
        if SAVE in request.POST:
            try:
                stored = store_file(survey=survey, text=text, stamp=read_stamp(request))
            except PreviewOutdated as error:
                form.add_error(None, str(error))
            else:
                messages.success(
                    request,
                    f"Translations: {len(stored.added)} added, {len(stored.changed)} changed.",
                )
                return redirect("surveys:languages", slug=survey.slug)
        reading = read_file(text, survey=survey)
    context = {"survey": survey, "form": form, "reading": reading}
    status = REFUSED if form.errors else 200
    return render(request, "surveys/authoring/translation_file.html", context, status=status)
