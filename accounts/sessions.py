"""Ends sessions, and tells people that their session has ended.

A session ends some hours after the person last requested a page, and some days after sign-in at the
latest. Panels that reload automatically do not count as activity. The end of the session is the
expiry date of its row in the database. After this date, Django rejects the session, and a worker
deletes the row.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.contrib.auth.views import redirect_to_login
from django.contrib.sessions.backends.base import VALID_KEY_CHARS
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render, resolve_url
from django.utils import timezone
from django.utils.crypto import get_random_string, salted_hmac
from django.utils.http import int_to_base36

from accounts.models import User

SIGNED_IN_AT, SEEN_AT = "signed_in_at", "seen_at"
# Activity is recorded no more often than this, because recording it writes to the database.
NOTED_EVERY_SECONDS = 300
# Results pages request their panels every few seconds.
_POLLED = "/panel"


class SessionStore(DatabaseStore):
    """Sessions whose keys begin with the account's number, so that an account's sessions are
    found without reading other sessions. The random part is as long as one of Django's keys.
    """

    def __init__(self, session_key: str | None = None) -> None:
        # A cookie can contain a NUL character, which PostgreSQL rejects in queries.
        super().__init__(None if "\0" in (session_key or "") else session_key)

    def _get_new_session_key(self) -> str:
        while True:
            key = f"{_prefix(self.get(SESSION_KEY))}{get_random_string(32, VALID_KEY_CHARS)}"
            if not self.exists(key):
                return key

    def get_session_cookie_age(self) -> int:
        """Return the seconds until this session ends if it is not used."""
        now = time.time()
        ends_at: float = self.get(SIGNED_IN_AT, now) + settings.SESSION_COOKIE_AGE
        return max(0, min(settings.SESSION_IDLE_SECONDS, int(ends_at - now)))


def _prefix(account: object) -> str:
    # The number is in base 36, because a key has at most 40 characters.
    return f"{int_to_base36(int(str(account)))}-" if account else ""


def note_sign_in(request: HttpRequest, **_details: Any) -> None:
    request.session.cycle_key()  # Django's new key was made before the account was known
    request.session[SIGNED_IN_AT] = request.session[SEEN_AT] = int(time.time())


def connect_signals() -> None:
    user_logged_in.connect(note_sign_in, dispatch_uid="sessions")


@dataclass(frozen=True, kw_only=True)
class OwnSession:
    """One of an account's sessions, for its owner. The key gives access and must not be shown."""

    name: str
    began: date
    is_current: bool


def _find_sessions(user: User) -> QuerySet[Session]:
    return Session.objects.filter(session_key__startswith=_prefix(user.pk))


def _name(key: str) -> str:
    return salted_hmac("accounts.sessions", key, algorithm="sha256").hexdigest()[:16]


def list_sessions(user: User, *, current: str | None) -> list[OwnSession]:
    """List the sessions that still work, the current one first, then the newest."""
    alive = []
    for session in _find_sessions(user).filter(expire_date__gt=timezone.now()):
        data = session.get_decoded()
        # A session from before the last change of the password is rejected when it is next used.
        if data.get(HASH_SESSION_KEY) == user.get_session_auth_hash():
            began = datetime.fromtimestamp(data[SIGNED_IN_AT], tz=UTC).date()
            key = session.session_key
            alive.append(OwnSession(name=_name(key), began=began, is_current=key == current))
    return sorted(alive, key=lambda one: (not one.is_current, -one.began.toordinal()))


def end_sessions(user: User, *, keep: str | None = None, only: str = "") -> int:
    """Sign an account out everywhere except in the session with the key `keep`.

    With `only`, end the session with this name. Return how many sessions were ended.
    """
    keys = _find_sessions(user).values_list("session_key", flat=True)
    ended = [key for key in keys if key != keep and only in ("", _name(key))]
    Session.objects.filter(pk__in=ended).delete()
    return len(ended)


def watch_sessions(get_response: Callable[[HttpRequest], HttpResponse]) -> Any:
    """Middleware: record activity, and tell people when their session has ended."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        # Do not read a session that the page has not read: the page would then vary by cookie.
        if request.session.accessed and SESSION_KEY in request.session:
            _note_activity(request)
        elif _asks_to_sign_in(response):
            return _explain(request, response)
        return response

    return middleware


def _note_activity(request: HttpRequest) -> None:
    session, now = request.session, int(time.time())
    if SIGNED_IN_AT not in session:  # made by an earlier version
        session[SIGNED_IN_AT] = now
    if not (session.session_key or "").startswith(_prefix(session[SESSION_KEY])):  # an old key
        session.cycle_key()
    if not request.path.endswith(_POLLED) and now - session.get(SEEN_AT, 0) > NOTED_EVERY_SECONDS:
        session[SEEN_AT] = now


def _asks_to_sign_in(response: HttpResponse) -> bool:
    return response.status_code == 302 and response["Location"].startswith(
        f"{resolve_url(settings.LOGIN_URL)}?"
    )


def _explain(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Tell people that their session has ended, and show what they typed."""
    had_cookie = settings.SESSION_COOKIE_NAME in request.COOKIES
    if request.method in ("GET", "HEAD"):
        response["Location"] += "&ended=1" if had_cookie else ""
        return response
    # Lead back to the page with the form. The URL that the form was sent to may not be a page.
    sign_in = redirect_to_login(urlsplit(request.headers.get("Referer", "")).path or request.path)
    typed = list_typed(request.POST)
    # After SESSION_COOKIE_AGE, browsers have dropped the cookie, but a form may still be open.
    if not (had_cookie or typed):
        return sign_in
    if "HX-Request" in request.headers:
        # This request is for part of a form. The text typed stays in the form until it is sent.
        return HttpResponse(status=204)
    context = {"typed": typed, "sign_in": sign_in["Location"]}
    return render(request, "account/signed_out.html", context, status=403)


def list_typed(posted: QueryDict) -> list[str]:
    """List the text that people typed, leaving out passwords and all values without a space.

    Values without a space are usually choices, numbers or tokens. The stamp, by which a form
    notices what others have saved, contains spaces but is also left out.
    """
    return [
        value
        for name, values in posted.lists()
        for value in values
        if " " in value.strip() and "password" not in name and name != "stamp"
    ]
