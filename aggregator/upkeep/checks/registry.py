"""The checks that `manage.py check` runs, with their tags.

Plain `manage.py check`, which every other command runs first, looks only at settings. To also check
the servers, run `manage.py check --deploy --tag privacy --database default` or
`manage.py privacy_check`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core import checks
from django.core.checks import CheckMessage
from django.db import InterfaceError, OperationalError, connection

from aggregator.upkeep.checks import messages
from aggregator.upkeep.checks.messages import judge
from aggregator.upkeep.checks.postgresql import check_postgresql
from aggregator.upkeep.checks.redis_servers import check_redis
from aggregator.upkeep.checks.releases import check_releases, check_which_folder
from aggregator.upkeep.checks.settings import (
    check_contradictions,
    check_mail,
    check_privacy_settings,
    check_public_address,
    check_security_contact,
)
from aggregator.upkeep.checks.sqlite import check_sqlite
from aggregator.upkeep.checks.stored import check_stored_rows
from aggregator.upkeep.missing_migrations import describe_missing_migrations

PRIVACY = "privacy"
SETTINGS = "settings"


def register_checks() -> None:
    checks.register(check_contradictions, SETTINGS)
    checks.register(check_privacy_settings, PRIVACY, deploy=True)
    checks.register(check_releases, PRIVACY, deploy=True)
    checks.register(check_mail, SETTINGS, deploy=True)
    checks.register(check_public_address, SETTINGS, deploy=True)
    checks.register(check_security_contact, checks.Tags.security, deploy=True)
    checks.register(check_servers, PRIVACY, deploy=True)
    checks.register(check_migrations, checks.Tags.database, PRIVACY, deploy=True)
    checks.register(check_rows, PRIVACY, deploy=True)


def check_servers(*, databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Check the settings of the database server and of Redis."""
    if not databases:
        return []
    if failure := _find_database_failure():
        return [*_judge_reach(failure), *check_redis()]
    check_database = check_postgresql if connection.vendor == "postgresql" else check_sqlite
    return [*check_database(), *check_redis()]


def _judge_reach(failure: str) -> list[CheckMessage]:
    return judge(
        messages.DATABASE_REACH,
        "the database cannot be used",
        good=False,
        meaning=f"{failure} Neither its settings nor what it stores was checked.",
        remedy="start it, or correct DATABASE_URL; then run this again.",
    )


def _find_database_failure() -> str:
    try:
        connection.ensure_connection()
    except (OperationalError, InterfaceError) as error:
        return f"{str(error).splitlines()[0].rstrip('.')}."
    return ""


def check_migrations(
    *, databases: Sequence[str] | None = None, **_kwargs: Any
) -> list[CheckMessage]:
    if not databases or _find_database_failure():
        return []
    missing = describe_missing_migrations()
    return judge(
        messages.MIGRATIONS,
        "migrations are missing",
        good=not missing,
        meaning=missing,
        remedy="manage.py migrate",
    )


def check_rows(*, databases: Sequence[str] | None = None, **_kwargs: Any) -> list[CheckMessage]:
    """Check stored rows if the database can be read and lacks no migrations."""
    if not databases or _find_database_failure() or describe_missing_migrations():
        return []
    return [*check_stored_rows(), *check_which_folder()]
