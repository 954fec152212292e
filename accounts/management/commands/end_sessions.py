"""`manage.py end_sessions`: sign an account out everywhere."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from accounts.sessions import end_sessions


class Command(BaseCommand):
    help = "Sign an account out in every browser. Its password stays the same."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True, help="the address of the account")

    def handle(self, *args: Any, **options: Any) -> None:
        email = options["email"].strip()
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            raise CommandError(f"There is no account with the e-mail address {email!r}.")
        self.stdout.write(f"Sessions of {user.email} that were ended: {end_sessions(user)}.")
