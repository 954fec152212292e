"""`manage.py unlock_sign_in`: end the pause after too many failed sign-ins."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.lockout import end_pauses
from accounts.models import User


class Command(BaseCommand):
    help = "Let an account sign in again, from every network, after too many failed attempts."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True, help="the address of the account")

    def handle(self, *args: Any, **options: Any) -> None:
        email = options["email"].strip()
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            raise CommandError(f"There is no account with the e-mail address {email!r}.")
        end_pauses(user)
        self.stdout.write(f"{user.email} can sign in again from every network.")
