"""`manage.py verify`: compute every total, snapshot and table again from the batches."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import QuerySet

from aggregator.upkeep.verification.differences import name_wave
from aggregator.upkeep.verification.run import Verification, accept_losses, store_differences
from surveys.models import Wave


class Command(BaseCommand):
    help = "Compute everything again from the batches. If anything stored differs, exit with 1."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("survey", nargs="*", help="only surveys with these slugs")
        parser.add_argument("--wave", type=int, help="only the wave of this number")
        parser.add_argument(
            "--accept-loss",
            action="store_true",
            help="after a restore: first record that the reports now missing are lost",
        )
        parser.add_argument("--quiet", action="store_true", help="print differences only")

    def handle(self, *args: Any, **options: Any) -> None:
        waves = _choose_waves(slugs=options["survey"], number=options["wave"])
        if options["accept_loss"]:
            for wave, missing in accept_losses(waves).items():
                self.stdout.write(f"{name_wave(wave)}: {missing:,} reports are lost. Accepted.")
        started = time.monotonic()
        verification = Verification()
        differences = []
        for difference in verification.run(waves):
            differences.append(difference)
            self.stdout.write(str(difference))
        if not options["survey"] and options["wave"] is None:
            store_differences(differences)
        if differences:
            raise CommandError(f"Differences found: {len(differences)}.")
        if not options["quiet"]:
            self.stdout.write(
                f"{verification.reports:,} reports in {verification.batches:,} batches of "
                f"{verification.waves:,} waves, {verification.snapshots:,} snapshots and "
                f"{verification.comparisons:,} comparisons agree "
                f"({time.monotonic() - started:.1f} s)."
            )


def _choose_waves(*, slugs: list[str], number: int | None) -> QuerySet[Wave]:
    waves = Wave.objects.order_by("pk")
    if slugs:
        waves = waves.filter(survey__slug__in=slugs)
        unknown = set(slugs) - set(waves.values_list("survey__slug", flat=True))
        if unknown:
            raise CommandError(f"There is no launched survey named {', '.join(sorted(unknown))}.")
    if number is not None:
        waves = waves.filter(number=number)
        if not waves.exists():
            raise CommandError(f"There is no wave {number}.")
    return waves
