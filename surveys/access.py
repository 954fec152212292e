"""Lets only its owner edit a survey or see its results. For anyone else it does not exist."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django_htmx.http import HttpResponseClientRefresh

from surveys.models import DeletedWave, Survey


def get_own_survey(user: AbstractBaseUser | AnonymousUser, slug: str) -> Survey:
    """Return the user's survey. Pages, files and the API all call this function."""
    return get_object_or_404(Survey.objects.owned_by(user), slug=slug)


def for_owner(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Pass the owner's survey to the view. Other users get 404, and visitors have to sign in."""

    @wraps(view)
    def wrapper(request: HttpRequest, slug: str, **rest: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            # A panel may reload after the session has ended. It must not show the sign-in form, so
            # the whole page reloads. A form that posts for the cost of its question does not,
            # because the author would lose the typed text.
            if "HX-Request" in request.headers and request.method == "GET":
                return HttpResponseClientRefresh()
            return redirect_to_login(request.get_full_path())
        survey = get_own_survey(request.user, slug)
        try:
            response = view(request, survey, **rest)
        except Exception as error:
            raise_404_if_deleted(slug, error)
            raise
        if response.status_code >= 400:
            raise_404_if_deleted(slug)
        return response

    return wrapper


def raise_404_if_deleted(slug: str, error: Exception | None = None) -> None:
    """Raise 404 if the survey was deleted while a view made a page about it."""
    if not isinstance(error, Http404) and DeletedWave.objects.filter(slug=slug).exists():
        raise Http404 from error
