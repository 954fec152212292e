"""Erase the traces that sealed reports and deleted surveys leave in dead rows and log files.

Deleting a row leaves its bytes in the files. docs/decisions/0013-erasing-traces.md says what is
erased here, what cannot be erased, and what was measured.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import Max
from django.utils import timezone

from aggregator.models import Batch, Discard, Upkeep
from surveys.models import DeletedWave

logger = logging.getLogger(__name__)
# Uploads queue behind a process that waits to lock the table, so purging waits at most this long.
LOCK_MS = 100
LOCK_NOT_AVAILABLE = "55P03"  # PostgreSQL's code for this error
# Rewriting more reports or ids would delay uploads for longer than a second.
MOST_WAITING = 200_000
CHECKPOINT_TRIES = 5
SPENT_IDS = "aggregator_spent_id"
# Tables that name a survey, a wave or a question, or count reports. Raw reports are rewritten
# before these.
TABLES_OF_SURVEYS = (
    "aggregator_batch",
    "aggregator_discard",
    "aggregator_snapshot",
    "aggregator_rendering",
    "aggregator_rows_file",
    "aggregator_sealed_half",
    "aggregator_comparison",
    "aggregator_release",
    "aggregator_release_ledger",
    "aggregator_duework",
    "aggregator_upkeep",
    SPENT_IDS,
    "surveys_stored_text",
    "surveys_history_changes",
    "surveys_import",
    "surveys_invitation",
    "surveys_membership",
    "surveys_former_member",
    "surveys_team_survey",
    "surveys_planned_comparison",
    "surveys_planned_release",
    "surveys_question",
    "surveys_asked_question",
    "surveys_asked_before",
    "surveys_translation",
    "surveys_wave",
    "surveys_survey",
)

NOT_SWITCHED = (
    "The write-ahead log keeps sealed reports until its current file is full, because {role} may "
    "not start a new one. As superuser, in this database: GRANT EXECUTE ON FUNCTION "
    'pg_switch_wal() TO "{role}";'
)
NO_CHECKPOINT = (
    "The write-ahead log keeps sealed reports until the server's own next checkpoint, because "
    '{role} may not request one. As superuser: GRANT pg_checkpoint TO "{role}";'
)
RECYCLED = (
    "Used files of the write-ahead log are kept for reuse, with sealed reports in them. "
    "As superuser: ALTER SYSTEM SET wal_recycle = off; SELECT pg_reload_conf();"
)
FILES_KEPT = (
    "{count} used files of the write-ahead log, with sealed reports in them, are held by "
    "archiving, a replication slot or wal_keep_size. manage.py privacy_check says which."
)


STATISTICS_KEPT = (
    "PostgreSQL's statistics keep samples of deleted surveys, because {role} does not own this "
    'database. As superuser: ALTER DATABASE "{database}" OWNER TO "{role}";'
)


class PurgePostponed(Exception):
    """The database is too busy, or a transaction may still read deleted rows."""


def purge_is_due() -> bool:
    """Return whether the last purge was long ago and newer batches, discards or deletions exist."""
    done = Upkeep.objects.filter(job=Upkeep.Job.PURGE).first()
    if done is None:
        return any(_newest().values())
    elapsed = timezone.now() - done.ended_at
    # `elapsed` is negative if the clock was set back, which must not postpone a purge.
    if timedelta(0) <= elapsed < timedelta(seconds=settings.PURGE_SECONDS):
        return False
    return any(number > done.found.get(name, 0) for name, number in _newest().items())


def _newest() -> dict[str, int]:
    """Return the newest batch and discard whose raw reports are gone, and the newest deletion."""
    return {
        "batch": Batch.every.aggregate(newest=Max("pk"))["newest"] or 0,
        "discard": Discard.objects.aggregate(newest=Max("pk"))["newest"] or 0,
        "deletion": DeletedWave.objects.aggregate(newest=Max("pk"))["newest"] or 0,
    }


def _reached_before() -> dict[str, Any]:
    done = Upkeep.objects.filter(job=Upkeep.Job.PURGE).first()
    reached: dict[str, Any] = done.found if done else {}
    return reached


def purge_traces() -> None:
    """Erase all traces that can be erased; store the progress and sentences about what remains.

    Call this outside of transactions. A purge that cannot run now stays due.
    """
    purge = _purge_postgresql if connection.vendor == "postgresql" else _purge_sqlite
    try:
        reached, left = purge()
    except PurgePostponed as reason:
        logger.info("purging is postponed to the next sweep: %s", reason)
        return
    Upkeep.objects.update_or_create(
        job=Upkeep.Job.PURGE,
        defaults={"ended_at": timezone.now(), "found": {**reached, "left": left}},
    )


def _purge_postgresql() -> tuple[dict[str, int], list[str]]:
    reached, before = _rewrite_raw_reports(), _reached_before().get("deletion", 0)
    with suppress(PurgePostponed):  # the next purge tries again
        _rewrite("aggregator_duework")  # deleted rows say when earlier batches became due
    if reached["deletion"] > before:
        try:
            _rewrite_tables_of_surveys()
        except PurgePostponed as reason:
            # The next purge tries again. The log files must not wait, because they hold sealed
            # reports.
            logger.info("purging a deleted survey is postponed: %s", reason)
            reached["deletion"] = before
    return reached, [*_drop_used_log_files(), *_find_kept_statistics()]


def _rewrite_raw_reports() -> dict[str, int]:
    """Rewrite waiting reports to new files, ordered by random id and without deleted rows.

    VACUUM alone frees the space of a deleted row but leaves its bytes there.
    """
    if _is_long("aggregator_raw_report"):
        raise PurgePostponed("too many raw reports wait to be sealed")
    with _locked("aggregator_raw_report") as cursor:
        # Sealing deletes reports, inserts the batch and commits. While this lock is held, no
        # sealing is in progress, so the batches and discards found here cover all deleted reports.
        reached = _newest()
        _refuse_if_deleted_rows_are_in_sight(cursor)
        cursor.execute("CLUSTER aggregator_raw_report USING aggregator_raw_report_pkey")
    return reached


def _rewrite_tables_of_surveys() -> None:
    """Rewrite the tables that held a deleted survey, one after another.

    Deleted spent ids, which no row connects with other data, stay in the file of a long table.
    """
    tables = [name for name in TABLES_OF_SURVEYS if name != SPENT_IDS or not _is_long(name)]
    for table in tables:
        _rewrite(table)
    _rewrite_statistics()


def _rewrite(table: str) -> None:
    with _locked(table) as cursor:
        cursor.execute(f"CLUSTER {table} USING {table}_pkey")
        # The statistics contain samples of rows; this replaces samples from deleted rows.
        cursor.execute(f"ANALYZE {table}")


def _rewrite_statistics() -> None:
    """Rewrite PostgreSQL's statistics without old samples. The database's owner may do this."""
    with _no_long_waits("pg_statistic"), connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = {LOCK_MS}")
        try:
            cursor.execute("VACUUM (FULL) pg_catalog.pg_statistic")
        finally:
            cursor.execute("RESET lock_timeout")


def _find_kept_statistics() -> list[str]:
    """Return remedies if a survey was deleted and its samples could not be overwritten."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT current_user, datname, pg_has_role(datdba, 'USAGE') FROM pg_database
            WHERE datname = current_database()
            """
        )
        role, database, is_owner = cursor.fetchone()
    if is_owner or not DeletedWave.objects.exists():
        return []
    return [STATISTICS_KEPT.format(role=role, database=database)]


@contextmanager
def _locked(table: str) -> Iterator[CursorWrapper]:
    """Lock a table or postpone the purge, as other processes wait while we wait for the lock."""
    with (
        _no_long_waits(table),
        transaction.atomic(durable=True),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"SET LOCAL lock_timeout = {LOCK_MS}")
        cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield cursor


@contextmanager
def _no_long_waits(table: str) -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) == LOCK_NOT_AVAILABLE:
            raise PurgePostponed(f"{table} is in use") from None
        raise


def _is_long(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) FROM (SELECT FROM {table} LIMIT %s) AS counted",  # noqa: S608
            [MOST_WAITING + 1],
        )
        return bool(cursor.fetchone()[0] > MOST_WAITING)


def _refuse_if_deleted_rows_are_in_sight(cursor: CursorWrapper) -> None:
    """Postpone the purge if an earlier transaction may read deleted rows; CLUSTER would copy them.

    Sealing inserts its batch in the transaction that deletes the reports, so the batch shows the
    deletion's age. An earlier transaction may be a backup or a query on a standby.
    """
    reached = _reached_before()
    cursor.execute(
        """
        WITH deletion AS (
            SELECT xmin FROM aggregator_batch WHERE id > %s
            UNION ALL SELECT xmin FROM aggregator_discard WHERE id > %s
            UNION ALL SELECT xmin FROM surveys_deleted_wave WHERE id > %s
        ), reader AS (
            SELECT greatest(age(backend_xmin), age(backend_xid)) AS age FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND coalesce(datname = current_database(), true)
            UNION ALL SELECT age(transaction) FROM pg_prepared_xacts
            UNION ALL SELECT age(xmin) FROM pg_replication_slots
        )
        SELECT coalesce(
            (SELECT max(age) FROM reader) >= (SELECT min(age(xmin)) FROM deletion), false)
        """,
        [reached.get(name, 0) for name in ("batch", "discard", "deletion")],
    )
    if cursor.fetchone()[0]:
        raise PurgePostponed("an earlier transaction may still read deleted rows")


def _drop_used_log_files() -> list[str]:
    """Start a new file of the write-ahead log, and let a checkpoint remove the earlier ones."""
    may = read_rights()
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, current_setting('wal_recycle')::bool")
        role, recycles = cursor.fetchone()
        used = _list_log_files(cursor) if may["pg_ls_waldir"] else set()
        if may["pg_switch_wal"]:
            cursor.execute("SELECT pg_switch_wal()")
        if may["pg_checkpoint"]:
            cursor.execute("CHECKPOINT")
        kept = used & _list_log_files(cursor) if all(may.values()) else ()
    left = {
        NOT_SWITCHED.format(role=role): not may["pg_switch_wal"],
        NO_CHECKPOINT.format(role=role): not may["pg_checkpoint"],
        RECYCLED: recycles,
        FILES_KEPT.format(count=len(kept)): bool(kept),
    }
    return [sentence for sentence, applies in left.items() if applies]


def read_rights() -> dict[str, bool]:
    """Return which functions and roles needed for purging have been granted to Murmur's role."""
    names = ("pg_switch_wal", "pg_ls_waldir", "pg_checkpoint")
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT has_function_privilege('pg_switch_wal()', 'EXECUTE'),
                   has_function_privilege('pg_ls_waldir()', 'EXECUTE'),
                   CASE WHEN to_regrole('pg_checkpoint') IS NULL
                        THEN current_setting('is_superuser')::bool
                        ELSE pg_has_role('pg_checkpoint', 'USAGE') END
            """
        )
        return dict(zip(names, cursor.fetchone(), strict=True))


def _list_log_files(cursor: CursorWrapper) -> set[str]:
    """Return the files of the write-ahead log that hold content; later ones are empty."""
    cursor.execute(
        """
        SELECT name FROM pg_ls_waldir()
        WHERE name ~ '^[0-9A-F]{24}$' AND name <= pg_walfile_name(pg_current_wal_lsn())
        """
    )
    return {name for (name,) in cursor.fetchall()}


def _purge_sqlite() -> tuple[dict[str, int], list[str]]:
    """Move the write-ahead log into the database file and truncate it.

    In the file itself, `secure_delete` has overwritten deleted rows.
    """
    reached = _newest()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        (patience,) = cursor.fetchone()
        cursor.execute(f"PRAGMA busy_timeout = {LOCK_MS}")
        try:
            for _ in range(CHECKPOINT_TRIES):
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                (busy, _, _) = cursor.fetchone()
                if not busy:
                    return reached, []
                time.sleep(LOCK_MS / 1000)
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {patience}")
    raise PurgePostponed("the database is constantly being read or written")
