"""Check whether the database matches the code; `manage.py migrate` completes an upgrade."""

from __future__ import annotations

import logging
import threading

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

logger = logging.getLogger(__name__)
RUN_MIGRATE = "The database is older than this code ({names}). Run manage.py migrate."
# The last commit that can migrate an older database to where these migrations begin.
UPGRADES_OLDER = "1fec5159"
TOO_OLD = (
    "The database was made by an older version, which this code cannot upgrade. Check out commit "
    f"{UPGRADES_OLDER}, run manage.py migrate there, and return to this commit."
)
_MOST_NAMES = 3
# Set permanently once nothing is missing, because only a new release, which runs in a new process,
# adds migrations.
_complete = threading.Event()


def describe_missing_migrations() -> str:
    """Return which command to run while the database lacks migrations, or "" if it lacks none."""
    if _complete.is_set():
        return ""
    if is_too_old():
        return TOO_OLD
    missing = list_missing_migrations()
    if not missing:
        _complete.set()
        return ""
    shown = missing[:_MOST_NAMES]
    more = len(missing) - len(shown)
    return RUN_MIGRATE.format(names=", ".join(shown) + (f" and {more} more" if more else ""))


def is_too_old() -> bool:
    """Return whether the database has some, but not all, migrations that the first ones replace."""
    applied = MigrationRecorder(connection).applied_migrations().keys()
    loader = MigrationLoader(None)
    on_disk = loader.disk_migrations.keys()
    gone = [set(one.replaces) - on_disk for one in loader.replacements.values()]
    return any(names & applied and names - applied for names in gone)


def list_missing_migrations() -> list[str]:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def report_missing_migrations() -> None:
    """When a process starts, log which command to run, or why the database cannot be queried."""
    try:
        missing = describe_missing_migrations()
    except Exception:  # nothing waits for this thread, so the error would be lost
        logger.exception("The database cannot be queried.")
        return
    finally:
        connection.close()  # must not be shared with threads or processes that start later
    if missing:
        logger.error(missing)
