"""Rules for passwords, and their hashing."""

from __future__ import annotations

import threading
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core.exceptions import ValidationError

# zxcvbn is slow for long passwords: the slowest forty characters take a second.
READ_CHARACTERS = 32
# The scale runs from 0 to 4. A password with a score of 3 takes at least 10⁸ guesses.
LEAST_SCORE = 3
# A hash keeps a core busy for about 20 ms. Simultaneous sign-ins must leave time for other pages.
HASHES_AT_ONCE = 2
_hashing = threading.BoundedSemaphore(HASHES_AT_ONCE)


class GuessableValidator:
    """Rejects passwords that a program would guess early: common ones, patterns, repetitions."""

    def validate(self, password: str, user: AbstractBaseUser | None = None) -> None:
        # Imported here because its word lists take 14 MB and most processes never set a password.
        from zxcvbn import zxcvbn

        name, _, domain = str(getattr(user, "email", "")).partition("@")
        known = ["murmur", name, *name.split("."), domain, *domain.split(".")]
        found = zxcvbn(password[:READ_CHARACTERS], user_inputs=[word for word in known if word])
        if found["score"] < LEAST_SCORE:
            raise ValidationError(
                "This password is easy to guess. Use four or more unrelated words, "
                "or let a password manager make one.",
                code="password_easy_to_guess",
            )

    def get_help_text(self) -> str:
        return "Use four or more unrelated words, or let a password manager make one."


class Argon2Hasher(Argon2PasswordHasher):
    """Argon2id with the parameters that OWASP recommends.

    Django's defaults take five times the memory and nine times the CPU time. An older hash is
    replaced when its owner next signs in.
    """

    memory_cost = 19 * 1024  # KiB
    time_cost = 2
    parallelism = 1

    def encode(self, *args: Any, **kwargs: Any) -> str:
        with _hashing:
            return super().encode(*args, **kwargs)

    def verify(self, *args: Any, **kwargs: Any) -> bool:
        with _hashing:
            return super().verify(*args, **kwargs)
