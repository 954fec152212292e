"""Commands for one account, which `--email` names."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User


class AccountCommand(BaseCommand):
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True, help="the address of the account")

    def handle(self, *args: Any, **options: Any) -> None:
        email = options["email"].strip()
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            raise CommandError(f"There is no account with the email address {email!r}.")
        self.stdout.write(self.change(user))

    def change(self, user: User) -> str:
        """Do the command's work and return the sentence that reports it."""
        raise NotImplementedError
