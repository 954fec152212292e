"""A wave that is closed while reports arrive and batches are sealed, on PostgreSQL."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from scripts.attacks.fuzz.draws import Survey
from scripts.attacks.fuzz.target import SWEEP, Target, post, running_intake, wait_for
from scripts.stack.postgres import Postgres

CLOSE = """
from surveys.models import Wave
from surveys.lifecycle.services import close_wave
wave = Wave.objects.get(manifest_hash=bytes.fromhex({manifest!r}))
close_wave(wave_id=wave.pk, ending=Wave.Ending.OWNER)
"""
# Closes the wave, and does not commit until the file exists.
CLOSE_AND_WAIT = """
import time
from pathlib import Path
from django.db import transaction
with transaction.atomic():
    {close}
    deadline = time.monotonic() + 10
    while not Path({file!r}).exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    transaction.set_rollback({rollback})
"""
STARTING = 60  # how long a process may need to start on a busy machine
# Numbers of reports, which no test sends twice.
blocks = itertools.count(0, 100)


@pytest.fixture(scope="module")
def target(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    url = postgres.create_database()
    with running_intake(var=tmp_path_factory.mktemp("closing"), database_url=url) as running:
        yield running


def wave_of(target: Target, survey: Survey) -> int:
    ((pk,),) = target.world.query(
        f"SELECT id FROM surveys_wave WHERE manifest_hash = '\\x{survey.manifest_hash.hex()}'"
    )
    return int(pk)


def count(target: Target, table: str, wave: int) -> int:
    ((found,),) = target.world.query(f"SELECT count(*) FROM {table} WHERE wave_id = {wave}")
    return int(found)


def waiting_for_locks(target: Target) -> int:
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    ((waiting,),) = target.world.query(query)
    return int(waiting)


def holds_alone(target: Target, wave: int) -> bool:
    """Return whether a closing transaction holds the lock that report writers share."""
    query = f"""
        SELECT 1 FROM pg_locks
        WHERE locktype = 'advisory' AND objid = {wave} AND mode = 'ExclusiveLock' AND granted
    """
    return target.world.query(query) == [(1,)]


def close(target: Target, survey: Survey) -> None:
    code = CLOSE.format(manifest=survey.manifest_hash.hex())
    target.stack.manage("shell", "-v", "0", "-c", code)


@pytest.mark.parametrize(("ends", "status"), [("commit", 410), ("rollback", 201)])
def test_a_report_to_a_closing_wave_waits_until_the_wave_is_closed(
    target: Target, ends: str, status: int, tmp_path: Path
) -> None:
    survey = target.open_survey()
    wave = wave_of(target, survey)
    body = target.body(next(blocks), survey=survey)
    replies: list[int] = []
    sender = threading.Thread(target=lambda: replies.append(post(target, body).status_code))
    go_on = tmp_path / "go on"
    code = CLOSE_AND_WAIT.format(
        close=CLOSE.format(manifest=survey.manifest_hash.hex()).strip().replace("\n", "\n    "),
        file=str(go_on),
        rollback=ends == "rollback",
    )
    closer = threading.Thread(target=target.stack.manage, args=("shell", "-v", "0", "-c", code))
    closer.start()
    wait_for(lambda: holds_alone(target, wave), seconds=STARTING)
    sender.start()
    wait_for(lambda: waiting_for_locks(target) == 1)
    assert replies == []
    go_on.touch()
    for thread in (closer, sender):
        thread.join(20)
    assert replies == [status]
    assert count(target, "aggregator_spent_id", wave) == (status == 201)


@pytest.mark.long
def test_closing_waits_for_a_sealer_and_delays_no_upload(target: Target) -> None:
    survey = target.open_survey()
    wave = wave_of(target, survey)
    first = next(blocks)
    bodies = [target.body(first + number, survey=survey) for number in range(6)]
    closer = threading.Thread(target=close, args=(target, survey))
    with psycopg.connect(target.world.database_url) as sealer:
        sealer.execute("SELECT FROM surveys_wave WHERE id = %s FOR NO KEY UPDATE", [wave])
        closer.start()
        wait_for(lambda: waiting_for_locks(target) == 1, seconds=STARTING)
        with target.client(timeout=5) as client:
            for body in bodies[:5]:
                assert client.post("/api/reports", content=body).status_code == 201
        assert waiting_for_locks(target) == 1
        sealer.rollback()
    closer.join(20)
    assert not closer.is_alive()
    assert post(target, bodies[5]).status_code == 410
    assert count(target, "aggregator_raw_report", wave) == 5


@pytest.mark.long
def test_a_wave_closed_between_check_and_commit_counts_what_was_checked(
    target: Target,
) -> None:
    survey = target.open_survey()
    wave = wave_of(target, survey)
    first = next(blocks)
    body = target.body(first, survey=survey)
    replies: list[int] = []
    sender = threading.Thread(target=lambda: replies.append(post(target, body).status_code))
    closer = threading.Thread(target=close, args=(target, survey))
    with psycopg.connect(target.world.database_url) as other:
        # The report found its wave open, and waits to find out whether its id is new.
        other.execute(
            "INSERT INTO aggregator_spent_id (id, wave_id) VALUES (%s, %s)",
            [first.to_bytes(32, "big"), wave],
        )
        sender.start()
        wait_for(lambda: waiting_for_locks(target) == 1)
        closer.start()
        # Closing waits for the report.
        wait_for(lambda: waiting_for_locks(target) == 2, seconds=STARTING)
        assert count(target, "aggregator_raw_report", wave) == 0
        other.rollback()
    for thread in (sender, closer):
        thread.join(20)
    assert replies == [201]
    assert count(target, "aggregator_raw_report", wave) == 1
    assert post(target, body).status_code == 200
    assert post(target, target.body(first + 1, survey=survey)).status_code == 410


@pytest.mark.long
def test_a_replay_after_sealing_is_answered_200_and_not_counted_again(
    target: Target,
) -> None:
    survey = target.open_survey(minimum_batch=10, display_minimum=10)
    wave = wave_of(target, survey)
    first = next(blocks)
    bodies = [target.body(first + number, survey=survey) for number in range(25)]
    assert {post(target, body).status_code for body in bodies} == {201}
    close(target, survey)
    target.stack.manage("shell", "-v", "0", "-c", SWEEP)
    assert {post(target, body).status_code for body in bodies} == {200}
    sealed = target.world.query(f"SELECT size FROM aggregator_batch WHERE wave_id = {wave}")
    assert sealed == [(25,)]
    assert count(target, "aggregator_raw_report", wave) == 0
