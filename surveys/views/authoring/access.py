"""Only a survey's owner may edit it. For everyone else it does not exist."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from accounts.models import User
from surveys.access import get_own_survey
from surveys.authoring.forms.translations import PREFIX
from surveys.lifecycle.errors import SurveyError
from surveys.models import Question

# The conflict page shows these fields again, so that authors do not lose what they typed.
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


def signed_in_user(request: HttpRequest) -> User:
    """The user of a request that has passed login_required."""
    return cast(User, request.user)


def get_own_question(request: HttpRequest, slug: str, pk: int) -> Question:
    """Return a question of the user's survey; 404 for a question of another survey."""
    return get_object_or_404(get_own_survey(request.user, slug).questions, pk=pk)


def authoring(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Ask visitors to sign in, and explain what the survey's state does not allow."""

    @login_required
    @wraps(view)
    def wrapper(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except SurveyError as error:
            translated = [name for name in request.POST if name.startswith(PREFIX)]
            names = (*TYPED_FIELDS, *translated)
            typed = [request.POST[name] for name in names if request.POST.get(name)]
            survey = get_own_survey(request.user, str(kwargs["slug"]))
            context = {"problem": str(error), "typed": typed, "survey": survey}
            return render(request, "surveys/authoring/conflict.html", context, status=409)

    return wrapper
