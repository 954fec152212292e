"""Purging: sealed reports leave no bytes in the files, and no one has to wait for a purge."""

from __future__ import annotations

import random
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.fixtures import Settings
from pytest_django.plugin import DjangoDbBlocker

from aggregator.batches.sealing import seal_next_batch
from aggregator.intake.store import record_reports
from aggregator.intake.wire import Upload
from aggregator.models import Batch, DueWork, RawReport, SpentId, Upkeep
from aggregator.upkeep import purging
from aggregator.upkeep.checks.postgresql import RECOMMENDED_POSTGRESQL
from aggregator.upkeep.deleting import delete_survey
from aggregator.upkeep.purging import TABLES_OF_SURVEYS, purge_is_due, purge_traces
from scripts.attacks.linker.server import ROLE, Server, django_on, migrate, running_server
from surveys.lifecycle.services import close_wave
from surveys.models import DeletedWave, Question, Survey, Wave
from tests.support.factories import make_survey, open_survey

pytestmark = pytest.mark.django_db(transaction=True)
QUESTIONS = 40


def make_reports(count: int, *, seed: int) -> list[bytes]:
    """Make unique reports, so that each can be found in a file."""
    generator = random.Random(seed)
    return [bytes(generator.getrandbits(1) for _ in range(QUESTIONS)) for _ in range(count)]


def make_wide_wave() -> Wave:
    survey = make_survey(questions=[])
    Question.objects.bulk_create(
        Question(survey=survey, position=number, text=f"Question {number}?", flips=49)
        for number in range(1, QUESTIONS + 1)
    )
    return open_survey(survey=survey)


def send(wave: Wave, reports: list[bytes]) -> None:
    record_reports(
        [
            Upload(
                manifest_hash=bytes(wave.manifest_hash),
                report_id=secrets.token_bytes(32),
                symbols=symbols,
            )
            for symbols in reports
        ]
    )


def seal_some(*, seed: int = 1, wave: Wave | None = None) -> tuple[Wave, list[bytes]]:
    """Send 60 reports and seal 50 of them; return the symbols of the sealed reports."""
    wave = wave or make_wide_wave()
    reports = make_reports(60 - RawReport.objects.count(), seed=seed)
    before = [bytes(row.symbols) for row in RawReport.objects.all()]
    send(wave, reports)
    assert seal_next_batch(wave_id=wave.pk) is not None
    waiting = {bytes(row.symbols) for row in RawReport.objects.all()}
    return wave, [report for report in (*before, *reports) if report not in waiting]


def set_ended(ago: timedelta) -> None:
    Upkeep.objects.filter(job=Upkeep.Job.PURGE).update(ended_at=timezone.now() - ago)


def left() -> list[str]:
    sentences: list[str] = Upkeep.objects.get(job=Upkeep.Job.PURGE).found["left"]
    return sentences


def test_no_purge_is_due_before_anything_was_sealed() -> None:
    wave = make_wide_wave()
    send(wave, make_reports(19, seed=1))
    assert not purge_is_due()


def test_a_batch_makes_a_purge_due_once() -> None:
    wave, _ = seal_some()
    assert purge_is_due()
    purge_traces()
    set_ended(timedelta(hours=1))
    assert not purge_is_due()
    seal_some(seed=2, wave=wave)
    assert purge_is_due()


def test_after_a_purge_the_next_one_waits(settings: Settings) -> None:
    settings.PURGE_SECONDS = 60
    wave, _ = seal_some()
    purge_traces()
    seal_some(seed=2, wave=wave)
    set_ended(timedelta(seconds=50))
    assert not purge_is_due()
    set_ended(timedelta(seconds=61))
    assert purge_is_due()


def test_a_clock_that_was_set_back_does_not_postpone_the_purge() -> None:
    wave, _ = seal_some()
    purge_traces()
    seal_some(seed=2, wave=wave)
    set_ended(timedelta(days=-1))
    assert purge_is_due()


def test_discarded_reports_also_make_a_purge_due() -> None:
    wave = make_wide_wave()
    send(wave, make_reports(9, seed=1))
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    assert seal_next_batch(wave_id=wave.pk) is None
    assert purge_is_due()
    purge_traces()
    set_ended(timedelta(hours=1))
    assert not purge_is_due()


def test_a_deleted_survey_also_makes_a_purge_due() -> None:
    wave, _ = seal_some()
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    purge_traces()
    set_ended(timedelta(hours=1))
    assert not purge_is_due()
    delete_survey(survey=wave.survey)
    assert purge_is_due()
    purge_traces()
    set_ended(timedelta(hours=1))
    assert not purge_is_due()


