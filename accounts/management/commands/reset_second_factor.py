"""`manage.py reset_second_factor`: for people who lost phone and recovery codes."""

from __future__ import annotations

from accounts.management.account_command import AccountCommand
from accounts.models import User
from accounts.second_factor.state import reset_second_factor


class Command(AccountCommand):
    help = (
        "Remove the second factor and the recovery codes of an account, and sign it out "
        "everywhere. Find out first whether it is really the account's owner who asks. A mail "
        "tells the owner."
    )

    def change(self, user: User) -> str:
        had_one, ended = reset_second_factor(user)
        if not had_one:
            return f"{user.email} has no second factor. Nothing was changed."
        return (
            f"{user.email} can now sign in with the password alone. Sessions that were ended: "
            f"{ended}. A worker will mail this to {user.email}."
        )
