"""`manage.py privacy_check`: what this installation lets slip, and what to type against it."""

from __future__ import annotations

import logging
import resource
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import redis
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.models import F, Q
from django.utils import timezone

from aggregator.models import Batch, Upkeep
from aggregator.upkeep import privacy_checks as checks
from aggregator.upkeep.privacy_checks import Finding, Verdict
from aggregator.upkeep.purging import purge_is_due, read_rights
from surveys.models import MIN_BATCH_FLOOR, Wave

REDIS_SECONDS = 5
OTHERS = stat.S_IRWXG | stat.S_IRWXO
PRAGMAS = ("journal_mode", "synchronous", "secure_delete")
# A purge may wait for a backup to end, and for work that is due before it.
PATIENCE_SECONDS = 600.0


class Command(BaseCommand):
    help = (
        "Check database, Redis and settings for what would tell who sent which report and when. "
        "Run it with the environment of the web process. SQL remedies are for a superuser, in "
        "Murmur's database. Exit code 1 if anything fails."
    )
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        gather = gather_postgresql if connection.vendor == "postgresql" else gather_sqlite
        failed = 0
        for finding in (*gather(), *gather_redis(), *gather_murmur()):
            self.stdout.write(str(finding))
            failed += finding.verdict is Verdict.FAIL
        if failed:
            raise CommandError(f"{failed} settings fail.")


# --- PostgreSQL ---------------------------------------------------------------------------------


def gather_postgresql() -> Iterator[Finding]:
    shown = _rows("SELECT name, setting, context FROM pg_settings")
    values = {name: value for name, value, _ in shown}
    yield from checks.check_postgresql_settings(
        values, need_restart=[name for name, _, context in shown if context == "postmaster"]
    )
    yield checks.check_preloaded_libraries(values.get("shared_preload_libraries"))
    ((role, is_superuser, address, is_encrypted),) = _rows(
        """
        SELECT current_user, current_setting('is_superuser')::bool, host(inet_server_addr()),
               coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)
        """
    )
    yield from checks.check_postgresql_rights(read_rights(), role=role)
    yield checks.check_role(role=role, is_superuser=is_superuser)
    yield checks.check_connection(server_address=address, is_encrypted=is_encrypted)
    yield from checks.check_replication_slots(
        [
            (name, active)
            for name, active in _rows("SELECT slot_name, active FROM pg_replication_slots")
        ]
    )
    yield checks.check_unlogged_tables(
        [
            table
            for (table,) in _rows(
                "SELECT oid::regclass::text FROM pg_class WHERE relpersistence = 'u' "
                "AND relkind = 'r' AND relname ~ '^(accounts|surveys|aggregator)_' ORDER BY 1"
            )
        ]
    )
    yield checks.check_statistics(
        [
            column
            for (column,) in _rows(
                "SELECT attname FROM pg_stats WHERE tablename = 'aggregator_raw_report' "
                "AND attname IN ('id', 'symbols') ORDER BY 1"
            )
        ]
    )


def _rows(sql: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


# --- SQLite -------------------------------------------------------------------------------------


def gather_sqlite() -> Iterator[Finding]:
    pragmas = {name: str(_rows(f"PRAGMA {name}")[0][0]) for name in PRAGMAS}
    database = Path(str(connection.settings_dict["NAME"])).absolute()
    yield from checks.check_sqlite(pragmas, open_paths=find_open_paths(database))


def find_open_paths(database: Path) -> list[tuple[str, int]]:
    """The database and the files beside it that other users can read, with their modes."""
    files = sorted(database.parent.glob(f"{database.name}*"))
    return [(str(path), _mode(path)) for path in files if _is_open(path)]


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _is_open(path: Path) -> bool:
    """Whether others can read the file: neither it nor a folder above it keeps them out."""
    return all(_mode(part) & OTHERS for part in (path, *path.parents))


# --- Redis --------------------------------------------------------------------------------------


def gather_redis() -> Iterator[Finding]:
    identities = []
    for name, url in (("broker", settings.REDIS_URL), ("limiter", settings.LIMITER_URL)):
        client = redis.Redis.from_url(
            url, socket_timeout=REDIS_SECONDS, socket_connect_timeout=REDIS_SECONDS
        )
        with client:
            identities.append(_identity(client, url))
            yield from checks.check_redis(
                name, _redis_settings(client), may_persist=name == "broker"
            )
    yield checks.check_redis_apart(*identities)


def _identity(client: Any, url: str) -> str | None:
    try:
        return f"{client.info('server')['run_id']}{urlsplit(url).path.rstrip('/') or '/0'}"
    except redis.RedisError:
        return None


def _redis_settings(client: Any) -> dict[str, str] | None:
    """None where the server is away, or its access list forbids CONFIG."""
    try:
        found = client.config_get("*")
    except redis.RedisError:
        return None
    return {
        key.decode() if isinstance(key, bytes) else key: (
            value.decode() if isinstance(value, bytes) else value
        )
        for key, value in found.items()
    }


# --- Murmur itself ------------------------------------------------------------------------------


def gather_murmur() -> Iterator[Finding]:
    loggers = (logging.getLogger(), logging.getLogger("django.db.backends"))
    level = logging.getLevelName(min(logger.getEffectiveLevel() for logger in loggers))
    yield from checks.check_django(
        checks.DjangoSettings(
            debug=settings.DEBUG,
            https=settings.HTTPS,
            behind_proxy=settings.BEHIND_PROXY,
            allowed_hosts=settings.ALLOWED_HOSTS,
            log_level=level,
            reports_per_minute=settings.REPORTS_PER_MINUTE,
        )
    )
    done = Upkeep.objects.filter(job=Upkeep.Job.PURGE).first()
    yield checks.check_purge(
        is_due=purge_is_due(),
        seconds_ago=(timezone.now() - done.ended_at).total_seconds() if done else None,
        patience=settings.PURGE_SECONDS + PATIENCE_SECONDS,
    )
    yield from checks.check_left(done.found.get("left", []) if done else [])
    small_waves = Wave.objects.filter(minimum_batch__lt=MIN_BATCH_FLOOR).count()
    small_batches = Batch.objects.filter(
        Q(size__lt=MIN_BATCH_FLOOR) | Q(size__lt=F("wave__minimum_batch"))
    ).count()
    yield checks.check_waves(below_floor=small_waves + small_batches, floor=MIN_BATCH_FLOOR)
    soft_limit, _ = resource.getrlimit(resource.RLIMIT_CORE)
    yield checks.check_core_dumps(soft_limit)
