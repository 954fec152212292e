"""`manage.py verify_client URL`: check that a server sends what this release would send."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.respondent.fetching import Unreadable
from surveys.respondent.verification import check_client


class Command(BaseCommand):
    help = (
        "Compare a respondent's page in all its languages, the page for checking it, the page as "
        "one file, their files, headers and manifest with this release, byte for byte. The exit "
        "code is 1 if anything differs. The pages for coins, for paper and for handing in are not "
        "compared. The command sees what the server sends to this machine now, not what others "
        "receive."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "url",
            help="the address that respondents open: https://HOST/s/SURVEY, with or without a "
            "language",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        different = 0
        try:
            for finding in check_client(options["url"]):
                self.stdout.write(str(finding))
                different += bool(finding.problem)
        except Unreadable as error:
            raise CommandError(str(error)) from None
        if different:
            raise CommandError(f"Differences from this release: {different}.")
        self.stdout.write("The server sends what this release would send.")
