"""Logs each change of a second factor for audits, and tells the account's owner by email."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from django.dispatch import Signal

from accounts import audit
from accounts.mail.composing import Kind
from accounts.mail.queue import request_mail
from accounts.models import User

TOTP = Authenticator.Type.TOTP
RECOVERY = Authenticator.Type.RECOVERY_CODES


def connect_signals() -> None:
    _tell(authenticator_added, TOTP, "second-factor-on", Kind.SECOND_FACTOR_ON)
    _tell(authenticator_removed, TOTP, "second-factor-off", Kind.SECOND_FACTOR_OFF)
    _tell(authenticator_reset, RECOVERY, "recovery-codes-made", Kind.RECOVERY_CODES_MADE)


def _tell(signal: Signal, changed: str, event: str, mail: Kind) -> None:
    def receive(user: User, authenticator: Authenticator, **_details: Any) -> None:
        if authenticator.type == changed:  # recovery codes are added and removed with the app
            audit.record(event, account=user.pk)
            request_mail(mail, account=user.pk)

    signal.connect(receive, weak=False, dispatch_uid=event)
