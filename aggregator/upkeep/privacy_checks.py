"""What operators must set so that nothing outside the tables tells who sent what, and when.

Pure: each check takes values and returns findings. `manage.py privacy_check` gathers the
values and prints; the reasons are in docs/decisions/0013-erasing-traces.md.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    OK = "OK"
    FAIL = "FAIL"
    CANNOT_TELL = "CANNOT TELL"


@dataclass(frozen=True, kw_only=True)
class Finding:
    verdict: Verdict
    subject: str
    meaning: str = ""
    remedy: str = ""  # a command to type, where there is one

    def __str__(self) -> str:
        line = f"{self.verdict:<11}  {self.subject}"
        if self.verdict is Verdict.OK:
            return line
        return f"{line}: {self.meaning} Remedy: {self.remedy}"


def check(subject: str, *, good: bool | None, meaning: str, remedy: str) -> Finding:
    """`good` is None where it cannot be told."""
    verdicts = {True: Verdict.OK, False: Verdict.FAIL, None: Verdict.CANNOT_TELL}
    return Finding(verdict=verdicts[good], subject=subject, meaning=meaning, remedy=remedy)


# --- settings of servers ------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Setting:
    name: str
    value: str
    meaning: str  # of any other value
    accepted: tuple[str, ...] = ()
    # It exists only while the extension is loaded.
    extension: bool = False


_LOST = "a crash loses acknowledged reports."
_LOGGED = "the server's log tells when reports came, and may quote them."
_KEPT = "files of the write-ahead log outlive sealing, with reports as they came, in order."
POSTGRESQL_SETTINGS = (
    Setting(name="fsync", value="on", meaning=_LOST),
    Setting(name="full_page_writes", value="on", meaning=_LOST),
    Setting(
        name="synchronous_commit",
        value="on",
        accepted=("local", "remote_write", "remote_apply"),
        meaning=_LOST,
    ),
    Setting(
        name="autovacuum", value="on", meaning="tables grow and, in the end, the server stops."
    ),
    Setting(
        name="track_commit_timestamp",
        value="off",
        meaning="the server keeps the moment of every commit, and so of every report.",
    ),
    Setting(name="log_statement", value="none", accepted=("ddl",), meaning=_LOGGED),
    Setting(name="log_duration", value="off", meaning=_LOGGED),
    Setting(name="log_min_duration_statement", value="-1", meaning=_LOGGED),
    Setting(name="log_min_duration_sample", value="-1", meaning=_LOGGED),
    Setting(name="log_transaction_sample_rate", value="0", meaning=_LOGGED),
    Setting(
        name="log_min_error_statement",
        value="panic",
        meaning="a statement that fails is logged, with the time.",
    ),
    Setting(
        name="log_error_verbosity",
        value="terse",
        meaning="the log of an error quotes the row, such as a report.",
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
    Setting(name="debug_print_parse", value="off", meaning=_LOGGED),
    Setting(name="debug_print_rewritten", value="off", meaning=_LOGGED),
    Setting(name="debug_print_plan", value="off", meaning=_LOGGED),
    Setting(
        name="archive_mode",
        value="off",
        meaning="the archive keeps every report as it came, in order, for as long as it lives.",
    ),
    Setting(name="wal_recycle", value="off", meaning=_KEPT),
    Setting(name="wal_keep_size", value="0", meaning=_KEPT),
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
        meaning="statements such as ALTER ROLE are collected as they were typed.",
        extension=True,
    ),
)
# For postgresql.conf; docs/operations.md and the tests take them from here.
RECOMMENDED_POSTGRESQL = {
    setting.name: setting.value for setting in POSTGRESQL_SETTINGS if not setting.extension
}


def check_postgresql_settings(
    values: Mapping[str, str], *, need_restart: Iterable[str] = ()
) -> list[Finding]:
    """`values` as pg_settings shows them; `need_restart` names those that a reload leaves."""
    findings = []
    for setting in POSTGRESQL_SETTINGS:
        value = values.get(setting.name)
        if value is None and setting.extension:
            continue
        good = None if value is None else value in (setting.value, *setting.accepted)
        apply = (
            "then restart PostgreSQL"
            if setting.name in need_restart
            else "SELECT pg_reload_conf();"
        )
        findings.append(
            check(
                f"{setting.name} = {'?' if value is None else value}",
                good=good,
                meaning=setting.meaning,
                remedy=f"ALTER SYSTEM SET {setting.name} = '{setting.value}'; {apply}",
            )
        )
    return findings


def check_preloaded_libraries(libraries: str | None) -> Finding:
    return check(
        f"shared_preload_libraries = {'?' if libraries is None else repr(libraries)}",
        good=None if libraries is None else "pgaudit" not in libraries,
        meaning="pgaudit logs every statement with its time.",
        remedy="ALTER SYSTEM SET shared_preload_libraries to those without pgaudit, then restart "
        "PostgreSQL. To let this program see the list: GRANT pg_read_all_settings to its role.",
    )


def check_postgresql_rights(rights: Mapping[str, bool], *, role: str) -> list[Finding]:
    """`rights` to the functions and roles named as keys: pg_checkpoint, pg_switch_wal, …"""
    meanings = {
        "pg_switch_wal": "the present file of the write-ahead log keeps sealed reports.",
        "pg_checkpoint": "used files of the write-ahead log wait for the server's own checkpoints.",
        "pg_ls_waldir": "nobody verifies that used files of the write-ahead log are gone.",
    }
    findings = []
    for name, meaning in meanings.items():
        what = name if name == "pg_checkpoint" else f"EXECUTE ON FUNCTION {name}()"
        good = rights[name] or (None if name == "pg_ls_waldir" else False)
        remedy = f'GRANT {what} TO "{role}";'
        findings.append(check(f"right to {name}", good=good, meaning=meaning, remedy=remedy))
    return findings


def check_role(*, role: str, is_superuser: bool) -> Finding:
    return check(
        f"role {role}" + (" is a superuser" if is_superuser else ""),
        good=not is_superuser,
        meaning="a flaw in Murmur would open the whole server, its files and its log settings.",
        remedy="CREATE ROLE murmur LOGIN and make it the owner of the database and its tables "
        "(deploy/postgresql-init.sh), then change DATABASE_URL.",
    )


def check_connection(*, server_address: str | None, is_encrypted: bool) -> Finding:
    """`server_address` is None for a socket."""
    address = None if server_address is None else ipaddress.ip_address(server_address)
    good: bool | None = True
    if address is not None and not address.is_loopback and not is_encrypted:
        good = None if address.is_private else False
    return check(
        f"connection to {server_address or 'a local socket'}, "
        + ("encrypted" if is_encrypted else "plain"),
        good=good,
        meaning="who listens on the way reads reports as they come.",
        remedy="append ?sslmode=verify-full to DATABASE_URL, unless this network has no wire "
        "between machines.",
    )


def check_replication_slots(slots: Sequence[tuple[str, bool]]) -> list[Finding]:
    """`slots` as (name, whether it is in use)."""
    if not slots:
        return [check("no replication slot", good=True, meaning="", remedy="")]
    return [
        check(
            f"replication slot {name}" + ("" if active else ", not in use"),
            good=None if active else False,
            meaning="a standby keeps its own copy of the write-ahead log." if active else _KEPT,
            remedy="set wal_recycle = off there too, and a short checkpoint_timeout."
            if active
            else f"SELECT pg_drop_replication_slot('{name}');",
        )
        for name, active in slots
    ]


def check_unlogged_tables(tables: Sequence[str]) -> Finding:
    return check(
        f"unlogged tables: {', '.join(tables) or 'none'}",
        good=not tables,
        meaning="a crash empties them, and acknowledged reports with them.",
        remedy=" ".join(f"ALTER TABLE {table} SET LOGGED;" for table in tables),
    )


def check_statistics(columns: Sequence[str]) -> Finding:
    """`columns` of raw reports of which the server collected samples."""
    table = "aggregator_raw_report"
    stop = [f"ALTER TABLE {table} ALTER {column} SET STATISTICS 0;" for column in columns]
    erase = f"DELETE FROM pg_statistic WHERE starelid = '{table}'::regclass;"  # noqa: S608
    return check(
        f"columns of raw reports in the server's statistics: {', '.join(columns) or 'none'}",
        good=not columns,
        meaning="ANALYZE copied reports into pg_statistic, where sealing does not reach them.",
        remedy=" ".join([*stop, erase, "VACUUM FULL pg_statistic;"]),
    )


# --- SQLite -------------------------------------------------------------------------------------


def check_sqlite(
    pragmas: Mapping[str, str], *, open_paths: Sequence[tuple[str, int]]
) -> list[Finding]:
    """`open_paths` are files and folders that other users of this machine reach, with modes."""
    findings = [
        check(
            f"PRAGMA {name} = {pragmas[name]}",
            good=pragmas[name] in accepted,
            meaning=meaning,
            remedy="run Murmur with its own settings: config/settings.py sets this at every "
            "connection.",
        )
        for name, accepted, meaning in (
            ("journal_mode", ("wal",), "readers and writers keep each other waiting."),
            ("synchronous", ("2", "3"), _LOST),
            ("secure_delete", ("1",), "the file keeps the bytes of deleted reports."),
        )
    ]
    findings += [
        check(
            f"{path} has mode {mode:o}",
            good=False,
            meaning="other users of this machine can read raw reports.",
            remedy=f"chmod go= '{path}'",
        )
        for path, mode in open_paths
    ]
    if not open_paths:
        findings.append(
            check("database files are closed to other users", good=True, meaning="", remedy="")
        )
    findings.append(
        check(
            "one web process",
            good=None,
            meaning="SQLite is for one web process and one worker with concurrency 1.",
            remedy="pgrep -fc uvicorn; for more, give DATABASE_URL a PostgreSQL.",
        )
    )
    return findings


# --- Redis --------------------------------------------------------------------------------------


def check_redis(
    name: str, settings: Mapping[str, str] | None, *, may_persist: bool
) -> list[Finding]:
    """`settings` of the broker or the limiter by CONFIG GET; None where that is not possible."""
    wanted = {"maxmemory-policy": "noeviction"} if may_persist else {"save": "", "appendonly": "no"}
    meaning = (
        "under memory pressure messages vanish, and work waits for the next sweep."
        if may_persist
        else "counters per address reach a disk, with the key that makes them."
    )
    return [
        check(
            f"{name}: {key} = " + ("?" if settings is None else settings.get(key, "?") or '""'),
            good=None if settings is None or key not in settings else settings[key] == value,
            meaning=meaning,
            remedy=f"redis-cli CONFIG SET {key} '{value}', and the same in its redis.conf.",
        )
        for key, value in wanted.items()
    ]


def check_redis_apart(broker: str | None, limiter: str | None) -> Finding:
    """Both as the server's run id and the database's number; None where it did not answer."""
    return check(
        "broker and limiter are two",
        good=None if broker is None or limiter is None else broker != limiter,
        meaning="emptying or persisting one does it to the other.",
        remedy="start a second redis-server and set LIMITER_URL to it.",
    )


# --- Murmur itself ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DjangoSettings:
    debug: bool
    https: bool
    behind_proxy: bool
    allowed_hosts: Sequence[str]
    log_level: str
    reports_per_minute: int


def check_django(given: DjangoSettings) -> list[Finding]:
    return [
        check(
            f"DEBUG = {given.debug}",
            good=not given.debug,
            meaning="error pages show settings, and Django keeps every statement in memory.",
            remedy="export DEBUG=false",
        ),
        check(
            f"MURMUR_HTTPS = {given.https}",
            good=given.https,
            meaning="who listens on the way reads reports and cookies, and changes pages.",
            remedy="export MURMUR_HTTPS=true, behind a proxy that ends TLS.",
        ),
        check(
            f"MURMUR_BEHIND_PROXY = {given.behind_proxy}",
            # HTTPS ends somewhere: nearly always in a proxy, whose address all then share.
            good=True if given.behind_proxy or not given.https else None,
            meaning="behind a proxy all reports seem to come from its address.",
            remedy="export MURMUR_BEHIND_PROXY=true, if a proxy ends TLS and appends to "
            "X-Forwarded-For.",
        ),
        check(
            f"ALLOWED_HOSTS = {','.join(given.allowed_hosts)}",
            good="*" not in given.allowed_hosts,
            meaning="pages are served under names that others choose.",
            remedy="export ALLOWED_HOSTS=the.name.that.people.type",
        ),
        check(
            f"LOG_LEVEL = {given.log_level}",
            good=given.log_level != "DEBUG",
            meaning="logs quote statements, with reports, and requests, with addresses.",
            remedy="export LOG_LEVEL=INFO",
        ),
        check(
            f"MURMUR_REPORTS_PER_MINUTE = {given.reports_per_minute}",
            good=given.reports_per_minute > 0,
            meaning="one address may send any number of invented reports.",
            remedy="export MURMUR_REPORTS_PER_MINUTE=120",
        ),
    ]


def check_purge(*, is_due: bool, seconds_ago: float | None, patience: float) -> Finding:
    """`seconds_ago` since the last purge; None if there was none."""
    when = "never" if seconds_ago is None else f"{seconds_ago:,.0f} seconds ago"
    return check(
        f"last purge: {when}" + (", due" if is_due else ", nothing sealed since"),
        good=not is_due or (seconds_ago is not None and seconds_ago <= patience),
        meaning="traces of sealed reports lie in the database's files.",
        remedy="start beat and a worker; if they run, look for long transactions and backups in "
        "pg_stat_activity.",
    )


def check_left(sentences: Sequence[str]) -> list[Finding]:
    """What the last purge could not erase; each sentence ends with its remedy."""
    return [
        check("the last purge left traces", good=False, meaning=sentence, remedy="as it says.")
        for sentence in sentences
    ]


def check_waves(*, below_floor: int, floor: int) -> Finding:
    return check(
        f"waves and batches with fewer than {floor} reports: {below_floor}",
        good=not below_floor,
        meaning="the database's constraints were removed: small batches show persons.",
        remedy="restore the constraints with manage.py migrate on a new database.",
    )


def check_core_dumps(limit: int) -> Finding:
    return check(
        f"core dumps of this shell's programs: {'off' if limit == 0 else 'on'}",
        good=limit == 0,
        meaning="a crash would write reports from memory to the disk.",
        remedy="ulimit -c 0; LimitCORE=0 in systemd units; ulimits: {core: 0} in compose.",
    )
