"""Whose failed sign-ins are counted together, and what the locked-out person reads.

The counter's key is the e-mail address together with the network address: a stranger's
guesses lock out the stranger, not the account's owner.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def person_of(request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> str:
    """Return the address that somebody tries to sign in with, in one spelling."""
    # allauth says "email", axes itself says "username"; the form's field is "login".
    known = credentials or {}
    typed = known.get("email") or known.get("username") or request.POST.get("login")
    return str(typed or "").strip().lower()


def address_of(request: HttpRequest) -> str:
    """Return where a request comes from; behind a proxy, what the proxy appended last.

    The proxy's own address would be everybody's: six wrong passwords of a stranger would lock
    out the owner.
    """
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.BEHIND_PROXY else ""
    return forwarded.rpartition(",")[2].strip() or str(request.META.get("REMOTE_ADDR", ""))


def refuse(request: HttpRequest, *_details: object) -> HttpResponse:
    """Answer for axes, which also passes its own response and the credentials."""
    return render(request, "account/locked_out.html", status=429)
