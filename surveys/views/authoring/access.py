"""Lets people change a survey as their role allows, and only in a state that allows it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from surveys.access import Action, get_survey, needs
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


def authoring(
    action: Action,
) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponseBase]]:
    """Pass the survey to the view. If the survey's state forbids the action, explain why."""

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
        @needs(action)
        @wraps(view)
        def wrapper(request: HttpRequest, survey: Survey, **rest: Any) -> HttpResponse:
            try:
                return view(request, survey, **rest)
            except SurveyError as error:
                translated = [name for name in request.POST if name.startswith(PREFIX)]
                names = (*TYPED_FIELDS, *translated)
                typed = [request.POST[name] for name in names if request.POST.get(name)]
                # The view may have changed its copy of the survey.
                stored = get_survey(request.user, survey.slug, action)
                context = {"problem": str(error), "typed": typed, "survey": stored}
                return render(request, "surveys/authoring/conflict.html", context, status=409)

        return wrapper

    return decorate
