"""Which failed sign-ins are counted together, and the page shown after too many.

Failures are counted by e-mail address and network together, so that a stranger's guesses lock out
the stranger and not the account's owner. They are counted in the limiter, under names that cannot
be listed: nobody can look up the networks from which sign-in to an account is paused. A pause ends
early because the account, in the database, begins a new round of counting.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.models import User


def person_of(request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> str:
    """Return the e-mail address used to sign in, in lower case, and the account's round."""
    # allauth calls it "email", axes "username", and the form "login".
    known = credentials or {}
    typed = known.get("email") or known.get("username") or request.POST.get("login")
    email = str(typed or "").replace("\x00", "").strip().lower()
    rounds = User.objects.filter(email__iexact=email).values_list("sign_in_round", flat=True)
    return f"{email}/{rounds.first() or 0}/"


def end_pauses(user: User) -> None:
    """Forget failed attempts to sign in to this account, from every network."""
    User.objects.filter(pk=user.pk).update(sign_in_round=F("sign_in_round") + 1)
    user.refresh_from_db(fields=["sign_in_round"])


def refuse(request: HttpRequest, *_details: object) -> HttpResponse:
    """Render the page for axes, which also passes its own response and the credentials."""
    return render(request, "account/locked_out.html", status=429)
