"""One PostgreSQL server for all tests of a process, in which each test has its own database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django.plugin import DjangoDbBlocker

from scripts.attacks.linker.server import Server, django_on, migrate
from scripts.stack.postgres import Postgres, running_postgres


@pytest.fixture(scope="session")
def postgres(django_db_blocker: DjangoDbBlocker) -> Iterator[Postgres]:
    """Run a server whose new databases have all tables: they are copies of one."""
    # A server that a test kills is its own, so this one need not survive a power cut.
    with running_postgres(settings={"fsync": "off"}) as server:
        first = Server(server)
        with django_db_blocker.unblock(), django_on(first.application_url):
            migrate()
        server.template = first.name
        yield server


@pytest.fixture
def postgres_server(postgres: Postgres) -> Server:
    """Return a new database of that server, with all tables and no rows."""
    return Server(postgres)
