"""Servers from wheels: one Redis for each test, and one PostgreSQL for all tests in a process."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis
from pytest_django.plugin import DjangoDbBlocker

from scripts.attacks.linker.server import Server, django_on, migrate
from scripts.stack.postgres import Postgres, running_postgres
from scripts.stack.stack import free_port, valkey_binary


@contextmanager
def running_redis(*options: str) -> Iterator[str]:
    """Start a server with these options on a free port; return its address."""
    port = free_port()
    process = subprocess.Popen(
        [str(valkey_binary()), "--port", str(port), "--bind", "127.0.0.1", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=tempfile.gettempdir(),
    )
    url = f"redis://127.0.0.1:{port}/0"
    try:
        with redis.Redis.from_url(url) as client:
            for _ in range(100):
                try:
                    client.ping()
                    break
                except redis.ConnectionError:
                    time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=10)


@pytest.fixture(scope="session")
def postgres(django_db_blocker: DjangoDbBlocker) -> Iterator[Postgres]:
    """Run a server whose new databases have all tables, because they are copies of a template."""
    # Tests that kill a server start their own, so the shared one need not survive a power cut.
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
