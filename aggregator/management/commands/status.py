"""`manage.py status`: say whether workers keep up, and what the last verification found."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from aggregator.upkeep.status import find_ages, find_last_verification, limiter_answers


class Command(BaseCommand):
    help = (
        "Say which release runs, how late work is, whether the limiter answers, and what the last "
        "verification found. The exit code is 1 if work is late or a difference was found."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        ages = find_ages(now=timezone.now())
        verified = find_last_verification()
        differences = verified.found["count"] if verified else 0
        for name, value in (
            ("release", settings.VERSION),
            ("last sweep", _write_age(ages.swept)),
            ("oldest due work", _write_age(ages.due)),
            ("limiter", "answers" if limiter_answers() else "does not answer"),
            ("last verification", verified.ended_at.date().isoformat() if verified else "never"),
            ("differences found", str(differences) if verified else "unknown"),
        ):
            self.stdout.write(f"{name:<18} {value}")
        if ages.problem or differences:
            raise CommandError(ages.problem or "Run manage.py verify to read the differences.")


def _write_age(seconds: float | None) -> str:
    return "none" if seconds is None else f"{seconds:.0f} s ago"
