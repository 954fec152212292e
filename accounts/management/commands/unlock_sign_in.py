"""`manage.py unlock_sign_in`: end the pause after too many failed sign-ins."""

from __future__ import annotations

from accounts.lockout import end_pauses
from accounts.management.account_command import AccountCommand
from accounts.models import User


class Command(AccountCommand):
    help = "Let an account sign in again, from every network, after too many failed attempts."

    def change(self, user: User) -> str:
        end_pauses(user)
        return f"{user.email} can sign in again from every network."
