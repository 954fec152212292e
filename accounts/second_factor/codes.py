"""Decides whether a code from an app or a recovery code is right. Wrong codes cause pauses.

Uses and failures are stored with the secret, not in the limiter, so that an outage or a restart
neither lets a code work twice nor allows more guesses.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa import app_settings
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.db import connection, transaction

from accounts import audit
from accounts.mail.composing import Kind
from accounts.mail.queue import request_mail
from accounts.models import User
from accounts.second_factor.keys import UnreadableSecret, decrypt

# People who enter a code know the password or have a session. These free attempts allow for typing
# errors.
FREE_FAILURES = 5
FIRST_PAUSE_SECONDS = 30
# This allows 24 guesses a day at sign-in, and another 24 in sessions. The chance that a guess is
# right is 3 in 1,000,000.
LONGEST_PAUSE_SECONDS = 3600
# After this many failures, the owner should learn that someone has the password or a session.
TOLD_AFTER = 10

TOTP = Authenticator.Type.TOTP
RECOVERY = Authenticator.Type.RECOVERY_CODES


@dataclass(frozen=True, kw_only=True)
class Count:
    """The keys under which the data about wrong codes is stored with the secret."""

    failures: str
    failed_at: str


AT_SIGN_IN = Count(failures="failures", failed_at="failed_at")
IN_SESSION = Count(failures="session_failures", failed_at="session_failed_at")


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The result of checking a code. If there is no authenticator, the code was rejected."""

    authenticator: Authenticator | None = None
    wait: int = 0  # seconds until another code is checked
    is_unreadable: bool = False


def find_step(secret: str, code: str, *, after: int = 0) -> int | None:
    """Return the 30-second step of a valid code. Steps up to `after` have been used."""
    for step in yield_hotp_counters_from_time():
        expected = format_hotp_value(hotp_value(secret, step))
        if step > after and compare_user_code(actual=code, expected=expected):
            return int(step)
    return None


def check_code(*, user: User, code: str, in_session: bool = False) -> Checked:
    """Check a code from an app or a recovery code, and store the result.

    Wrong codes in sessions, where codes confirm changes, are counted separately, because someone
    who stole a session, perhaps without the password, must not hold up sign-in. Signing in also
    resets the count for sessions, so the owner can end the stolen session and make changes.
    """
    count = IN_SESSION if in_session else AT_SIGN_IN
    with transaction.atomic():
        # The lock makes guesses that are sent at the same time wait for one another.
        rows = Authenticator.objects.select_for_update().filter(user=user).order_by("-type")
        found = {row.type: row for row in rows}
        if TOTP not in found:
            return Checked()
        app = found[TOTP]
        if wait := seconds_to_wait(app.data, count):
            return Checked(wait=wait)
        try:
            used = _use(app, code) or _use_recovery(found.get(RECOVERY), code)
        except UnreadableSecret:
            return Checked(is_unreadable=True)
        if used is None:
            _note_failure(user, app, count)
        else:
            for ended in (AT_SIGN_IN, IN_SESSION) if count == AT_SIGN_IN else (count,):
                app.data.pop(ended.failures, None)
        app.save(update_fields=["data"])
    if used is not None and used.type == RECOVERY:
        audit.record("recovery-code-used", account=user.pk)
        request_mail(Kind.RECOVERY_CODE_USED, account=user.pk)
    return Checked(authenticator=used)


def _use(app: Authenticator, code: str) -> Authenticator | None:
    step = find_step(decrypt(app.data["secret"]), code, after=app.data.get("last_step", 0))
    if step is None:
        return None
    app.data["last_step"] = step
    return app


def _use_recovery(codes: Authenticator | None, code: str) -> Authenticator | None:
    return codes if codes is not None and codes.wrap().validate_code(code) else None


def _note_failure(user: User, app: Authenticator, count: Count) -> None:
    failures = app.data.get(count.failures, 0) + 1
    app.data |= {count.failures: failures, count.failed_at: int(time.time())}
    audit.record("second-factor-failed", account=user.pk)
    if failures == TOLD_AFTER:
        request_mail(Kind.CODES_GUESSED, account=user.pk)


def seconds_to_wait(data: dict[str, Any], count: Count) -> int:
    since = int(time.time()) - int(data.get(count.failed_at, 0))
    if since < 0:  # the clock was set back, so the true time is unknown
        return 0
    return max(0, pause_after(int(data.get(count.failures, 0))) - since)


def pause_after(failures: int) -> int:
    """Return the seconds during which no code is checked: 0, then 30, 60, 120 … up to an hour."""
    if failures < FREE_FAILURES:
        return 0
    return min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS << min(failures - FREE_FAILURES, 7))


def hide_moments() -> None:
    """Forget the times at which codes were used or wrong, once these times no longer matter.

    All second factors get the same hidden transaction number, as in `accounts.tokens`.
    """
    over = int(time.time()) - LONGEST_PAUSE_SECONDS
    with transaction.atomic():
        for row in Authenticator.objects.select_for_update().order_by("pk"):
            if row.data.get("last_step", 0) * app_settings.TOTP_PERIOD < over:
                row.data.pop("last_step", None)
            for count in (AT_SIGN_IN, IN_SESSION):
                if row.data.get(count.failed_at, 0) < over:
                    row.data.pop(count.failed_at, None)
            row.created_at = row.created_at.replace(hour=0, minute=0, second=0, microsecond=0)
            row.last_used_at = None
            row.save()
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM mfa_authenticator")  # removes the old versions
