"""API tokens, which programs send instead of a session cookie.

A token can do whatever its account may do at the time of the request, within the token's scopes.
The token is shown once; the database stores only its hash. Nothing is stored when a token is used.
A new password or a new second factor revokes all tokens, because a thief may have made them.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import date, timedelta
from enum import StrEnum

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import audit
from accounts.mail.composing import Kind
from accounts.mail.queue import request_mail
from accounts.models import ApiToken, User

PREFIX = "murmur_"
MOST_TOKENS = 20  # per account
LONGEST_DAYS = 365


class Scope(StrEnum):
    """The permissions of a token. The values are stored, and the API's description lists them."""

    RESULTS = "read-results"
    FILES = "read-files"
    DRAFTS = "write-drafts"


class TokenRefused(Exception):
    """No token was made; the message says why."""


class MadeAlready(TokenRefused):
    """This token exists: the form was sent twice, and only the first reply showed the token."""

    def __init__(self, token: ApiToken) -> None:
        super().__init__("This token has already been made.")
        self.token = token


def make_token(
    *, user: User, name: str, scopes: Collection[Scope], days: int, replaced: int | None = None
) -> tuple[ApiToken, str]:
    """Make a token, and return its row and the only copy of the token.

    `user` is the account as the session loaded it, so a session that a new password has just ended
    cannot make a token. `replaced` is the number of a token with the same name, which is revoked.
    """
    text = PREFIX + secrets.token_urlsafe(32)
    chosen: list[str] = [scope for scope in Scope if scope in scopes]
    last_day = _today() + timedelta(days=min(days, LONGEST_DAYS))
    with transaction.atomic():
        locked = User.objects.select_for_update().get(pk=user.pk)
        if not locked.is_active or locked.password != user.password:
            raise TokenRefused("Your password was changed. Sign in again.")
        own = ApiToken.objects.filter(account=locked)
        own.filter(expires_on__lt=_today()).delete()
        revoked, _ = own.filter(pk=replaced or 0, name=name).delete()
        if found := own.filter(name=name).first():
            if (found.scopes, found.expires_on) == (chosen, last_day):
                raise MadeAlready(found)
            raise TokenRefused(
                "You already have a token with this name. Choose another name, or revoke that "
                "token first."
            )
        if own.count() >= MOST_TOKENS:
            raise TokenRefused(f"You have {MOST_TOKENS} tokens. Revoke one first.")
        token = ApiToken.objects.create(
            account=locked, name=name, digest=_hash(text), scopes=chosen, expires_on=last_day
        )
        request_mail(Kind.ACCESS_GIVEN, account=locked.pk)
    if revoked:
        audit.record("token-revoked", account=user.pk)
    audit.record("token-made", account=user.pk)
    return token, text


def find_token(text: str) -> ApiToken | None:
    """Find a token that has not expired and whose account can sign in."""
    found = ApiToken.objects.select_related("account").filter(
        digest=_hash(text), expires_on__gte=_today(), account__is_active=True
    )
    return found.first()


def list_tokens(user: User) -> QuerySet[ApiToken]:
    return ApiToken.objects.filter(account=user, expires_on__gte=_today()).order_by("pk")


def revoke_token(user: User, *, pk: int) -> bool:
    """Revoke a token of this account; return False if the account has no such token."""
    revoked, _ = ApiToken.objects.filter(account=user, pk=pk).delete()
    if revoked:
        audit.record("token-revoked", account=user.pk)
    return bool(revoked)


def end_tokens(user: User) -> int:
    """Revoke all tokens of an account, and return how many there were."""
    ended, _ = ApiToken.objects.filter(account=user).delete()
    if ended:
        audit.record("tokens-ended", account=user.pk, tokens=str(ended))
    return ended


def forget_expired_tokens() -> None:
    """Delete expired tokens, so that none works again if the clock is set back."""
    ApiToken.objects.filter(expires_on__lt=_today()).delete()


def hide_moments() -> None:
    """Give all tokens the same hidden transaction number, once an hour.

    With each row, PostgreSQL stores the number of the transaction that wrote it. These numbers rise
    with time, and rows of reports also have them. SQLite has no such numbers.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("UPDATE accounts_token SET name = name")
            cursor.execute("VACUUM accounts_token")  # removes the old versions


def _hash(text: str) -> bytes:
    # No salt or slow hash is needed, because 256 random bits cannot be guessed.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _today() -> date:
    return timezone.now().date()
