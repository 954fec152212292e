"""Each test of releases has its own folder of counters, and may run on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from scripts.attacks.linker.server import Server, django_on


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.RELEASES = tmp_path / "releases"
    return tmp_path / "releases"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, transactional_db: None) -> Iterator[str]:
    """Connect Django to SQLite or to PostgreSQL."""
    if request.param == "sqlite":
        yield "sqlite"
        return
    server: Server = request.getfixturevalue("postgres_server")
    with django_on(server.application_url):
        yield "postgresql"
