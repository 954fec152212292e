"""`manage.py history`: print who did what with a survey, even after its deletion."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aggregator.exports.history import find_rows, stream_history


class Command(BaseCommand):
    help = (
        "Print the history of a survey as CSV: days, accounts and kinds of acts, but not what was "
        "changed. It also works for deleted surveys, until their rows are too old."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("survey", help="the last part of the survey's address")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["survey"]
        if not find_rows(slug).exists():
            raise CommandError(f"There is no history of a survey {slug}.")
        for part in stream_history(slug, with_changes=False):
            self.stdout.write(part.decode(), ending="")
