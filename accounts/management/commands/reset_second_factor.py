"""`manage.py reset_second_factor`: help people who lost their phone and recovery codes."""

from __future__ import annotations

from accounts.management.account_command import AccountCommand
from accounts.models import User
from accounts.second_factor.state import reset_second_factor


class Command(AccountCommand):
    help = (
        "Remove the second factor and the recovery codes of an account, and sign it out "
        "everywhere. First make sure that the request comes from the account's owner. An email "
        "tells the owner about the reset."
    )

    def change(self, user: User) -> str:
        had_one, ended = reset_second_factor(user)
        if not had_one:
            return f"{user.email} has no second factor. Nothing was changed."
        return (
            f"{user.email} can now sign in with the password alone. Sessions ended: {ended}. A "
            f"worker will send {user.email} an email about this."
        )