def sqlite_files() -> dict[str, bytes]:
    path = Path(connection.settings_dict["NAME"])
    return {
        file.name.removeprefix(path.name): file.read_bytes()
        for file in path.parent.glob(f"{path.name}*")
    }


def holders(needles: list[bytes]) -> set[str]:
    files = sqlite_files().items()
    return {name for name, content in files if any(needle in content for needle in needles)}


def test_sqlite_keeps_no_byte_of_a_sealed_report() -> None:
    wave, gone = seal_some()
    assert len(gone) == 50
    assert "-wal" in holders(gone)
    purge_traces()
    assert holders(gone) == set()
    assert left() == []
    # The search works, because it finds the waiting reports, which are still there.
    assert holders([bytes(row.symbols) for row in RawReport.objects.all()]) == {""}
    assert RawReport.objects.filter(wave=wave).count() == 10


def test_a_reader_on_sqlite_postpones_the_purge_without_long_waits() -> None:
    _, gone = seal_some()
    path = connection.settings_dict["NAME"]
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM aggregator_batch").fetchone()
        with CaptureQueriesContext(connection) as queries:
            purge_traces()
        sent = [query["sql"] for query in queries]
        first_try = sent.index("PRAGMA wal_checkpoint(TRUNCATE)")
        assert sent[first_try - 1] == "PRAGMA busy_timeout = 100"
        assert not Upkeep.objects.filter(job=Upkeep.Job.PURGE).exists()
        assert purge_is_due()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        assert cursor.fetchone() == (20_000,)
    purge_traces()
    assert holders(gone) == set()


def fill_and_close(wave: Wave) -> list[bytes]:
    """Close a survey and seal its reports; return contents of its rows to search for."""
    close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
    seal_next_batch(wave_id=wave.pk)
    needles = [bytes(batch.packed) for batch in wave.batches.all()]
    needles += [bytes(spent.id) for spent in SpentId.objects.filter(wave=wave)]
    # PostgreSQL compresses long values, so the manifest is not searched for.
    return [*needles, b"A title that no other survey has", bytes(wave.manifest_hash)]


def delete_keeping_the_hash(wave: Wave, needles: list[bytes]) -> list[bytes]:
    delete_survey(survey=wave.survey)
    return [needle for needle in needles if needle != bytes(wave.manifest_hash)]


def make_titled_wave() -> Wave:
    survey = make_survey(title="A title that no other survey has", questions=[])
    Question.objects.bulk_create(
        Question(survey=survey, position=number, text=f"Question {number}?", flips=49)
        for number in range(1, QUESTIONS + 1)
    )
    return open_survey(survey=survey)


def test_sqlite_keeps_no_byte_of_a_deleted_survey() -> None:
    wave, _ = seal_some(wave=make_titled_wave())
    needles = fill_and_close(wave)
    purge_traces()
    assert all(holders([needle]) == {""} for needle in needles)
    gone = delete_keeping_the_hash(wave, needles)
    purge_traces()
    assert holders(gone) == set()
    assert holders([bytes(DeletedWave.objects.get().manifest_hash)]) == {""}


@pytest.fixture(scope="module")
def postgres_server(django_db_blocker: DjangoDbBlocker) -> Iterator[Server]:
    with running_server(RECOMMENDED_POSTGRESQL) as made:
        with django_db_blocker.unblock(), django_on(made.application_url):
            migrate()
        yield made


@pytest.fixture
def on_postgresql(postgres_server: Server) -> Iterator[Server]:
    with django_on(postgres_server.application_url):
        yield postgres_server
    postgres_server.run(
        "TRUNCATE aggregator_raw_report, aggregator_spent_id, aggregator_batch, "
        "aggregator_upkeep, surveys_deleted_wave CASCADE",
        f"GRANT pg_checkpoint TO {ROLE}",
        f"GRANT EXECUTE ON FUNCTION pg_switch_wal() TO {ROLE}",
        "ALTER SYSTEM RESET ALL",
        "SELECT pg_reload_conf()",
    )


