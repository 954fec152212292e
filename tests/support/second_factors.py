"""Second factors of test people; their codes come from pyotp, not from the code under test."""

from __future__ import annotations

import time

import pyotp
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP

from accounts.models import User

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def add_second_factor(user: User, secret: str = SECRET) -> list[str]:
    """Turn the second factor on; return the recovery codes."""
    TOTP.activate(user, secret)
    codes: list[str] = RecoveryCodes.activate(user).get_unused_codes()
    return codes


def app_of(user: User) -> Authenticator:
    return Authenticator.objects.get(user=user, type=Authenticator.Type.TOTP)


def code_now(secret: str = SECRET, *, seconds: int = 0) -> str:
    """Return the code that the person's app shows now, or at another time."""
    return pyotp.TOTP(secret.replace(" ", "")).at(int(time.time()) + seconds)


def wrong_code(secret: str = SECRET) -> str:
    valid = {code_now(secret, seconds=seconds) for seconds in (-60, -30, 0, 30, 60)}
    return next(code for code in map("{:06}".format, range(9)) if code not in valid)
