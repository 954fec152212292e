"""The privacy checks find nothing with the documented settings, and report each wrong one.

They are Django system checks; most tests use `manage.py privacy_check`, which runs them.
"""

from __future__ import annotations

import gc
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
import redis
from django.core import checks
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import Settings
from pytest_django.plugin import DjangoDbBlocker

from aggregator.batches.sealing import seal_next_batch
from aggregator.models import Upkeep
from aggregator.upkeep.checks import registry, sqlite, stored
from aggregator.upkeep.checks.postgresql import (
    POSTGRESQL_SETTINGS,
    RECOMMENDED_POSTGRESQL,
    judge_connection,
    judge_preloaded_libraries,
    judge_replication_slots,
    judge_settings,
)
from aggregator.upkeep.checks.redis_servers import judge_version
from aggregator.upkeep.purging import purge_traces
from config.settings import DATABASES as OWN_DATABASES
from scripts.attacks.linker.server import ROLE, Server, django_on, migrate, running_server
from tests.support.servers import running_redis
from tests.support.waves import make_wave, send_many

pytestmark = pytest.mark.django_db(transaction=True)
LIBRARIES = "auto_explain, pg_stat_statements"
ROWS = [bytes([number & 1, number >> 1 & 1, number >> 2 & 1]) for number in range(30)]


def check() -> tuple[int, list[str]]:
    """Return the exit code and the lines printed."""
    out = StringIO()
    try:
        call_command("privacy_check", stdout=out)
    except CommandError as error:
        return error.returncode, out.getvalue().splitlines()
    return 0, out.getvalue().splitlines()


def failures() -> list[str]:
    code, lines = check()
    failed = [line for line in lines if line.startswith("FAIL")]
    assert code == (1 if failed else 0)
    for line in lines:
        assert re.match(r"(OK|UNSURE|FAIL|CANNOT TELL|NOTE) +\S", line)
        assert line.startswith(("OK", "UNSURE")) or re.search(
            r" \(aggregator\.[EWI]\d{3}\) Remedy: \S", line
        )
    unsure = any(line.startswith("CANNOT TELL") for line in lines)
    verdict = [line.split()[0] for line in lines if line.startswith(("OK", "UNSURE"))]
    assert verdict == ([] if failed else ["UNSURE" if unsure else "OK"])
    return failed


def assert_only_failure(subject: str, remedy: str) -> None:
    failed = failures()
    assert len(failed) == 1, failed
    assert failed[0].removeprefix("FAIL").strip().startswith(subject)
    assert remedy in failed[0].partition(" Remedy: ")[2]


@pytest.fixture(scope="module")
def redis_urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    # The folder is needed because a test turns on append-only files.
    memory_only = ("--save", "", "--dir", str(tmp_path_factory.mktemp("redis")))
    with running_redis(*memory_only) as first, running_redis(*memory_only) as second:
        yield first, second


@pytest.fixture
def good(
    settings: Settings, redis_urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Settings]:
    """Set Murmur's own settings as docs/operations.md recommends."""
    settings.DEBUG = False
    settings.HTTPS = settings.BEHIND_PROXY = True
    settings.ALLOWED_HOSTS = ["murmur.example"]
    settings.REDIS_URL, settings.LIMITER_URL = redis_urls
    monkeypatch.setattr(resource, "getrlimit", lambda _: (0, 0))
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", OWN_DATABASES["default"]["OPTIONS"])
    connection.close()  # the next connection gets these options
    yield settings
    connection.close()


def test_a_good_installation_on_sqlite_passes(good: Settings) -> None:
    code, lines = check()
    assert code == 0, lines
    # Murmur cannot count web processes, so it cannot confirm that everything is right.
    assert [line.split("  ")[0] for line in lines] == ["CANNOT TELL", "UNSURE"]
    assert "one web process" in lines[0]


@pytest.mark.parametrize(
    ("name", "value", "subject", "remedy"),
    [
        ("DEBUG", True, "DEBUG", "DEBUG=false"),
        ("HTTPS", False, "MURMUR_HTTPS", "MURMUR_HTTPS=true"),
        ("ALLOWED_HOSTS", ["*"], "ALLOWED_HOSTS", "ALLOWED_HOSTS="),
        ("REPORTS_PER_MINUTE", 0, "MURMUR_REPORTS_PER_MINUTE", "MURMUR_REPORTS_PER_MINUTE="),
    ],
)
def test_a_wrong_murmur_setting_is_reported(
    good: Settings, name: str, value: object, subject: str, remedy: str
) -> None:
    setattr(good, name, value)
    assert_only_failure(subject, remedy)


