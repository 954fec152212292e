"""`manage.py privacy_check`: run the system checks tagged `privacy`, including those of servers."""

from __future__ import annotations

from typing import Any

from django.core import checks
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS

from aggregator.upkeep.checks.registry import PRIVACY


class Command(BaseCommand):
    help = (
        "Check the database, Redis and settings for anything that could reveal who sent which "
        "report, or when. Run it in the environment of the web process. Run SQL remedies as "
        "a superuser in Murmur's database. The exit code is 1 if anything fails."
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        found = checks.run_checks(
            tags=[PRIVACY], include_deployment_checks=True, databases=[DEFAULT_DB_ALIAS]
        )
        messages = [message for message in found if not message.is_silenced()]
        for message in messages:
            verdict = _find_verdict(message.level)
            self.stdout.write(f"{verdict:<11}  {message.msg} ({message.id}) Remedy: {message.hint}")
        failed = sum(message.level >= checks.ERROR for message in messages)
        if failed:
            raise CommandError(f"Failed checks: {failed}.")
        unknown = sum(message.level == checks.WARNING for message in messages)
        self.stdout.write(
            f"UNSURE       nothing failed, but {unknown} of the checks gave no clear result; see "
            "above"
            if unknown
            else "OK           nothing found that could reveal a report's sender or time"
        )


def _find_verdict(level: int) -> str:
    if level >= checks.ERROR:
        return "FAIL"
    return "CANNOT TELL" if level >= checks.WARNING else "NOTE"
