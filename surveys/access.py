"""Decides who may do what with a survey: the only table of roles, and the functions that read it.

Every page, file and API route checks permission at every request. An account without any role on a
survey gets the same 404 as if the survey did not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from functools import cache, wraps
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, URLResolver, get_resolver
from django_htmx.http import HttpResponseClientRefresh

from accounts.acting import acting_account
from accounts.models import User
from accounts.sessions import list_typed
from surveys.models import DeletedWave, Role, Survey

Account = AbstractBaseUser | AnonymousUser
FORBIDDEN = 403


class Action(Enum):
    READ = auto()  # results and the report
    ANALYSE = auto()  # comparisons
    EXPORT = auto()  # files
    EDIT = auto()  # the draft, its translations, and its exports for other programs
    # Irreversible actions.
    OPEN = auto()
    CLOSE = auto()
    UNSEAL = auto()  # the sealed half
    RELEASE = auto()  # spends the budget
    PUBLISH = auto()
    CHOOSE_BACKGROUND = auto()
    DELETE = auto()
    PEOPLE = auto()
    HISTORY = auto()


_READING = frozenset({Action.READ})
_ANALYSING = _READING | {Action.ANALYSE, Action.EXPORT}
ALLOWED: Mapping[Role, frozenset[Action]] = {
    Role.VIEWER: _READING,
    Role.ANALYST: _ANALYSING,
    Role.EDITOR: _ANALYSING | {Action.EDIT},
    Role.OWNER: frozenset(Action),
}


class NotAllowed(PermissionDenied):
    """The account has a role on the survey, but a lower one than the action needs."""

    def __init__(self, survey: Survey, action: Action) -> None:
        super().__init__(survey, action)
        self.role = survey.role or Role.VIEWER
        self.needed = find_least_role(action)


def can(account: Account | int, action: Action, survey: Survey) -> bool:
    """Return whether an account may now perform the action on a survey."""
    found = Survey.objects.of(account).filter(pk=survey.pk).first()
    return found is not None and may(found, action)


def may(survey: Survey, action: Action) -> bool:
    """Return whether the account for which a survey was found may perform the action."""
    return survey.role is not None and action in ALLOWED[survey.role]


def find_least_role(action: Action) -> Role:
    return next(role for role in Role if action in ALLOWED[role])


def find_surveys_for(account: Account | int, action: Action) -> QuerySet[Survey, Any]:
    """Find the surveys on which an account may perform the action."""
    return Survey.objects.of(account, least=find_least_role(action))


def get_survey(account: Account | int, slug: str, action: Action) -> Survey:
    """Return the survey if the account may perform the action, or raise Http404 or NotAllowed."""
    survey: Survey = get_object_or_404(Survey.objects.of(account), slug=slug)
    if not may(survey, action):
        raise NotAllowed(survey, action)
    return survey


def ask_again(survey: Survey, action: Action) -> None:
    """Raise Http404 or NotAllowed if the acting account lost its role after its request began.

    Services call this function once they have locked the survey. Roles on the survey then cannot
    change before the act is committed. Workers and commands need no role.
    """
    if (account := acting_account()) is not None:
        get_survey(account, survey.slug, action)


def account_of(request: HttpRequest) -> User:
    """Return the account of a request to a page that requires signing in."""
    assert isinstance(request.user, User)
    return request.user


def needs(
    action: Action, *, post: Action | None = None
) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Pass the survey to the view if the account may perform `action`, or `post` for a sent form.

    Accounts without a role get 404, and visitors have to sign in.
    """

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def wrapper(request: HttpRequest, slug: str, **rest: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                # A panel may reload after the session has ended. It must not show the sign-in form,
                # so the whole page reloads.
                if "HX-Request" in request.headers and request.method == "GET":
                    return HttpResponseClientRefresh()
                return redirect_to_login(request.get_full_path())
            asked = post if post is not None and request.method == "POST" else action
            try:
                survey = get_survey(request.user, slug, asked)
                response = view(request, survey, **rest)
            except NotAllowed as refusal:
                return _refuse(request, refusal)
            except Exception as error:
                raise_404_if_deleted(slug, error)
                raise
            if response.status_code >= 400:
                raise_404_if_deleted(slug)
            return response

        wrapper.needed = (action, post or action)  # type: ignore[attr-defined]
        return wrapper

    return decorate


def _refuse(request: HttpRequest, refusal: NotAllowed) -> HttpResponseBase:
    context = {
        "role": refusal.role.label.lower(),
        "needed": refusal.needed.label.lower(),
        "typed": list_typed(request.POST),
    }
    return render(request, "surveys/people/refused.html", context, status=FORBIDDEN)


def allows(survey: Survey, route: str) -> bool:
    """Return whether the account for which a survey was found may open one of its pages.

    Templates show a link only if this function returns True.
    """
    return may(survey, list_needs()[route][0])


def allows_form(survey: Survey, route: str) -> bool:
    """Return whether the account may send the form of a page."""
    return may(survey, list_needs()[route][1])


@cache
def list_needs() -> dict[str, tuple[Action, Action]]:
    """List the actions that each page of a survey and its form require, as the views declare."""
    found: dict[str, tuple[Action, Action]] = {}

    def walk(resolver: URLResolver, namespace: str) -> None:
        for entry in resolver.url_patterns:
            if isinstance(entry, URLResolver):
                walk(entry, f"{namespace}{entry.namespace}:" if entry.namespace else namespace)
            elif isinstance(entry, URLPattern) and hasattr(entry.callback, "needed"):
                found[f"{namespace}{entry.name}"] = entry.callback.needed

    walk(get_resolver(), "")
    return found


def raise_404_if_deleted(slug: str, error: Exception | None = None) -> None:
    """Raise Http404 if the survey was deleted while a view built its page."""
    if isinstance(error, Http404):
        return
    is_deleted = DeletedWave.objects.filter(slug=slug).exists()
    if is_deleted or not Survey.objects.filter(slug=slug).exists():  # a draft
        raise Http404 from error
