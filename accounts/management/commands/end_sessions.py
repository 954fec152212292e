"""`manage.py end_sessions`: sign an account out everywhere, and revoke its API tokens."""

from __future__ import annotations

from accounts.management.account_command import AccountCommand
from accounts.models import User
from accounts.sessions import end_sessions
from accounts.tokens import end_tokens


class Command(AccountCommand):
    help = (
        "Sign an account out in every browser, and revoke its API tokens. Its password stays the "
        "same."
    )

    def change(self, user: User) -> str:
        ended, revoked = end_sessions(user), end_tokens(user)
        return f"Sessions of {user.email} ended: {ended}. Tokens revoked: {revoked}."