def test_postgresql_keeps_no_byte_of_a_sealed_report(on_postgresql: Server) -> None:
    wave, gone = seal_some()
    on_postgresql.run("ANALYZE", "CHECKPOINT")
    assert on_postgresql.files_with(gone) == {"base", "pg_wal"}
    on_postgresql.run("VACUUM aggregator_raw_report", "CHECKPOINT")
    assert on_postgresql.files_with(gone) == {"base", "pg_wal"}  # vacuum is not enough
    purge_traces()
    assert on_postgresql.files_with(gone) == set()
    assert left() == []
    assert not purge_is_due()
    waiting = [bytes(row.symbols) for row in RawReport.objects.filter(wave=wave)]
    assert len(waiting) == 10
    assert "base" in on_postgresql.files_with(waiting)


def test_postgresql_keeps_no_time_at_which_a_batch_became_due(on_postgresql: Server) -> None:
    moment = timezone.now()
    since_2000 = (moment - datetime(2000, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    needles = [since_2000.to_bytes(8, "little")]
    wave = make_wide_wave()
    send(wave, make_reports(60, seed=1))
    DueWork.objects.create(kind="seal", subject=wave.pk, since=moment)
    seal_next_batch(wave_id=wave.pk)
    DueWork.objects.all().delete()
    on_postgresql.run("CHECKPOINT")
    assert "base" in files_with(on_postgresql, needles)
    purge_traces()
    assert files_with(on_postgresql, needles) == set()


def test_postgresql_keeps_no_byte_of_a_deleted_survey(on_postgresql: Server) -> None:
    wave, _ = seal_some(wave=make_titled_wave())
    needles = fill_and_close(wave)
    other, _ = seal_some(seed=5)
    purge_traces()
    on_postgresql.run("ANALYZE", "CHECKPOINT")
    assert [one for one in needles if "base" not in files_with(on_postgresql, [one])] == []
    set_ended(timedelta(hours=1))
    gone = delete_keeping_the_hash(wave, needles)
    on_postgresql.run("VACUUM", "CHECKPOINT")
    assert "base" in files_with(on_postgresql, gone)  # vacuum is not enough
    assert purge_is_due()
    purge_traces()
    assert files_with(on_postgresql, gone) == set()
    assert left() == []
    assert "base" in files_with(on_postgresql, [bytes(wave.manifest_hash)])
    # The other survey is complete and works.
    assert (other.batches.get().size, SpentId.objects.filter(wave=other).count()) == (50, 60)
    send(other, make_reports(10, seed=7))
    with pytest.raises(DatabaseError, match="a launched wave cannot change"):
        Wave.objects.filter(pk=other.pk).update(manifest=b"{}")


def test_a_reader_of_a_deleted_survey_postpones_the_purge(on_postgresql: Server) -> None:
    wave, _ = seal_some()
    gone = fill_and_close(wave)[:1]
    purge_traces()
    set_ended(timedelta(hours=1))
    with on_postgresql.connect() as other, other.transaction():
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT count(*) FROM surveys_survey")
        delete_survey(survey=wave.survey)
        purge_traces()
        assert purge_is_due()
        assert other.execute("SELECT count(*) FROM aggregator_batch").fetchone() == (2,)
    purge_traces()
    assert not purge_is_due()
    assert files_with(on_postgresql, gone) == set()


def test_many_spent_ids_are_not_rewritten(
    on_postgresql: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    wave, _ = seal_some()
    gone = fill_and_close(wave)[:1]
    seal_some(seed=5)
    purge_traces()
    set_ended(timedelta(hours=1))
    delete_survey(survey=wave.survey)
    monkeypatch.setattr(purging, "MOST_WAITING", 59)  # 60 ids of the other survey remain
    before = read_file_of(on_postgresql, "aggregator_spent_id")
    purge_traces()
    assert not purge_is_due()
    assert files_with(on_postgresql, gone) == set()
    assert read_file_of(on_postgresql, "aggregator_spent_id") == before


def files_with(server: Server, needles: list[bytes]) -> set[str]:
    """Search as Server.files_with does, but for needles of any length."""
    found = set()
    for path in server.postgres.data.rglob("*"):
        with suppress(FileNotFoundError):  # the server has just removed the file
            content = path.read_bytes() if path.is_file() else b""
            if any(needle in content for needle in needles):
                found.add(path.relative_to(server.postgres.data).parts[0])
    return found


def read_file_of(server: Server, table: str) -> str:
    with server.connect() as superuser:
        row = superuser.execute(f"SELECT pg_relation_filepath('{table}')").fetchone()
        assert row is not None
        return str(row[0])


def test_waiting_reports_are_kept_and_stored_in_the_order_of_their_random_ids(
    on_postgresql: Server,
) -> None:
    wave, _ = seal_some()
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, symbols FROM aggregator_raw_report ORDER BY id")
        before = cursor.fetchall()
        purge_traces()
        cursor.execute("SELECT id, symbols FROM aggregator_raw_report ORDER BY ctid")
        assert cursor.fetchall() == before
    send(wave, make_reports(10, seed=3))
    assert seal_next_batch(wave_id=wave.pk) is not None


def test_statistics_contain_no_reports(on_postgresql: Server) -> None:
    seal_some()
    on_postgresql.run("ANALYZE")
    with on_postgresql.connect() as superuser:
        found = superuser.execute(
            "SELECT attname FROM pg_stats WHERE tablename = 'aggregator_raw_report'"
        ).fetchall()
    assert found == [("wave_id",)]


def test_use_of_the_table_postpones_the_purge(on_postgresql: Server) -> None:
    _, gone = seal_some()
    with on_postgresql.connect() as other, other.transaction():
        other.execute("SELECT count(*) FROM aggregator_raw_report")
        purge_traces()  # does not wait for the other transaction
        assert purge_is_due()
    purge_traces()
    assert on_postgresql.files_with(gone) == set()


def test_a_transaction_that_began_before_sealing_postpones_the_purge(on_postgresql: Server) -> None:
    wave = make_wide_wave()
    with on_postgresql.connect() as other, other.transaction():
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT count(*) FROM surveys_wave")
        _, gone = seal_some(wave=wave)
        purge_traces()
        assert purge_is_due()
        # The transaction may still read deleted rows, so a rewritten table would contain them.
        assert other.execute("SELECT count(*) FROM aggregator_batch").fetchone() == (0,)
    purge_traces()
    assert not purge_is_due()
    assert on_postgresql.files_with(gone) == set()


def test_a_reader_that_began_after_sealing_does_not_postpone_the_purge(
    on_postgresql: Server,
) -> None:
    _, gone = seal_some()
    with on_postgresql.connect() as other, other.transaction():
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT count(*) FROM surveys_wave")
        purge_traces()
        assert Upkeep.objects.filter(job=Upkeep.Job.PURGE).exists()
        assert on_postgresql.files_with(gone) == set()


def test_many_waiting_reports_are_not_rewritten(
    on_postgresql: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal_some()
    monkeypatch.setattr(purging, "MOST_WAITING", 9)
    purge_traces()
    assert purge_is_due()
    monkeypatch.setattr(purging, "MOST_WAITING", 10)
    purge_traces()
    assert Upkeep.objects.filter(job=Upkeep.Job.PURGE).exists()


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (f"REVOKE pg_checkpoint FROM {ROLE}", f'GRANT pg_checkpoint TO "{ROLE}"'),
        (
            f"REVOKE EXECUTE ON FUNCTION pg_switch_wal() FROM {ROLE}",
            f'GRANT EXECUTE ON FUNCTION pg_switch_wal() TO "{ROLE}"',
        ),
        ("ALTER SYSTEM SET wal_recycle = on", "ALTER SYSTEM SET wal_recycle = off"),
        ("ALTER SYSTEM SET wal_keep_size = '160MB'", "wal_keep_size"),
        ("SELECT pg_create_physical_replication_slot('old', true)", "a replication slot"),
    ],
)
def test_traces_that_cannot_be_erased_are_noted_with_a_remedy(
    on_postgresql: Server, statement: str, sentence: str
) -> None:
    _, gone = seal_some()
    on_postgresql.run(statement, "SELECT pg_reload_conf()")
    try:
        connection.close()
        purge_traces()
        assert [line for line in left() if sentence in line] == left() != []
        assert on_postgresql.files_with(gone) == {"pg_wal"}
    finally:
        on_postgresql.run("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")
    assert Batch.objects.count() == 1


def test_purging_refuses_to_run_in_a_transaction(on_postgresql: Server) -> None:
    seal_some()
    with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
        purge_traces()


def test_every_table_that_names_a_survey_is_rewritten_after_a_deletion() -> None:
    named = {Survey, Wave, Question}
    tables = {
        model._meta.db_table
        for model in apps.get_models()
        if any(field.related_model in named for field in model._meta.get_fields() if field.concrete)
    }
    tables |= {model._meta.db_table for model in named}
    # These tables name waves, without a foreign key.
    tables |= {DueWork._meta.db_table, Upkeep._meta.db_table}
    assert "surveys_planned_comparison" in tables
    # Waiting reports are rewritten at every purge.
    assert tables - {RawReport._meta.db_table} <= set(TABLES_OF_SURVEYS)
