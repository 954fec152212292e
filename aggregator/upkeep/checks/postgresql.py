"""The settings that keep a PostgreSQL server from revealing who sent which report, and when.

The reasons are in docs/decisions/0013-erasing-traces.md. The functions that take values are
pure; `check_postgresql` reads the values from the server.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.checks import CheckMessage
from django.db import connection

from aggregator.upkeep.checks import messages
from aggregator.upkeep.checks.messages import judge
from aggregator.upkeep.purging import read_rights


@dataclass(frozen=True, kw_only=True)
class Setting:
    name: str
    value: str
    meaning: str  # the effect of any other value
    accepted: tuple[str, ...] = ()
    # True for settings that exist only while their extension is loaded, or in newer servers.
    extension: bool = False


_LOST = "a crash loses acknowledged reports."
_LOGGED = "the server's log shows when reports arrived, and may quote them."
_DATED = "erasing requests a checkpoint after sealing, so the server's log dates every batch."
_KEPT = "files of the write-ahead log outlive sealing and hold reports in order of arrival."
POSTGRESQL_SETTINGS = (
    Setting(name="fsync", value="on", meaning=_LOST),
    Setting(name="full_page_writes", value="on", meaning=_LOST),
    Setting(
        name="synchronous_commit",
        value="on",
        accepted=("local", "remote_write", "remote_apply"),
        meaning=_LOST,
    ),
    Setting(name="autovacuum", value="on", meaning="tables grow until the server stops."),
    Setting(
        name="track_commit_timestamp",
        value="off",
        meaning="the server keeps the time of every commit, and therefore of every report.",
    ),
    Setting(name="log_statement", value="none", accepted=("ddl",), meaning=_LOGGED),
    Setting(name="log_duration", value="off", meaning=_LOGGED),
    Setting(name="log_min_duration_statement", value="-1", meaning=_LOGGED),
    Setting(name="log_min_duration_sample", value="-1", meaning=_LOGGED),
    Setting(name="log_transaction_sample_rate", value="0", meaning=_LOGGED),
    Setting(
        name="log_min_error_statement",
        value="panic",
        meaning="every statement that fails is logged with the time.",
    ),
    Setting(
        name="log_error_verbosity",
        value="terse",
        meaning="the log of an error quotes the row, which may be a report.",
    ),
    Setting(name="log_parameter_max_length", value="0", meaning=_LOGGED),
    Setting(name="log_parameter_max_length_on_error", value="0", meaning=_LOGGED),
    Setting(name="log_statement_stats", value="off", meaning=_LOGGED),
    Setting(name="log_parser_stats", value="off", meaning=_LOGGED),
    Setting(name="log_planner_stats", value="off", meaning=_LOGGED),
    Setting(name="log_executor_stats", value="off", meaning=_LOGGED),
    Setting(name="log_lock_waits", value="off", meaning=_LOGGED),
    Setting(
        name="log_min_messages",
        value="warning",
        accepted=("info", "notice", "error", "log", "fatal", "panic"),
        meaning=_LOGGED,
    ),
    Setting(name="log_checkpoints", value="off", meaning=_DATED),
    Setting(
        name="log_autovacuum_min_duration",
        value="-1",
        accepted=("600000",),  # ten minutes, the default of newer servers
        meaning="the server's log shows when reports were sealed, and how many.",
    ),
    Setting(name="debug_print_parse", value="off", meaning=_LOGGED),
    Setting(name="debug_print_rewritten", value="off", meaning=_LOGGED),
    Setting(name="debug_print_plan", value="off", meaning=_LOGGED),
    Setting(
        name="archive_mode",
        value="off",
        meaning="the archive keeps every report, in order of arrival, for as long as it exists.",
    ),
    Setting(name="wal_recycle", value="off", meaning=_KEPT),
    Setting(name="wal_keep_size", value="0", meaning=_KEPT),
    Setting(
        name="summarize_wal",
        value="off",
        meaning="each erasing leaves a file that dates its batch, for ten days.",
        extension=True,
    ),
    Setting(name="auto_explain.log_min_duration", value="-1", meaning=_LOGGED, extension=True),
    Setting(
        name="pg_stat_statements.track",
        value="none",
        accepted=("top",),
        meaning="statements are collected from more places than needed.",
        extension=True,
    ),
    Setting(
        name="pg_stat_statements.track_utility",
        value="off",
        meaning="statements such as ALTER ROLE are collected exactly as they were typed.",
        extension=True,
    ),
)
# Settings for postgresql.conf. Tests use them, and compare the configuration in deploy with them.
RECOMMENDED_POSTGRESQL = {
    setting.name: setting.value for setting in POSTGRESQL_SETTINGS if not setting.extension
}


def judge_settings(
    values: Mapping[str, str], *, need_restart: Iterable[str] = ()
) -> Iterator[CheckMessage]:
    """Judge `values` from pg_settings; `need_restart` names those that a reload does not change."""
    for setting in POSTGRESQL_SETTINGS:
        value = values.get(setting.name)
        if value is None and setting.extension:
            continue
        apply = (
            "then restart PostgreSQL"
            if setting.name in need_restart
            else "SELECT pg_reload_conf();"
        )
        yield from judge(
            messages.SERVER_SETTING,
            f"{setting.name} = {'?' if value is None else value}",
            good=None if value is None else value in (setting.value, *setting.accepted),
            meaning=setting.meaning,
            remedy=f"ALTER SYSTEM SET {setting.name} = '{setting.value}'; {apply}",
        )


def judge_preloaded_libraries(libraries: str | None) -> list[CheckMessage]:
    return judge(
        messages.LIBRARIES,
        f"shared_preload_libraries = {'?' if libraries is None else repr(libraries)}",
        good=None if libraries is None else "pgaudit" not in libraries,
        meaning="pgaudit logs every statement with its time.",
        remedy="ALTER SYSTEM SET shared_preload_libraries to the same list without pgaudit, then "
        "restart PostgreSQL. To let this command see the list, GRANT pg_read_all_settings to its "
        "role.",
    )


def judge_rights(rights: Mapping[str, bool], *, role: str) -> Iterator[CheckMessage]:
    """Judge Murmur's `rights` to pg_switch_wal, pg_checkpoint and pg_ls_waldir."""
    meanings = {
        "pg_switch_wal": "the current file of the write-ahead log keeps sealed reports.",
        "pg_checkpoint": "used files of the write-ahead log stay until the server's next "
        "checkpoint.",
        "pg_ls_waldir": "Murmur cannot verify that used files of the write-ahead log are gone.",
    }
    for name, meaning in meanings.items():
        what = name if name == "pg_checkpoint" else f"EXECUTE ON FUNCTION {name}()"
        yield from judge(
            messages.RIGHTS,
            f"right to {name}",
            good=rights[name] or (None if name == "pg_ls_waldir" else False),
            meaning=meaning,
            remedy=f'GRANT {what} TO "{role}";',
        )


