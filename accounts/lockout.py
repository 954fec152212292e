"""Counts failed sign-ins, and makes people wait after too many.

There are two counts, both only in the limiter's memory:

- By email address and network together, so that an attacker's guesses lock out the attacker for an
  hour, not the account's owner.
- By email address alone. Guesses from many networks only slow sign-in down, with pauses of at
  most a minute between attempts, because longer pauses would let anyone lock out the owner.

Failures in a browser that has signed in to the account before are counted separately, and such a
browser never has to wait because of guesses from elsewhere. The names of the counts cannot be
listed, so no one can look up who tried to sign in, or from where. Raising the account's round
number in the database ends all pauses early.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from axes.handlers.cache import AxesCacheHandler
from django.core.cache import cache
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts import audit
from accounts.known_browsers import find_known_browser, has_cookie
from accounts.models import User
from accounts.networks import name_network

Credentials = Mapping[str, Any] | None

# After this many failures within an hour, from all networks together, sign-in to an account slows
# down.
FREE_FAILURES = 20
LONGEST_PAUSE_SECONDS = 60
COUNTED_SECONDS = 3600


def person_of(request: HttpRequest, credentials: Credentials = None) -> str:
    """Return the email address used to sign in, in lower case, and the account's round."""
    email = _email_of(request, credentials)
    rounds = User.objects.filter(email__iexact=email).values_list("sign_in_round", flat=True)
    return f"{email}/{rounds.first() or 0}/"


def source_of(request: HttpRequest) -> str:
    """Return where an attempt comes from: a browser known to this account, or else a network."""
    return _known_browser(request, None) or name_network(request)


def _email_of(request: HttpRequest, credentials: Credentials) -> str:
    # allauth calls the address "email", axes calls it "username", and the form calls it "login".
    # People who are signed in and confirm their password enter no address.
    known = credentials or {}
    typed = known.get("email") or known.get("username") or request.POST.get("login")
    signed_in = getattr(getattr(request, "user", None), "email", "")
    return str(typed or signed_in).replace("\x00", "").strip().lower()


def _find_account(email: str) -> int | None:
    return User.objects.filter(email__iexact=email).values_list("pk", flat=True).first()


def end_pauses(user: User) -> None:
    """Forget failed attempts to sign in to this account, from every network."""
    User.objects.filter(pk=user.pk).update(sign_in_round=F("sign_in_round") + 1)
    user.refresh_from_db(fields=["sign_in_round"])


class SignInHandler(AxesCacheHandler):  # type: ignore[misc]  # axes ships no types
    """Counts failures by network, as axes does, and also by account."""

    def is_locked(self, request: HttpRequest, credentials: Credentials = None) -> bool:
        return super().is_locked(request, credentials) or _must_wait(request, credentials)

    def user_login_failed(
        self,
        sender: Any,
        credentials: Mapping[str, Any],
        request: Any = None,
        **kwargs: Any,
    ) -> None:
        # axes sets this before it refuses an attempt without looking at the password.
        was_refused = request.axes_locked_out
        if not was_refused:
            _count_failure(request, credentials)
        audit.record(
            "sign-in-refused" if was_refused else "sign-in-failed",
            account=_find_account(_email_of(request, credentials)),
        )
        super().user_login_failed(sender, credentials, request, **kwargs)


def pause_after(failures: int) -> int:
    """Return the seconds between attempts after this many failures: 0, then 1, 2, 4 … 60."""
    if failures < FREE_FAILURES:
        return 0
    return min(LONGEST_PAUSE_SECONDS, 1 << min(failures - FREE_FAILURES, 6))


def _must_wait(request: HttpRequest, credentials: Credentials) -> bool:
    """Let one attempt through, then make all others wait until the pause is over."""
    if _known_browser(request, credentials):
        return False
    name = _count_name(request, credentials)
    pause = pause_after(cache.get(name) or 0)
    if not pause or cache.add(f"{name}-pause", 1, timeout=pause):
        return False
    request.sign_in_pause = pause  # type: ignore[attr-defined]  # for the page
    return True


def _count_failure(request: HttpRequest, credentials: Credentials) -> None:
    if _known_browser(request, credentials):
        return
    name = _count_name(request, credentials)
    if cache.add(name, 1, timeout=COUNTED_SECONDS):
        return
    try:
        cache.incr(name)
    except ValueError:  # the hour has just ended
        cache.add(name, 1, timeout=COUNTED_SECONDS)


def _known_browser(request: HttpRequest, credentials: Credentials) -> str:
    if not has_cookie(request):
        return ""
    account = _find_account(_email_of(request, credentials))
    return find_known_browser(request, account=account)


def _count_name(request: HttpRequest, credentials: Credentials) -> str:
    return f"sign-in-{hashlib.sha256(person_of(request, credentials).encode()).hexdigest()}"


def refuse(request: HttpRequest, *_details: object) -> HttpResponse:
    """Render the locked-out page for axes, which also passes its own response and credentials."""
    pause: int = getattr(request, "sign_in_pause", 0)
    response = render(request, "account/locked_out.html", {"pause": pause}, status=429)
    if pause:
        response["Retry-After"] = str(pause)
    return response
