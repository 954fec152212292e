"""Sealing takes the rows it chose, however PostgreSQL plans the statement."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection
from pytest_django.plugin import DjangoDbBlocker

from aggregator.batches.sealing import seal_next_batch
from aggregator.models import RawReport
from scripts.attacks.linker.server import Server, django_on, migrate, running_server
from tests.support.waves import make_wave, send_many

pytestmark = pytest.mark.django_db(transaction=True)
# Without these, it compares each row with the result of a subquery that it runs again.
WAYS_TO_JOIN = ("hashjoin", "mergejoin", "hashagg", "sort", "material", "memoize")


@pytest.fixture(scope="module")
def postgres_server(django_db_blocker: DjangoDbBlocker) -> Iterator[Server]:
    with running_server({}) as made:
        with django_db_blocker.unblock(), django_on(made.application_url):
            migrate()
        yield made


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
