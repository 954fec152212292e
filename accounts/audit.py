"""Logs what people do with accounts and surveys; docs/operations.md lists the lines.

A line contains the account's number and the survey's link name. It never contains an e-mail
address, a network or a password. Nothing is recorded about respondents.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from allauth.account.signals import password_changed, password_reset
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.dispatch import Signal
from django.http import HttpRequest, HttpResponse

from accounts.models import User

logger = logging.getLogger("murmur.audit")
PUBLIC = "/s/"  # what respondents and readers load
# Views that send figures in other forms than CSV: files that workers make, and the API's results.
EXPORTS = ("aggregator:file", "aggregator:coin_file", "aggregator:api_results")


def record(event: str, *, account: int | None, **facts: str) -> None:
    """Write one line; `facts` must not contain anything that a person typed."""
    rest = "".join(f" {name}={value}" for name, value in facts.items())
    logger.info("%s account=%s%s", event, "none" if account is None else account, rest)


def record_exports(get_response: Callable[[HttpRequest], HttpResponse]) -> Any:
    """Middleware: record every file and every API reply with figures as an export.

    Published figures are left out: who reads them is not recorded, and the session is not read.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if _is_export(request, response) and not request.path_info.startswith(PUBLIC):
            record("export", account=request.user.pk, path=request.path)
        return response

    return middleware


def _is_export(request: HttpRequest, response: HttpResponse) -> bool:
    if response.status_code != HTTPStatus.OK:
        return False  # the file is not ready, or there is none
    is_csv = response.headers.get("Content-Type", "").startswith("text/csv")
    match = request.resolver_match
    return is_csv or (match is not None and match.view_name in EXPORTS)


def connect_signals() -> None:
    _record_on(user_logged_in, "signed-in")
    _record_on(user_logged_out, "signed-out")
    _record_on(password_changed, "password-changed")
    _record_on(password_reset, "password-reset")


def _record_on(signal: Signal, event: str) -> None:
    def receive(user: User | None = None, **_details: Any) -> None:
        if user is not None:  # a visitor who is not signed in may sign out
            record(event, account=user.pk)

    signal.connect(receive, weak=False, dispatch_uid=f"audit {event}")
