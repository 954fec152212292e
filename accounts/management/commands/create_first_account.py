"""`manage.py create_first_account`: create the first account and show its password once."""

from __future__ import annotations

import secrets
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email
from django.db import transaction

from accounts.models import User


class Command(BaseCommand):
    help = "Create an account with a generated password, unless an account already exists."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True, help="the address to sign in with")

    def handle(self, *args: Any, **options: Any) -> None:
        email = options["email"]
        try:
            validate_email(email)
        except ValidationError:
            raise CommandError(f"{email!r} is not an e-mail address.") from None
        password = secrets.token_urlsafe(15)
        with transaction.atomic():
            first = User.objects.order_by("pk").first()
            if first is None:
                User.objects.create_user(email=email, password=password)
        if first is not None:
            self.stdout.write(f"Sign in as {first.email}.")
            return
        self.stdout.write(f"Sign in as {email} with the password {password}")
        self.stdout.write("The password is shown only once. Change it after signing in.")
