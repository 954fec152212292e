"""Applies and undoes the remedies for a total ε that exceeds a limit."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from surveys.access import Action
from surveys.authoring.errors import RemedyRefused
from surveys.authoring.forms import RemedyForm, UndoForm
from surveys.authoring.remedies import apply_remedy, is_done_already, undo_remedy
from surveys.models import Survey
from surveys.views.authoring.access import authoring
from surveys.views.authoring.draft_page import (
    keep_undo,
    read_undo,
    require_draft,
    show_questions,
)


@require_POST
@authoring(Action.EDIT)
def remedy(request: HttpRequest, survey: Survey) -> HttpResponse:
    require_draft(survey)
    form = RemedyForm(request.POST)
    chosen = _read(form)
    try:
        undo = apply_remedy(
            survey=survey,
            stamp=chosen["stamp"],
            kind=chosen["kind"],
            goal=chosen["goal"],
            kept=form.kept,
        )
    except RemedyRefused as error:
        last = read_undo(request, survey)
        if is_done_already(survey=survey, goal=chosen["goal"], undo=last):
            return _to_budget(survey, chosen["page"])
        return show_questions(request, survey, refusal=error)
    keep_undo(request, survey, undo)
    messages.success(request, undo["done"])
    return _to_budget(survey, chosen["page"])


@require_POST
@authoring(Action.EDIT)
def undo(request: HttpRequest, survey: Survey) -> HttpResponse:
    require_draft(survey)
    chosen = _read(UndoForm(request.POST))
    try:
        undo_remedy(survey=survey, undo=read_undo(request, survey), stamp=chosen["stamp"])
    except RemedyRefused as error:
        return show_questions(request, survey, refusal=error)
    keep_undo(request, survey, None)
    messages.success(request, "The strengths and the random subset are as before.")
    return _to_budget(survey, chosen["page"])


def _read(form: forms.Form) -> dict[str, Any]:
    if not form.is_valid():
        raise BadRequest("not a button of the page")
    return form.cleaned_data


def _to_budget(survey: Survey, page: str) -> HttpResponse:
    return redirect(reverse(f"surveys:{page}", args=[survey.slug]) + "#budget")
