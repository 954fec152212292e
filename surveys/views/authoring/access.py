"""Lets only the owner change a survey, and only in a state that allows it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from surveys.access import for_owner, get_own_survey
from surveys.authoring.forms.translations import PREFIX
from surveys.lifecycle.errors import SurveyError
from surveys.models import Survey

# The conflict page shows these fields again, so that authors keep the text that they typed.
TYPED_FIELDS = (
    "title",
    "introduction",
    "text",
    "follow_up",
    "options",
    "unit",
    "low_label",
    "high_label",
    "rule",
)


def authoring(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """Pass the owner's survey to the view, and explain an action that its state forbids."""

    @for_owner
    @wraps(view)
    def wrapper(request: HttpRequest, survey: Survey, **rest: Any) -> HttpResponse:
        try:
            return view(request, survey, **rest)
        except SurveyError as error:
            translated = [name for name in request.POST if name.startswith(PREFIX)]
            names = (*TYPED_FIELDS, *translated)
            typed = [request.POST[name] for name in names if request.POST.get(name)]
            stored = get_own_survey(request.user, survey.slug)  # the view may have changed its copy
            context = {"problem": str(error), "typed": typed, "survey": stored}
            return render(request, "surveys/authoring/conflict.html", context, status=409)

    return wrapper
