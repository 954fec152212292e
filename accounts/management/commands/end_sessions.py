"""`manage.py end_sessions`: sign an account out everywhere."""

from __future__ import annotations

from accounts.management.account_command import AccountCommand
from accounts.models import User
from accounts.sessions import end_sessions


class Command(AccountCommand):
    help = "Sign an account out in every browser. Its password stays the same."

    def change(self, user: User) -> str:
        return f"Sessions of {user.email} that were ended: {end_sessions(user)}."
