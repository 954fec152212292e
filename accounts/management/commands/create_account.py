"""`manage.py create_account`: create an account and show its password once."""

from __future__ import annotations

import secrets
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email
from django.db import IntegrityError, transaction

from accounts.models import User


class Command(BaseCommand):
    help = "Create an account with a generated password. Each account sees only its own surveys."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True, help="the address to sign in with")

    def handle(self, *args: Any, **options: Any) -> None:
        email = options["email"]
        if User.objects.filter(email__iexact=email).exists():
            raise CommandError(
                f"There is already an account for {email}. If its password is lost, use "
                "“Forgot your password?” on the sign-in page."
            )
        self.stdout.write(create_account(email))


def create_account(email: str) -> str:
    """Create an account, and return what to tell the person who will use it."""
    try:
        validate_email(email)
    except ValidationError:
        raise CommandError(f"{email!r} is not an email address.") from None
    password = secrets.token_urlsafe(15)
    try:
        with transaction.atomic():
            User.objects.create_user(email=email, password=password)
    except IntegrityError:
        raise CommandError(f"Another process has just created {email}.") from None
    return (
        f"Sign in as {email} with the password {password}\n"
        "The password is shown only once. Change it after signing in."
    )
