"""Which failed sign-ins are counted together, and the page shown after too many.

Failures are counted by e-mail address and network together, so that a stranger's guesses lock out
the stranger and not the account's owner.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def person_of(request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> str:
    """Return the e-mail address used to sign in, in lower case."""
    # allauth calls it "email", axes "username", and the form "login".
    known = credentials or {}
    typed = known.get("email") or known.get("username") or request.POST.get("login")
    return str(typed or "").strip().lower()


def refuse(request: HttpRequest, *_details: object) -> HttpResponse:
    """Render the page for axes, which also passes its own response and the credentials."""
    return render(request, "account/locked_out.html", status=429)
