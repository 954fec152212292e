"""Who may see a survey's results: its owner. For everybody else it does not exist."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django_htmx.http import HttpResponseClientRefresh

from surveys.models import Survey


def for_owner(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Hand the view its owner's survey; 404 for others, sign-in for visitors."""

    @wraps(view)
    def wrapper(request: HttpRequest, slug: str, **rest: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            # A panel that asks after the session ended must not be filled with the sign-in
            # form: the page as a whole goes there.
            if "HX-Request" in request.headers:
                return HttpResponseClientRefresh()
            return redirect_to_login(request.get_full_path())
        survey = get_object_or_404(Survey.objects.owned_by(request.user), slug=slug)
        return view(request, survey, **rest)

    return wrapper
