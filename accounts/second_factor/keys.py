"""Encrypts the secrets of second factors, so that a copy of the database does not reveal them.

MFA_KEY encrypts them. Secrets encrypted with an earlier key (MFA_KEY_FALLBACKS) stay readable until
`manage.py encrypt_second_factors` has encrypted them again.
"""

from __future__ import annotations

from collections.abc import Iterable

from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import transaction

# The names of allauth's encrypted values: the secret of an app, and the seed of recovery codes.
_ENCRYPTED = ("secret", "seed")


class UnreadableSecret(Exception):
    """No key of this server can decrypt a secret, so the account cannot use its second factor."""


def encrypt(text: str) -> str:
    return _keys().encrypt(text.encode()).decode()


def decrypt(token: str) -> str:
    try:
        return _keys().decrypt(token.encode()).decode()
    except InvalidToken as error:
        raise UnreadableSecret from error


def encrypt_all_again() -> list[str]:
    """Encrypt every secret with the newest key; return accounts whose secrets are unreadable."""
    unreadable = set()
    for number in Authenticator.objects.values_list("pk", flat=True):
        with transaction.atomic():
            # The row is locked, because a simultaneous sign-in would change it too.
            row = Authenticator.objects.select_for_update().filter(pk=number).first()
            if row is None:
                continue
            try:
                fresh = {name: encrypt(decrypt(row.data[name])) for name in _names_in(row)}
            except UnreadableSecret:
                unreadable.add(row.user.email)
                continue
            row.data.update(fresh)
            row.save(update_fields=["data"])
    return sorted(unreadable)


def count_states() -> tuple[int, int]:
    """Count second factors that no key can read, and those that only an earlier key can read."""
    newest, unreadable, old = MultiFernet(_fernets()[:1]), 0, 0
    for row in Authenticator.objects.iterator():
        tokens = [row.data[name] for name in _names_in(row)]
        if _can_read(newest, tokens):
            continue
        if _can_read(_keys(), tokens):
            old += 1
        else:
            unreadable += 1
    return unreadable, old


def _names_in(row: Authenticator) -> list[str]:
    return [name for name in _ENCRYPTED if name in row.data]


def _can_read(keys: MultiFernet, tokens: Iterable[str]) -> bool:
    try:
        for token in tokens:
            keys.decrypt(token.encode())
    except InvalidToken:
        return False
    return True


def _keys() -> MultiFernet:
    return MultiFernet(_fernets())


def _fernets() -> list[Fernet]:
    return [Fernet(key) for key in (settings.MFA_KEY, *settings.MFA_KEY_FALLBACKS)]
