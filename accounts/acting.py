"""The acting account, which sent the request that this thread is handling.

Services record acts (surveys/history) without being told who calls them. Workers and commands act
for no account.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse

_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


def remember_request(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: make the request's account the acting account, without reading the session."""

    def middleware(request: HttpRequest) -> HttpResponse:
        token = _request.set(request)
        try:
            return get_response(request)
        finally:
            _request.reset(token)

    return middleware


def acting_account() -> int | None:
    request = _request.get()
    return None if request is None else request.user.pk


def reading_account() -> int | None:
    """Return the acting account, or None for a HEAD request, which shows no page.

    POST requests count too, because a rejected form is answered with its page, which may show
    figures.
    """
    request = _request.get()
    return acting_account() if request is not None and request.method != "HEAD" else None
