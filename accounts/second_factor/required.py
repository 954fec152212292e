"""Middleware: with SECOND_FACTOR_REQUIRED, accounts without a second factor must set one up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve

from accounts.models import User
from accounts.second_factor.state import has_second_factor

# Respondents' files, and static files, which are the same for everyone.
OPEN = ("/s/", "/m/", "/r/", settings.STATIC_URL)
ALLOWED = frozenset(
    (
        "mfa_activate_totp",
        "account_reauthenticate",
        "account_logout",
        "account_address_confirm",
        "account_change_password",
        "account_reset_password",
        "account_reset_password_done",
        "account_reset_password_from_key",
        "account_reset_password_from_key_done",
    )
)


def demand_second_factor(get_response: Callable[[HttpRequest], HttpResponse]) -> Any:
    def middleware(request: HttpRequest) -> HttpResponse:
        if not settings.SECOND_FACTOR_REQUIRED or not _lacks_one(request):
            return get_response(request)
        if request.path_info.startswith("/api/"):
            # The API then answers as if no one were signed in.
            request.user = AnonymousUser()
            return get_response(request)
        if "HX-Request" in request.headers:
            return HttpResponse(status=204, headers={"HX-Refresh": "true"})
        return redirect("mfa_activate_totp")

    return middleware


def _lacks_one(request: HttpRequest) -> bool:
    # Pages that do not read the session must not begin to depend on cookies.
    if request.path_info.startswith(OPEN) or settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return False
    if _find_route(request) in ALLOWED:
        return False
    user = request.user
    return isinstance(user, User) and not has_second_factor(user)


def _find_route(request: HttpRequest) -> str:
    try:
        return resolve(request.path_info).view_name
    except Resolver404:
        return ""
