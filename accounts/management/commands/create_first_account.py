"""`manage.py create_first_account`: create an account only if there is none yet.

Scripts that set Murmur up can run it again and again.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from accounts.management.commands.create_account import create_account
from accounts.models import User


class Command(BaseCommand):
    help = "Create an account with a generated password, unless an account already exists."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True, help="the address to sign in with")

    def handle(self, *args: Any, **options: Any) -> None:
        first = User.objects.order_by("pk").first()
        if first is None:
            self.stdout.write(create_account(options["email"]))
            return
        self.stdout.write(f"Sign in as {first.email}.")
        if first.email.lower() != options["email"].lower():
            self.stdout.write("That account exists already. To add another, use create_account.")
