"""Sealing takes exactly the rows it chose, however PostgreSQL plans the statement."""

from __future__ import annotations

import pytest
from django.db import connection

from aggregator.batches.sealing import seal_next_batch
from aggregator.models import RawReport
from scripts.attacks.linker.server import Server, django_on
from tests.support.waves import make_wave, send, send_many

pytestmark = pytest.mark.django_db(transaction=True)
# If these ways to join are turned off, PostgreSQL repeats a subquery for each row.
WAYS_TO_JOIN = ("hashjoin", "mergejoin", "hashagg", "sort", "material", "memoize")


def test_a_plan_that_repeats_the_subquery_takes_no_more_rows(postgres_server: Server) -> None:
    with django_on(postgres_server.application_url):
        wave = make_wave()
        send_many(wave, [b"\0\1\0"] * 60)
        with connection.cursor() as cursor:
            for way in WAYS_TO_JOIN:
                cursor.execute(f"SET enable_{way} = off")
        batch = seal_next_batch(wave_id=wave.pk)
        assert batch is not None
        assert (batch.size, RawReport.objects.count()) == (50, 10)


def test_who_waits_is_chance_and_drawn_again_for_each_batch(postgres_server: Server) -> None:
    """By chance, this fails once in 75 billion runs, the number of ways to choose 10 of 60."""
    waiting = []
    with django_on(postgres_server.application_url):
        for first in (0, 60):
            wave = make_wave()
            for number in range(first, first + 60):
                send(wave, b"\0\1\0", report_id=number.to_bytes(32, "big"))
            assert seal_next_batch(wave_id=wave.pk) is not None
            ids = RawReport.objects.filter(wave=wave).values_list("pk", flat=True)
            waiting.append({int.from_bytes(pk, "big") - first for pk in ids})
    assert [len(numbers) for numbers in waiting] == [10, 10]
    assert waiting[0] != waiting[1]
    assert set(range(50, 60)) not in waiting  # an earlier version always left the highest ids
