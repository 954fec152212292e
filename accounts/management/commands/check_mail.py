"""`manage.py check_mail`: send one test email, and report the result."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email

from accounts.mail.delivery import describe_remedy, find_delivery
from accounts.mail.trial import send_test_mail


class Command(BaseCommand):
    help = (
        "Send one test email, and say what happened. Run it in the environment of a worker, "
        "because workers send Murmur's emails. The exit code is 1 if no email was sent."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--to", required=True, metavar="ADDRESS", help="where to send the test email"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        address = options["to"].strip()
        try:
            validate_email(address)
        except ValidationError:
            raise CommandError(f"{address!r} is not an email address.") from None
        delivery = find_delivery()
        if not delivery.is_sent:
            raise CommandError(describe_unsent(delivery.place))
        self.stdout.write(f"Server: {delivery.place}")
        self.stdout.write(f"Sender: {settings.DEFAULT_FROM_EMAIL} (DEFAULT_FROM_EMAIL)")
        self.stdout.write(f"Links in emails begin with {settings.PUBLIC_URL} (MURMUR_PUBLIC_URL)")
        failure = send_test_mail(address)
        if failure:
            raise CommandError(f"The email was not sent. {failure}")
        self.stdout.write(
            f"The server accepted an email to {address}. If it does not arrive within a few "
            "minutes, look in the spam folder and in the log of the mail server."
        )


def describe_unsent(place: str) -> str:
    kept = f"It writes emails to {place}" if place else "It drops them"
    return (
        f"No email was sent, because this installation sends none. {kept}. To send emails, "
        f"{describe_remedy()}. Set DEFAULT_FROM_EMAIL too, restart the workers and the web "
        "processes, and run this command again."
    )
