"""`manage.py deactivate_account`: close an account, and give its surveys another owner."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.core.validators import validate_email

from accounts.management.account_command import AccountCommand
from accounts.models import User
from surveys.people.errors import NotAMember, OwnsSurveys
from surveys.people.leaving import deactivate_account, find_owned_alone, invite_owner


class Command(AccountCommand):
    help = (
        "Close an account: it can no longer sign in, and loses all roles. Surveys that it owns "
        "alone get the owner that you name. This person must already work on each of them, or "
        "accept an invitation first (--invite). It cannot be an operator. The new owner "
        "and everyone with a role of their own on these surveys get an email."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--owner", default="", help="the address of the surveys' new owner")
        parser.add_argument(
            "--invite", action="store_true", help="only invite this owner, and change nothing yet"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.owner, self.invites = options["owner"].strip(), options["invite"]
        super().handle(*args, **options)

    def change(self, user: User) -> str:
        owner = User.objects.filter(email__iexact=self.owner).first() if self.owner else None
        if owner is not None and (owner.is_superuser or not owner.is_active or owner == user):
            raise CommandError(
                f"{owner.email} cannot become the owner: name the active account of someone who "
                "works on the surveys and is not an operator."
            )
        if self.invites:
            return self._invite(user)
        if self.owner and owner is None:
            raise CommandError(
                f"There is no account for {self.owner}. Run this command with --invite first."
            )
        try:
            number = deactivate_account(user, owner=owner)
        except OwnsSurveys:
            number = find_owned_alone(user.pk).count()
            raise CommandError(
                f"{user.email} is the only owner of {number} surveys. Name another owner with "
                "--owner. Nothing was changed."
            ) from None
        except NotAMember:
            named = f"{self.owner} does not work" if self.owner else "You named no one who works"
            raise CommandError(
                f"{named} on all surveys and teams that {user.email} owns alone. Name someone who "
                "does, or run this command with --invite first. Nothing was changed."
            ) from None
        return f"{user.email} is closed. Surveys that were handed over: {number}."

    def _invite(self, user: User) -> str:
        try:
            validate_email(self.owner)
        except ValidationError:
            raise CommandError(f"--owner {self.owner!r} is not an email address.") from None
        number = invite_owner(user, address=self.owner)
        return (
            f"{self.owner} is invited to {number} surveys, and {user.email} gets an email about "
            "it. Run this command again without --invite once the invitations are accepted."
        )