@pytest.mark.parametrize(
    ("product", "version", "is_fine"),
    [
        ("Redis", "6.2.22", False),
        ("Redis", "6.2.23", True),
        ("Redis", "7.0.15", False),  # no release of 7.0 has the fixes
        ("Redis", "7.2.14", False),
        ("Redis", "7.4.10", True),
        ("Redis", "8.2.8", True),
        ("Redis", "8.8.0", False),
        ("Redis", "8.10.0", True),
        ("Redis", "9.0.0-rc1", True),
        ("Redis", "", True),
        ("Valkey", "7.2.14", True),
        ("Valkey", "8.1.1", False),
        ("Valkey", "9.1.1", True),
        ("Valkey", "9.2.0", True),
    ],
)
def test_a_broker_with_known_vulnerabilities_is_a_warning(
    product: str, version: str, is_fine: bool
) -> None:
    found = judge_version("broker", product, version)
    assert [message.id for message in found] == ([] if is_fine else ["aggregator.W042"])


def test_the_embedded_server_has_no_known_vulnerability(redis_urls: tuple[str, str]) -> None:
    with redis.Redis.from_url(redis_urls[0]) as client:
        version = client.info("server")["valkey_version"]
    assert judge_version("broker", "Valkey", version) == []


def test_https_without_a_proxy_cannot_be_judged(good: Settings) -> None:
    good.BEHIND_PROXY = False
    _, lines = check()
    assert any(re.match("CANNOT TELL +MURMUR_BEHIND_PROXY", line) for line in lines)


