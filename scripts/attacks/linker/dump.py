"""Takes a full dump of a running or stopped Murmur, like an intruder with full access.

FOLDER/files contains all files: the database, logs, Redis, temporary files and the output of
pg_dump. FOLDER/tables contains every table as CSV, in its physical order, with hidden columns.
FOLDER/redis contains every key with its value, and the log of slow commands.
"""

from __future__ import annotations

import csv
import shutil
import sqlite3
import subprocess
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import redis
from psycopg import sql

from scripts.attacks.linker.server import Server
from scripts.stack.stack import Stack

HIDDEN = "ctid, xmin, xmax, cmin, cmax, tableoid"


def copy_files(folder: Path, *, stack: Stack, server: Server | None) -> None:
    _copy_tree(stack.var, folder / "files" / "var")
    if server is not None:
        _copy_tree(server.postgres.data, folder / "files" / "postgresql")
        shutil.copy(server.postgres.folder / "log", folder / "files" / "postgresql.log")


def copy_contents(folder: Path, *, stack: Stack, server: Server | None) -> None:
    """Copy the data that the running servers return."""
    (folder / "tables").mkdir()
    if server is None:
        _write_sqlite_tables(stack.var / "murmur.sqlite3", folder / "tables")
    else:
        _write_postgresql_tables(server, folder / "tables")
        dumped = folder / "files" / "pg_dump.sql"
        dumped.parent.mkdir(exist_ok=True)
        subprocess.run(
            [server.postgres.program("pg_dump"), "--dbname", server.url, "--file", str(dumped)],
            check=True,
        )
    (folder / "redis").mkdir()
    for name, url in (("broker", stack.redis_url), ("limiter", stack.limiter_url)):
        (folder / "redis" / name).write_bytes(b"\n".join(_tell_redis(url)))


def _copy_tree(source: Path, target: Path) -> None:
    """Copy the files that exist; a running server may remove some during the copy."""
    for path in source.rglob("*"):
        if path.is_file():
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                shutil.copyfile(path, copy)


def _write_postgresql_tables(server: Server, folder: Path) -> None:
    with server.connect() as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' "
            "AND relnamespace = 'public'::regnamespace"
        ).fetchall()
        for (table,) in tables:
            query = sql.SQL("COPY (SELECT {}, * FROM {}) TO STDOUT (FORMAT csv, HEADER)").format(
                sql.SQL(HIDDEN), sql.Identifier(table)
            )
            with connection.cursor() as cursor, cursor.copy(query) as lines:
                content = b"".join(bytes(line) for line in lines)
            (folder / f"{table}.csv").write_bytes(content)


def _write_sqlite_tables(path: Path, folder: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        for table, created in names.fetchall():
            hidden = "" if created.endswith("WITHOUT ROWID") else "rowid AS hidden, "
            cursor = connection.execute(f'SELECT {hidden}* FROM "{table}"')
            with (folder / f"{table}.csv").open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(column[0] for column in cursor.description)
                for row in cursor:
                    writer.writerow(v.hex() if isinstance(v, bytes) else v for v in row)


def _tell_redis(url: str) -> list[bytes]:
    with redis.Redis.from_url(url) as client:
        told = [repr(client.slowlog_get(1_000)).encode()]
        for key in client.scan_iter(count=1_000):
            told += [key, *_tell_value(client, key)]
        return told


def _tell_value(client: Any, key: bytes) -> list[bytes]:
    kind = client.type(key)
    if kind == b"list":
        return list(client.lrange(key, 0, -1))
    if kind == b"hash":
        return [part for pair in client.hgetall(key).items() for part in pair]
    if kind in (b"set", b"zset"):
        return list(client.smembers(key) if kind == b"set" else client.zrange(key, 0, -1))
    return [client.get(key) or b""]
