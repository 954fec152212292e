"""Connects the code under test to a real PostgreSQL, in this process and as an ordinary role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import environ
import psycopg
from django.core.management import call_command
from django.db import connections
from django.db.utils import load_backend

from scripts.attacks.linker.linker import Finder
from scripts.stack.postgres import Postgres

ROLE, PASSWORD = "app", "no secret"
# The same as in deploy/postgresql-init.sh.
GRANTS = (
    f"GRANT pg_checkpoint TO {ROLE}",
    f"GRANT pg_monitor TO {ROLE}",
    f"GRANT EXECUTE ON FUNCTION pg_switch_wal() TO {ROLE}",
)


class Server:
    """One database of a server, as its superuser sees it."""

    def __init__(self, postgres: Postgres) -> None:
        self.postgres = postgres
        self.url = postgres.create_database()
        self.name = name = self.url.rpartition("/")[2]
        self.application_url = f"postgresql://{ROLE}:no%20secret@127.0.0.1:{postgres.port}/{name}"
        with self.connect() as superuser:
            if not superuser.execute(
                "SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]
            ).fetchone():
                superuser.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'".encode())
            superuser.execute(f"ALTER DATABASE {name} OWNER TO {ROLE}".encode())
            superuser.execute(f"GRANT ALL ON SCHEMA public TO {ROLE}".encode())
            for grant in GRANTS:
                superuser.execute(grant.encode())

    def connect(self) -> psycopg.Connection:
        return psycopg.connect(self.url, autocommit=True)

    def run(self, *statements: str) -> None:
        with self.connect() as superuser:
            for statement in statements:
                superuser.execute(statement.encode())

    def files_with(self, reports: list[bytes]) -> set[str]:
        """Return the parts of the data directory that contain any of these reports."""
        finder = Finder(reports)
        found = set()
        for path in self.postgres.data.rglob("*"):
            try:
                content = path.read_bytes() if path.is_file() else b""
            except FileNotFoundError:  # the server has removed it
                continue
            if finder.find(content, base=0, stride=1):
                found.add(path.relative_to(self.postgres.data).parts[0])
        return found


@contextmanager
def running_server(settings: Mapping[str, str]) -> Iterator[Server]:
    """Run a server with these settings in its configuration file; ALTER SYSTEM overrides them."""
    postgres = Postgres()
    try:
        postgres.initialize()
        with (postgres.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        postgres.start()
        yield Server(postgres)
    finally:
        postgres.remove()


@contextmanager
def django_on(url: str) -> Iterator[None]:
    """Connect `django.db.connection` to a different database until the end of the block."""
    own = connections["default"]
    settings = {
        **connections.databases["default"],
        "OPTIONS": {},
        "CONN_HEALTH_CHECKS": True,
        **environ.Env.db_url_config(url),
    }
    other = load_backend(settings["ENGINE"]).DatabaseWrapper(settings, "default")
    connections["default"] = other
    try:
        yield
    finally:
        other.close()
        connections["default"] = own


def migrate() -> None:
    call_command("migrate", "--no-input", "--verbosity", "0")