def judge_role(*, role: str, is_superuser: bool) -> list[CheckMessage]:
    return judge(
        messages.ROLE,
        f"role {role}" + (" is a superuser" if is_superuser else ""),
        good=not is_superuser,
        meaning="a flaw in Murmur would expose the whole server, its files and its log settings.",
        remedy="CREATE ROLE murmur LOGIN and make it the owner of the database and its tables "
        "(deploy/postgresql-init.sh), then change DATABASE_URL.",
    )


def judge_connection(*, server_address: str | None, is_encrypted: bool) -> list[CheckMessage]:
    """Judge the connection; `server_address` is None for a socket."""
    address = None if server_address is None else ipaddress.ip_address(server_address)
    good: bool | None = True
    if address is not None and not address.is_loopback and not is_encrypted:
        good = None if address.is_private else False
    return judge(
        messages.CONNECTION,
        f"connection to {server_address or 'a local socket'}, "
        + ("encrypted" if is_encrypted else "not encrypted"),
        good=good,
        meaning="anyone on the network path can read reports as they arrive.",
        remedy="append ?sslmode=verify-full to DATABASE_URL, unless this network stays within "
        "one machine.",
    )


def judge_replication_slots(slots: Sequence[tuple[str, bool]]) -> Iterator[CheckMessage]:
    """Judge replication slots, given as (name, whether the slot is in use)."""
    for name, active in slots:
        if active:
            yield from judge(
                messages.REPLICATION,
                f"replication slot {name}",
                good=None,
                meaning="a standby server keeps its own copy of the write-ahead log.",
                remedy="set wal_recycle = off there too, and a short checkpoint_timeout.",
            )
        else:
            yield from judge(
                messages.REPLICATION,
                f"replication slot {name}, not in use",
                good=False,
                meaning=_KEPT,
                remedy=f"SELECT pg_drop_replication_slot('{name}');",
            )


def judge_unlogged_tables(tables: Sequence[str]) -> list[CheckMessage]:
    return judge(
        messages.UNLOGGED_TABLES,
        f"unlogged tables: {', '.join(tables) or 'none'}",
        good=not tables,
        meaning="a crash empties them, and acknowledged reports are lost.",
        remedy=" ".join(f"ALTER TABLE {table} SET LOGGED;" for table in tables),
    )


def judge_statistics(columns: Sequence[str]) -> list[CheckMessage]:
    """Report an error if the server has sampled any `columns` of raw reports."""
    table = "aggregator_raw_report"
    stop = [f"ALTER TABLE {table} ALTER {column} SET STATISTICS 0;" for column in columns]
    erase = f"DELETE FROM pg_statistic WHERE starelid = '{table}'::regclass;"  # noqa: S608
    return judge(
        messages.STATISTICS,
        f"columns of raw reports in the server's statistics: {', '.join(columns) or 'none'}",
        good=not columns,
        meaning="ANALYZE copied reports into pg_statistic, where sealing does not erase them.",
        remedy=" ".join([*stop, erase, "VACUUM FULL pg_statistic;"]),
    )


def check_postgresql() -> Iterator[CheckMessage]:
    shown = _rows("SELECT name, setting, context FROM pg_settings")
    values = {name: value for name, value, _ in shown}
    yield from judge_settings(
        values, need_restart=[name for name, _, context in shown if context == "postmaster"]
    )
    yield from judge_preloaded_libraries(values.get("shared_preload_libraries"))
    ((role, is_superuser, address, is_encrypted),) = _rows(
        """
        SELECT current_user, current_setting('is_superuser')::bool, host(inet_server_addr()),
               coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)
        """
    )
    yield from judge_rights(read_rights(), role=role)
    yield from judge_role(role=role, is_superuser=is_superuser)
    yield from judge_connection(server_address=address, is_encrypted=is_encrypted)
    slots = _rows("SELECT slot_name, active FROM pg_replication_slots")
    yield from judge_replication_slots([(name, active) for name, active in slots])
    tables = _rows(
        "SELECT oid::regclass::text FROM pg_class WHERE relpersistence = 'u' "
        "AND relkind = 'r' AND relname ~ '^(accounts|surveys|aggregator)_' ORDER BY 1"
    )
    yield from judge_unlogged_tables([table for (table,) in tables])
    columns = _rows(
        "SELECT attname FROM pg_stats WHERE tablename = 'aggregator_raw_report' "
        "AND attname IN ('id', 'symbols') ORDER BY 1"
    )
    yield from judge_statistics([column for (column,) in columns])


def _rows(sql: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())
