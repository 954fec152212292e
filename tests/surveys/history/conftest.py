"""New databases in SQLite and PostgreSQL, migrated but empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from scripts.attacks.linker.server import Server, django_on
from scripts.stack.prepared import copy_empty_database

NewDatabase = Callable[[], AbstractContextManager[None]]


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> NewDatabase:
    """Return a function that connects to a new, empty database each time it is called."""
    made = iter(range(100))

    def connect() -> AbstractContextManager[None]:
        if request.param == "sqlite":
            path = tmp_path / f"{next(made)}.sqlite3"
            copy_empty_database(path)
            return django_on(f"sqlite:///{path}")
        server = Server(request.getfixturevalue("postgres"))
        return django_on(server.application_url)

    return connect


@pytest.fixture
def database(new_database: NewDatabase) -> Iterator[None]:
    with new_database():
        yield
