"""`manage.py replace_releases_folder`: count draws in a new folder after the old one is lost."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from aggregator.upkeep.release_folder import NotLost, replace_folder

COMPLETE, RESTORED = "complete", "restored"


class Command(BaseCommand):
    help = (
        "From now on, count draws of releases in the folder MURMUR_RELEASES, because the previous "
        "folder is lost. Nothing that may have been drawn is drawn again."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--database",
            choices=[COMPLETE, RESTORED],
            required=True,
            help=f"{COMPLETE}: the database holds everything that it ever stored, so only waiting "
            f"releases are given up. {RESTORED}: the database comes from a backup or a standby, or "
            "you are not sure; everything that its surveys may publish counts as spent, and no "
            "sealed half tests other claims. Neither can be undone.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.RELEASES is None:
            raise CommandError("Set MURMUR_RELEASES to the folder that workers are to use.")
        is_restored = options["database"] == RESTORED
        try:
            number = replace_folder(settings.RELEASES, is_restored=is_restored)
        except NotLost:
            raise CommandError(
                f"{settings.RELEASES} is the folder that counts draws. Nothing was changed."
            ) from None
        except OSError as error:
            raise CommandError(f"{error}. Nothing was changed.") from error
        self.stdout.write(f"Draws are counted in {settings.RELEASES} from now on.")
        self.stdout.write(
            f"Waves that publish and test nothing more: {number}."
            if is_restored
            else f"Releases that were given up, and stay paid for: {number}."
        )
