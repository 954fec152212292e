"""Logs what people do with accounts and surveys. docs/operations.md lists the log lines.

surveys/history logs and stores acts on surveys.

A line contains the account's number and the survey's link name. It never contains an email
address, a network or a password. Nothing is recorded about respondents.
"""

from __future__ import annotations

import logging
from typing import Any

from allauth.account.signals import password_changed, password_reset
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.dispatch import Signal

from accounts.models import User

logger = logging.getLogger("murmur.audit")


def record(event: str, *, account: int | None, **facts: str) -> None:
    """Write one line; `facts` must not contain anything that a person typed."""
    rest = "".join(f" {name}={value}" for name, value in facts.items())
    logger.info("%s account=%s%s", event, "none" if account is None else account, rest)


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
