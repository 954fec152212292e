"""Browsers that have signed in to an account before, recognised by a signed cookie.

Guesses from elsewhere do not slow these browsers down (accounts/lockout.py). The cookie does not
sign anyone in. Browsers send it only to account pages, never to a respondent's page.
"""

from __future__ import annotations

import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from accounts.models import User

KEPT_SECONDS = 365 * 24 * 3600
_SALT = "accounts.known_browsers"


def cookie_name() -> str:
    return "__Secure-browser" if settings.HTTPS else "browser"


def has_cookie(request: HttpRequest) -> bool:
    return cookie_name() in request.COOKIES


def find_known_browser(request: HttpRequest, *, account: int | None) -> str:
    """Return the random name of a browser that has signed in to this account, otherwise ""."""
    try:
        known, name = signing.loads(
            request.COOKIES.get(cookie_name(), ""), salt=_SALT, max_age=KEPT_SECONDS
        )
    except (signing.BadSignature, TypeError, ValueError):
        return ""
    return str(name) if account is not None and known == account else ""


def remember_browser(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Set the cookie for a year. It names only the last account that the browser signed in to."""
    name = find_known_browser(request, account=user.pk) or secrets.token_urlsafe(16)
    response.set_cookie(
        cookie_name(),
        signing.dumps([user.pk, name], salt=_SALT),
        max_age=KEPT_SECONDS,
        path=reverse("account_login").removesuffix("login/"),
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )
