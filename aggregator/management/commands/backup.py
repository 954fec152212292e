"""`manage.py backup FILE`: copy the SQLite database while Murmur runs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from aggregator.models import RawReport
from aggregator.upkeep.backups import BackupError, copy_database


class Command(BaseCommand):
    help = "Copy the SQLite database to a new file. For PostgreSQL, print the pg_dump command."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the new file; it must not exist yet")
        parser.add_argument(
            "--without-raw-reports",
            action="store_true",
            help="leave out reports that are not sealed yet; they are lost after a restore",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        target, raw_reports = options["file"], not options["without_raw_reports"]
        if connection.vendor != "sqlite":
            raise CommandError(
                "PostgreSQL makes its own backups, even while Murmur runs. On its machine, run "
                "deploy/backup as root. Elsewhere, write the password into ~/.pgpass, then run "
                "umask 077 and this command:\n  "
                + describe_dump(target=target, raw_reports=raw_reports)
            )
        source = Path(connection.settings_dict["NAME"])
        try:
            backup = copy_database(source=source, target=target, raw_reports=raw_reports)
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{target}: {backup.batches:,} batches with {backup.sealed_reports:,} reports, "
            f"{backup.file_bytes / 1e6:,.1f} MB. "
            + (
                "It includes reports that were not sealed yet, with their ids."
                if raw_reports
                else "Reports that were not sealed yet are left out."
            )
        )


def describe_dump(*, target: Path, raw_reports: bool) -> str:
    """Return the pg_dump command for this database; libpq finds the password itself."""
    settings = connection.settings_dict
    words = ["pg_dump", "--format=custom", "--exclude-table-data=django_session"]
    if not raw_reports:
        words.append(f"--exclude-table-data={RawReport._meta.db_table}")
    for option, name in (("host", "HOST"), ("port", "PORT"), ("username", "USER")):
        if settings[name]:
            words.append(f"--{option}={settings[name]}")
    return shlex.join([*words, f"--file={target}", str(settings["NAME"])])
