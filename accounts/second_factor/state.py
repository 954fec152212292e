"""Finds out whether an account has a second factor, and removes it for an operator."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts import audit
from accounts.mail.composing import Kind
from accounts.mail.queue import request_mail
from accounts.models import User
from accounts.second_factor.keys import UnreadableSecret, decrypt
from accounts.sessions import end_sessions
from accounts.tokens import end_tokens


@dataclass(frozen=True, kw_only=True)
class SecondFactor:
    since: datetime
    codes_left: int
    is_readable: bool = True


def has_second_factor(user: User) -> bool:
    found = Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP)
    return bool(found.exists())


def find_second_factor(user: User) -> SecondFactor | None:
    """Describe the second factor of an account, in one query."""
    found = {row.type: row for row in Authenticator.objects.filter(user=user)}
    app, codes = found.get(Authenticator.Type.TOTP), found.get(Authenticator.Type.RECOVERY_CODES)
    if app is None:
        return None
    try:
        decrypt(app.data["secret"])
        left = len(codes.wrap().get_unused_codes()) if codes else 0
    except UnreadableSecret:
        return SecondFactor(since=app.created_at, codes_left=0, is_readable=False)
    return SecondFactor(since=app.created_at, codes_left=left)


def reset_second_factor(user: User) -> tuple[bool, int]:
    """Remove the second factor and sign out everywhere.

    Return whether there was a second factor, and how many sessions were ended.
    """
    with transaction.atomic():
        removed, _ = Authenticator.objects.filter(user=user).delete()
        if not removed:
            return False, 0
        request_mail(Kind.SECOND_FACTOR_RESET, account=user.pk)
    end_tokens(user)
    audit.record("second-factor-reset", account=user.pk)
    return True, end_sessions(user)