def test_logging_everything_is_reported(good: Settings, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"):
        assert_only_failure("LOG_LEVEL", "LOG_LEVEL=INFO")


def test_core_dumps_are_reported(good: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert_only_failure("core dumps", "ulimit -c 0")


@pytest.mark.parametrize(
    ("pragma", "subject"),
    [
        ("synchronous = NORMAL", "PRAGMA synchronous"),
        ("secure_delete = OFF", "PRAGMA secure_delete"),
        ("temp_store = FILE", "PRAGMA temp_store"),
    ],
)
def test_a_wrong_pragma_is_reported(good: Settings, pragma: str, subject: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {pragma}")
    assert_only_failure(subject, "config/settings.py")


def test_a_wrong_journal_mode_is_reported() -> None:
    right = {name: accepted[0] for name, (accepted, _) in sqlite.PRAGMAS.items()}
    pragmas = {**right, "journal_mode": "delete"}
    (message,) = sqlite.judge_pragmas(pragmas)
    assert message.id == "aggregator.E030"
    assert message.msg.startswith("PRAGMA journal_mode = delete: ")


def test_files_that_others_can_read_are_reported() -> None:
    # The folder is not in pytest's folder, which other users cannot enter.
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        database, log = folder / "murmur.sqlite3", folder / "murmur.sqlite3-wal"
        for path in (database, log):
            path.touch(mode=0o600)
        assert sqlite.find_open_paths(database) == []
        log.chmod(0o644)
        (message,) = sqlite.judge_open_paths(sqlite.find_open_paths(database))
        assert message.id == "aggregator.E031"
        assert message.msg.startswith(f"{log} has mode 644: ")
        assert message.hint is not None
        subprocess.run(message.hint, shell=True, check=True)
        assert sqlite.find_open_paths(database) == []
        log.chmod(0o644)
        folder.chmod(0o700)
        assert sqlite.find_open_paths(database) == []


@pytest.mark.parametrize(
    ("which", "key", "value", "good_value"),
    [
        ("broker", "maxmemory-policy", "allkeys-lru", "noeviction"),
        ("broker", "save", "60 1", ""),
        ("broker", "appendonly", "yes", "no"),
        ("limiter", "save", "60 1", ""),
        ("limiter", "appendonly", "yes", "no"),
    ],
)
def test_a_wrong_redis_setting_is_reported(
    good: Settings, which: str, key: str, value: str, good_value: str
) -> None:
    url = good.REDIS_URL if which == "broker" else good.LIMITER_URL
    with redis.Redis.from_url(url) as client:
        client.config_set(key, value)
        try:
            assert_only_failure(f"{which}: {key}", f"redis-cli CONFIG SET {key} '{good_value}'")
        finally:
            client.config_set(key, good_value)


def test_one_redis_for_both_purposes_is_reported(good: Settings) -> None:
    good.LIMITER_URL = good.REDIS_URL
    failed = failures()
    assert any(
        "REDIS_URL and LIMITER_URL point to the same Redis" in line and "LIMITER_URL" in line
        for line in failed
    )


def test_a_redis_that_hides_its_settings_cannot_be_judged(good: Settings) -> None:
    with redis.Redis.from_url(good.LIMITER_URL) as client:
        client.execute_command(
            "ACL", "SETUSER", "murmur", "on", ">secret", "~*", "+@all", "-config"
        )
    good.LIMITER_URL = good.LIMITER_URL.replace("//", "//murmur:secret@")
    code, lines = check()
    told = [line for line in lines if " limiter: " in line]
    assert code == 0
    assert len(told) == 2
    assert all(line.startswith("CANNOT TELL") for line in told)


def test_a_redis_that_cannot_be_used_fails_with_the_cause_and_no_other_finding(
    good: Settings,
) -> None:
    good.REDIS_URL = "redis://127.0.0.1:1/0"
    good.LIMITER_URL = good.LIMITER_URL.replace("//", "//murmur:wrong@")
    broker, limiter = failures()
    assert "the broker cannot be used: " in broker
    assert "Connection refused. " in broker
    assert "correct REDIS_URL" in broker
    assert "the limiter cannot be used: invalid username-password" in limiter
    assert [line for line in check()[1] if "CONFIG SET" in line or "same Redis" in line] == []


def test_a_database_that_cannot_be_used_fails_with_the_cause(good: Settings) -> None:
    with django_on("postgresql://murmur:secret@127.0.0.1:1/murmur"):
        assert_only_failure("the database cannot be used: connection failed", "DATABASE_URL")


def seal() -> None:
    # Until it is collected, an unfinished query of an earlier test would hold the write-ahead log.
    gc.unfreeze()
    gc.collect()
    wave = make_wave()
    send_many(wave, ROWS)
    assert seal_next_batch(wave_id=wave.pk) is not None


def test_a_purge_that_never_ran_is_reported(good: Settings) -> None:
    seal()
    assert_only_failure("purge is due; last purge: never", "start beat and a worker")
    purge_traces()
    assert failures() == []


def test_a_late_purge_is_reported(good: Settings) -> None:
    seal()
    purge_traces()
    seal()
    Upkeep.objects.update(ended_at=timezone.now() - timedelta(seconds=100))
    assert failures() == []
    Upkeep.objects.update(ended_at=timezone.now() - timedelta(hours=1))
    assert_only_failure("purge is due; last purge: 3,600 seconds ago", "pg_stat_activity")


def test_traces_left_by_the_last_purge_are_reported(good: Settings) -> None:
    seal()
    purge_traces()
    done = Upkeep.objects.get()
    done.found["left"] = ["Traces remain. GRANT something."]
    done.save()
    (line,) = failures()
    assert "GRANT something." in line


def test_small_batches_are_reported() -> None:
    (message,) = stored.judge_small_batches(below_floor=1, floor=10)
    assert message.id == "aggregator.E052"
    assert stored.judge_small_batches(below_floor=0, floor=10) == []


@pytest.fixture(scope="module")
def postgres_server(django_db_blocker: DjangoDbBlocker) -> Iterator[Server]:
    preload = {"shared_preload_libraries": LIBRARIES, "pg_stat_statements.track_utility": "off"}
    with running_server(RECOMMENDED_POSTGRESQL | preload) as made:
        with django_db_blocker.unblock(), django_on(made.application_url):
            migrate()
        yield made


@pytest.fixture
def postgresql(postgres_server: Server, good: Settings) -> Iterator[Server]:
    with django_on(postgres_server.application_url):
        yield postgres_server


@contextmanager
def altered(server: Server, *statements: str, back: tuple[str, ...]) -> Iterator[None]:
    server.run(*statements, "SELECT pg_reload_conf()")
    connection.close()
    time.sleep(0.1)  # new sessions see the reload after the postmaster has noticed it
    try:
        yield
    finally:
        server.run(*back, "SELECT pg_reload_conf()")
        connection.close()


def follow_remedy(server: Server) -> None:
    """Run the commands that the only failure gives as its remedy."""
    (line,) = failures()
    remedy = line.partition(" Remedy: ")[2]
    server.run(*[statement for statement in remedy.split("; ") if statement])
    connection.close()
    time.sleep(0.1)


def test_the_recommended_settings_pass_on_postgresql(postgresql: Server) -> None:
    code, lines = check()
    assert code == 0, lines
    assert [line for line in lines if not line.startswith("OK")] == []
    # Nothing is found because everything is right, not because nothing was checked.
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, setting FROM pg_settings")
        values = dict(cursor.fetchall())
    assert values.keys() >= {setting.name for setting in POSTGRESQL_SETTINGS}
    assert {name: values[name] for name in RECOMMENDED_POSTGRESQL} == RECOMMENDED_POSTGRESQL
    assert list(judge_settings({})) != []


WRONG = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "log_statement": "mod",
    "log_duration": "on",
    "log_min_duration_statement": "0",
    "log_min_duration_sample": "10",
    "log_transaction_sample_rate": "0.5",
    "log_min_error_statement": "error",
    "log_error_verbosity": "default",
    "log_parameter_max_length": "-1",
    "log_parameter_max_length_on_error": "100",
    "log_statement_stats": "on",
    "log_parser_stats": "on",
    "log_planner_stats": "on",
    "log_executor_stats": "on",
    "log_lock_waits": "on",
    "log_checkpoints": "on",
    "log_autovacuum_min_duration": "0",
    "log_min_messages": "debug1",
    "debug_print_parse": "on",
    "debug_print_rewritten": "on",
    "debug_print_plan": "on",
    "wal_recycle": "on",
    "wal_keep_size": "32",
    "summarize_wal": "on",
    "auto_explain.log_min_duration": "0",
    "pg_stat_statements.track": "all",
    "pg_stat_statements.track_utility": "on",
}
AFTER_RESTART = {"track_commit_timestamp": "on", "archive_mode": "on"}


def test_every_setting_is_tested_with_a_wrong_value() -> None:
    assert {setting.name for setting in POSTGRESQL_SETTINGS} == {*WRONG, *AFTER_RESTART}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_postgresql_setting_is_reported(postgresql: Server, name: str) -> None:
    (good_value,) = [setting.value for setting in POSTGRESQL_SETTINGS if setting.name == name]
    alter = f"ALTER SYSTEM SET {name} = '{WRONG[name]}'"
    with altered(postgresql, alter, back=(f"ALTER SYSTEM RESET {name}",)):
        assert_only_failure(
            f"{name} = {WRONG[name]}",
            f"ALTER SYSTEM SET {name} = '{good_value}'; SELECT pg_reload_conf();",
        )
        follow_remedy(postgresql)
        assert failures() == []


def test_remedies_for_settings_that_need_a_restart_say_so(postgresql: Server) -> None:
    postgresql.run(*(f"ALTER SYSTEM SET {name} = {value}" for name, value in AFTER_RESTART.items()))
    connection.close()
    postgresql.postgres.stop()
    postgresql.postgres.start()
    try:
        failed = failures()
        assert len(failed) == len(AFTER_RESTART)
        for name in AFTER_RESTART:
            remedy = f"ALTER SYSTEM SET {name} = 'off'; then restart PostgreSQL"
            assert any(line.endswith(remedy) for line in failed)
    finally:
        postgresql.run(*(f"ALTER SYSTEM RESET {name}" for name in AFTER_RESTART))
        connection.close()
        postgresql.postgres.stop()
        postgresql.postgres.start()


def test_a_setting_made_only_for_the_role_counts(postgresql: Server) -> None:
    alter = f"ALTER ROLE {ROLE} SET log_statement = 'all'"
    with altered(postgresql, alter, back=(f"ALTER ROLE {ROLE} RESET log_statement",)):
        assert_only_failure("log_statement = all", "log_statement = 'none'")


@pytest.mark.parametrize(
    ("alter", "back", "subject", "remedy"),
    [
        (
            f"REVOKE pg_checkpoint FROM {ROLE}",
            f"GRANT pg_checkpoint TO {ROLE}",
            "right to pg_checkpoint",
            f'GRANT pg_checkpoint TO "{ROLE}";',
        ),
        (
            f"REVOKE EXECUTE ON FUNCTION pg_switch_wal() FROM {ROLE}",
            f"GRANT EXECUTE ON FUNCTION pg_switch_wal() TO {ROLE}",
            "right to pg_switch_wal",
            f'GRANT EXECUTE ON FUNCTION pg_switch_wal() TO "{ROLE}";',
        ),
        (
            f"ALTER ROLE {ROLE} SUPERUSER",
            f"ALTER ROLE {ROLE} NOSUPERUSER",
            f"role {ROLE} is a superuser",
            "CREATE ROLE",
        ),
        (
            "SELECT pg_create_physical_replication_slot('old', true)",
            "SELECT pg_drop_replication_slot('old')",
            "replication slot old",
            "pg_drop_replication_slot('old')",
        ),
        (
            "ALTER TABLE aggregator_raw_report SET UNLOGGED",
            "ALTER TABLE aggregator_raw_report SET LOGGED",
            "unlogged tables: aggregator_raw_report",
            "ALTER TABLE aggregator_raw_report SET LOGGED;",
        ),
    ],
)
def test_other_faults_of_postgresql_are_reported(
    postgresql: Server, alter: str, back: str, subject: str, remedy: str
) -> None:
    with altered(postgresql, alter, back=(back,)):
        assert_only_failure(subject, remedy)


def test_samples_of_reports_in_the_statistics_are_reported_and_the_remedy_works(
    postgresql: Server,
) -> None:
    send_many(make_wave(), ROWS)
    postgresql.run("ALTER TABLE aggregator_raw_report ALTER symbols SET STATISTICS 100", "ANALYZE")
    (line,) = failures()
    assert "statistics: symbols" in line
    follow_remedy(postgresql)
    assert failures() == []


def test_settings_cannot_be_judged_without_the_rights_to_read_them(postgresql: Server) -> None:
    revoke, grant = f"REVOKE pg_monitor FROM {ROLE}", f"GRANT pg_monitor TO {ROLE}"
    with altered(postgresql, revoke, back=(grant,)):
        code, lines = check()
    unsure = [line for line in lines if line.startswith("CANNOT TELL")]
    assert code == 0
    assert len(unsure) == 2
    assert "shared_preload_libraries" in unsure[0]
    assert "GRANT EXECUTE ON FUNCTION pg_ls_waldir()" in unsure[1]


@pytest.mark.parametrize(
    ("address", "encrypted", "level"),
    [
        (None, False, None),
        ("127.0.0.1", False, None),
        ("::1", False, None),
        ("203.0.113.7", True, None),
        ("10.0.0.5", True, None),
        ("10.0.0.5", False, checks.WARNING),
        ("8.8.8.8", False, checks.ERROR),
    ],
)
def test_an_unencrypted_connection_to_another_machine_fails(
    address: str | None, encrypted: bool, level: int | None
) -> None:
    found = judge_connection(server_address=address, is_encrypted=encrypted)
    assert [message.level for message in found] == ([] if level is None else [level])
    assert all("sslmode=verify-full" in str(message.hint) for message in found)


def test_pgaudit_is_reported_as_a_failure() -> None:
    (message,) = judge_preloaded_libraries("pg_cron,pgaudit")
    assert message.id == "aggregator.E021"


def test_a_standby_in_use_cannot_be_judged() -> None:
    (message,) = judge_replication_slots([("standby", True)])
    assert message.id == "aggregator.W025"


def test_the_checks_read_real_limits() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_CORE)
    found = [
        message.id
        for message in checks.run_checks(tags=[registry.PRIVACY], include_deployment_checks=True)
    ]
    assert ("aggregator.E007" in found) == (soft != 0)


def test_a_silenced_check_is_not_printed(good: Settings) -> None:
    good.DEBUG = True
    assert failures() != []
    good.SILENCED_SYSTEM_CHECKS = ["aggregator.E001"]
    assert failures() == []
