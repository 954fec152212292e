"""After 100 kills (kill -9) of any process under load, each acknowledged report counts once.

The seed decides which process is killed; the work in progress decides when. test_storm_controls.py
shows that the same checker catches three builds that are broken on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.attacks.storm.storm import Outcome, Plan, make_storm_world, run_storm
from scripts.stack.postgres import Postgres, running_postgres

KILLS = 100
REPORTS_PER_SECOND = 100
MISSED_SHARE = 0.2


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """Run a server that a test may stop without affecting other tests."""
    with running_postgres() as server:
        yield server


def assert_weathered(outcome: Outcome) -> None:
    print(outcome)
    assert outcome.verdict.is_clean
    assert outcome.surprises == []
    # Only processes with work are killed; a storm that rarely found one would be harmless.
    assert outcome.nemesis.missed.total() <= MISSED_SHARE * len(outcome.kills)
    assert not outcome.recovers_slowly
    # The network really damaged requests in every way that it can.
    assert min(outcome.crowd.fates.values()) > 0
    assert outcome.crowd.replays > 0


@pytest.mark.long
def test_a_hundred_kills_on_postgresql_lose_nothing(own_postgres: Postgres, tmp_path: Path) -> None:
    world = make_storm_world(var=tmp_path, database_url=own_postgres.create_database(), copies=2)
    plan = Plan(kills=KILLS, seed=1, caps=[1000], dates=[60])
    try:
        outcome = run_storm(world, plan, postgres=own_postgres)
        print(world.stack.manage("verify"))
    finally:
        world.stack.stop()
    assert_weathered(outcome)
    assert len(outcome.kills) >= KILLS
    assert {kill.kind for kill in outcome.kills} == {
        *("web", "worker", "leisure", "beat", "broker", "limiter", "postgres"),
    }
    assert outcome.in_open_sealing > 0
    assert outcome.rate >= REPORTS_PER_SECOND


@pytest.mark.long
def test_ten_kills_on_sqlite_lose_nothing(tmp_path: Path) -> None:
    world = make_storm_world(var=tmp_path, database_url="")
    try:
        outcome = run_storm(world, Plan(kills=10, seed=2, rate=300, caps=[1000], owned=1))
        print(world.stack.manage("verify"))
    finally:
        world.stack.stop()
    assert_weathered(outcome)
