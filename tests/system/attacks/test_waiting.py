"""Chance decides who waits in an open survey, as successive dumps show; an old rule is detected."""

from __future__ import annotations

import random
from contextlib import nullcontext
from unittest import mock

import pytest
from django.db import connection

from aggregator.batches.sealing import seal_next_batch
from aggregator.models import RawReport
from scripts.attacks.linker.server import django_on
from scripts.attacks.linker.waiting import Sealing, find_patterns
from scripts.attacks.researcher.ground import ID_BYTES
from surveys.models import Wave
from tests.support.waves import make_wave

pytestmark = pytest.mark.django_db(transaction=True)
SEED = 19791017
ROUNDS, K = 100, 20
# The chance that a correct build fails a test, divided among the properties that it compares.
ACCEPT = 1e-6
LOWEST_IDS = """
    DELETE FROM aggregator_raw_report WHERE id IN (
        SELECT id FROM aggregator_raw_report WHERE wave_id = %s ORDER BY id LIMIT %s)
    RETURNING symbols
"""


def take_lowest_ids(*, wave_id: int, size: int) -> list[bytes]:
    """Take reports by the old rule: the order of ids decided who waits."""
    with connection.cursor() as cursor:
        cursor.execute(LOWEST_IDS, [wave_id, size])
        return [bytes(symbols) for (symbols,) in cursor.fetchall()]


def read_waiting(wave: Wave) -> frozenset[bytes]:
    ids = RawReport.objects.filter(wave=wave).values_list("id", flat=True)
    return frozenset(bytes(name) for name in ids)


def seal_again_and_again(wave: Wave) -> list[Sealing]:
    """Let different numbers of reports arrive, seal, and dump what waits before and after."""
    generator = random.Random(SEED)
    waiting: list[bytes] = []
    sealings = []
    for _ in range(ROUNDS):
        come = [generator.randbytes(ID_BYTES) for _ in range(generator.randrange(2 * K, 4 * K))]
        RawReport.objects.bulk_create(
            RawReport(id=name, wave=wave, symbols=b"\0\0\0") for name in come
        )
        waiting += come
        assert read_waiting(wave) == set(waiting)
        assert seal_next_batch(wave_id=wave.pk) is not None
        stayed = read_waiting(wave)
        assert len(stayed) == K
        sealings.append(Sealing(waited=waiting, stayed=stayed))
        waiting = [name for name in waiting if name in stayed]
    return sealings


@pytest.mark.parametrize("vendor", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)])
def test_each_report_stays_with_the_same_chance(
    vendor: str, request: pytest.FixtureRequest
) -> None:
    is_sqlite = vendor == "sqlite"
    server = None if is_sqlite else request.getfixturevalue("postgres_server")
    with django_on(server.application_url) if server else nullcontext():
        patterns = find_patterns(
            seal_again_and_again(make_wave(minimum_batch=K, display_minimum=K))
        )
    print(patterns)
    assert min(patterns.values()) > ACCEPT / len(patterns)


def test_a_rule_that_keeps_the_highest_ids_is_detected() -> None:
    wave = make_wave(minimum_batch=K, display_minimum=K)
    with mock.patch("aggregator.batches.sealing._take_raw_reports", take_lowest_ids):
        patterns = find_patterns(seal_again_and_again(wave))
    print(patterns)
    assert patterns["the id"] < ACCEPT
    assert patterns["having stayed before"] < ACCEPT
    # The ids are random, so this rule alone does not prefer early or late reports.
    assert patterns.keys() == {"the id", "the order of arrival", "having stayed before"}
