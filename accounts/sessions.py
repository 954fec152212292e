"""When a session ends, and what the person sees then.

A session ends some hours after the person last requested a page, and some days after sign-in at the
latest. Panels that reload by themselves do not count as activity. The row in the database has that
moment as its expiry date, so Django refuses the session and a worker deletes the row.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.contrib.auth.views import redirect_to_login
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render, resolve_url

from accounts.models import User

SIGNED_IN_AT, SEEN_AT = "signed_in_at", "seen_at"
# Activity is recorded no more often than this, because recording it writes to the database.
NOTED_EVERY_SECONDS = 300
# Results pages ask for their panels every few seconds.
_POLLED = "/panel"


class SessionStore(DatabaseStore):
    def __init__(self, session_key: str | None = None) -> None:
        # A cookie can hold a NUL, which PostgreSQL refuses to look for.
        super().__init__(None if "\0" in (session_key or "") else session_key)

    def get_session_cookie_age(self) -> int:
        """Return the seconds from now until this session ends if nobody uses it."""
        now = time.time()
        ends_at: float = self.get(SIGNED_IN_AT, now) + settings.SESSION_COOKIE_AGE
        return max(0, min(settings.SESSION_IDLE_SECONDS, int(ends_at - now)))


def note_sign_in(request: HttpRequest, **_details: Any) -> None:
    request.session[SIGNED_IN_AT] = request.session[SEEN_AT] = int(time.time())


def connect_signals() -> None:
    user_logged_in.connect(note_sign_in, dispatch_uid="sessions")


def end_sessions(user: User) -> int:
    """Sign an account out everywhere; return how many sessions were ended."""
    ended = [
        session.pk
        for session in Session.objects.iterator()
        if session.get_decoded().get(SESSION_KEY) == str(user.pk)
    ]
    Session.objects.filter(pk__in=ended).delete()
    return len(ended)


def watch_sessions(get_response: Callable[[HttpRequest], HttpResponse]) -> Any:
    """Middleware: record activity, and tell people when their session has ended."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        # A page that has not read the session must not depend on cookies, so do not read it here.
        if request.session.accessed and SESSION_KEY in request.session:
            _note_activity(request)
        elif _has_ended(request, response):
            return _explain(request, response)
        return response

    return middleware


def _note_activity(request: HttpRequest) -> None:
    session, now = request.session, int(time.time())
    if SIGNED_IN_AT not in session:  # made by an earlier release
        session[SIGNED_IN_AT] = now
    if not request.path.endswith(_POLLED) and now - session.get(SEEN_AT, 0) > NOTED_EVERY_SECONDS:
        session[SEEN_AT] = now


def _has_ended(request: HttpRequest, response: HttpResponse) -> bool:
    """Return whether somebody who was signed in is asked to sign in again."""
    asked = response.status_code == 302 and response["Location"].startswith(
        f"{resolve_url(settings.LOGIN_URL)}?"
    )
    return asked and settings.SESSION_COOKIE_NAME in request.COOKIES


def _explain(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    if request.method in ("GET", "HEAD"):
        response["Location"] += "&ended=1"
        return response
    if "HX-Request" in request.headers:
        # This request is for part of a form. What people typed stays until they send the form.
        return HttpResponse(status=204)
    # Lead back to the page with the form; the address that the form was sent to may not be a page.
    page = urlsplit(request.headers.get("Referer", "")).path or request.path
    sign_in = redirect_to_login(page)["Location"]
    context = {"typed": _list_texts(request.POST), "sign_in": sign_in}
    return render(request, "account/signed_out.html", context, status=403)


def _list_texts(posted: QueryDict) -> list[str]:
    """List what people wrote; a value without a space is a choice, a number or a token."""
    return [
        value
        for name, values in posted.lists()
        for value in values
        if " " in value.strip() and "password" not in name
    ]
