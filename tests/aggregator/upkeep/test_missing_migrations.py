"""A half-applied upgrade: code that is newer than the database says what to run."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Iterator

import pytest
from celery.signals import worker_ready
from django.core import checks
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from aggregator import tasks
from aggregator.upkeep import missing_migrations
from aggregator.upkeep.checks import registry
from aggregator.upkeep.missing_migrations import (
    describe_missing_migrations,
    report_missing_migrations,
)
from aggregator.views import home

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Act as if a process had just started, but keep the test's connection open."""
    monkeypatch.setattr(connection, "close", lambda: None)
    missing_migrations._complete.clear()
    yield
    missing_migrations._complete.clear()


@pytest.fixture
def half_applied(db: None) -> str:
    """Record the newest migration of `aggregator` as not applied, and return its name."""
    newest = MigrationLoader(None).graph.leaf_nodes("aggregator")[0]
    for app, name in newest, *MigrationLoader(None).disk_migrations[newest].replaces:
        MigrationRecorder(connection).record_unapplied(app, name)
    return ".".join(newest)


def test_a_migrated_database_is_checked_only_once() -> None:
    assert describe_missing_migrations() == ""
    with connection.execute_wrapper(_refuse):
        assert describe_missing_migrations() == ""


def _refuse(*_: object) -> None:
    raise AssertionError("the database was asked again")


def test_readyz_says_what_to_run(half_applied: str) -> None:
    response = Client().get("/readyz")
    detail = json.loads(response.content)["detail"]
    assert response.status_code == 503
    assert detail == missing_migrations.RUN_MIGRATE.format(names=half_applied)
    assert detail.endswith("Run manage.py migrate.")
    assert response["Retry-After"]


def test_readyz_answers_200_as_soon_as_the_database_is_migrated(half_applied: str) -> None:
    assert Client().get("/readyz").status_code == 503
    app, _, name = half_applied.partition(".")
    for one in (app, name), *MigrationLoader(None).disk_migrations[app, name].replaces:
        MigrationRecorder(connection).record_applied(*one)
    assert Client().get("/readyz").status_code == 200


def test_long_lists_are_shortened() -> None:
    MigrationRecorder.Migration.objects.all().delete()
    assert " and " in describe_missing_migrations()
    assert len(describe_missing_migrations()) < 250


@pytest.mark.usefixtures("half_applied")
def test_a_starting_worker_logs_what_to_run(caplog: pytest.LogCaptureFixture) -> None:
    assert tasks.sweep.name  # a worker has imported the tasks
    worker_ready.send(sender=None)
    assert "Run manage.py migrate." in caplog.text


def test_a_starting_web_process_reports_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    from config import asgi

    reported: list[str] = []
    monkeypatch.setattr(
        asgi, "report_missing_migrations", lambda: reported.append(threading.current_thread().name)
    )
    usual = sys.getswitchinterval()
    try:
        asyncio.run(_start_and_stop(asgi.Entry()))
        assert sys.getswitchinterval() == pytest.approx(asgi.SWITCH_SECONDS)
    finally:
        sys.setswitchinterval(usual)
    assert len(reported) == 1
    assert reported[0] != threading.current_thread().name


async def _start_and_stop(entry: object) -> None:
    events = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    async def receive() -> dict[str, str]:
        await asyncio.sleep(0)
        return events.pop(0)

    async def send(_: object) -> None:
        await asyncio.sleep(0)

    assert callable(entry)
    await entry({"type": "lifespan"}, receive, send)


def test_an_unreachable_database_does_not_delay_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> list[str]:
        raise ProgrammingError("out of reach")

    monkeypatch.setattr(missing_migrations, "list_missing_migrations", fail)
    report_missing_migrations()


def test_a_missing_table_gives_503_and_logs_the_remedy(
    half_applied: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def ask(*_: object, **__: object) -> None:
        raise ProgrammingError('relation "surveys_survey" does not exist')

    monkeypatch.setattr(home, "render", ask)
    response = Client(raise_request_exception=False).get("/")
    assert response.status_code == 503
    assert response["Retry-After"]
    assert f"({half_applied}). Run manage.py migrate." in caplog.text


def test_other_database_faults_give_500(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(*_: object, **__: object) -> None:
        raise ProgrammingError("syntax error")

    monkeypatch.setattr(home, "render", ask)
    assert Client(raise_request_exception=False).get("/").status_code == 500


@pytest.mark.usefixtures("half_applied")
def test_the_privacy_checks_report_missing_migrations_and_read_no_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "check_stored_rows", _refuse)
    found = checks.run_checks(
        tags=["database"], include_deployment_checks=True, databases=["default"]
    )
    assert "aggregator.E010" in [message.id for message in found]
    assert registry.check_rows(databases=["default"]) == []


def test_migrations_are_reversed_only_with_an_option() -> None:
    with pytest.raises(CommandError, match=r"reverse \d+ migrations .*aggregator\.0001") as refused:
        call_command("migrate", "aggregator", "zero", verbosity=0)
    assert "restore its backup" in str(refused.value)
    assert missing_migrations.list_missing_migrations() == []
    call_command("migrate", "aggregator", verbosity=0)
    with pytest.raises(CommandError, match="Cannot find"):
        call_command("migrate", "aggregator", "9999", verbosity=0)


def test_a_database_from_before_the_first_migrations_is_refused() -> None:
    replaced = MigrationRecorder.Migration.objects.filter(app="aggregator", name__gte="0015")
    assert replaced.delete()[0]
    with pytest.raises(CommandError, match=missing_migrations.UPGRADES_OLDER):
        call_command("migrate", verbosity=0)
    assert describe_missing_migrations() == missing_migrations.TOO_OLD
    assert Client().get("/readyz").status_code == 503


def test_a_database_with_all_that_the_first_migrations_replace_has_nothing_to_do() -> None:
    first = [
        one
        for one, migration in MigrationLoader(None).disk_migrations.items()
        if migration.replaces
    ]
    recorder = MigrationRecorder(connection)
    for app, name in first:
        recorder.record_unapplied(app, name)
    assert describe_missing_migrations() == ""
    call_command("migrate", verbosity=0)
    assert set(first) <= recorder.applied_migrations().keys()
