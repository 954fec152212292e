"""`manage.py migrate`: Django's command, which here deletes nothing unless told to."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands.migrate import Command as Migrate
from django.db import connections
from django.db.migrations.exceptions import AmbiguityError
from django.db.migrations.executor import MigrationExecutor

from aggregator.upkeep.missing_migrations import TOO_OLD, is_too_old


class Command(Migrate):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--reverse",
            action="store_true",
            help="allow reversing migrations, which deletes what later ones added",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if is_too_old():
            raise CommandError(f"{TOO_OLD} Nothing was changed.")
        names = [] if options["reverse"] else _list_reversed(options)
        if names:
            raise CommandError(
                f"This would reverse {len(names)} migrations and delete the tables and columns "
                f"that they added, with everything in them: {', '.join(names)}. Nothing was "
                "changed. To go back to an older release, restore its backup. To delete them "
                "anyway, add --reverse."
            )
        super().handle(*args, **options)


def _list_reversed(options: dict[str, Any]) -> list[str]:
    app, name = options["app_label"], options["migration_name"]
    if not app or not name:
        return []
    executor = MigrationExecutor(connections[options["database"]])
    try:
        target = None if name == "zero" else executor.loader.get_migration_by_prefix(app, name).name
    except (AmbiguityError, KeyError):
        return []  # Django says what is wrong with the name
    plan = executor.migration_plan([(app, target)])
    return [f"{one.app_label}.{one.name}" for one, is_reversed in plan if is_reversed]
