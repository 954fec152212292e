"""Reads rows that a storm needs: due work, open sealing, and sealed batches."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from scripts.attacks.storm.checker import Sealed
from scripts.stack.world import World

# The errors of a refused connection, a killed server and a locked file.
AWAY = (psycopg.OperationalError, sqlite3.OperationalError)
# An inspected process may have been stopped while it locks the table. Queries then fail soon, so
# that the process can continue.
IMPATIENT = "-c lock_timeout=200ms -c statement_timeout=5s"
Query = Callable[[str], list[tuple[Any, ...]]]

DUE_WORK = """
    SELECT 'wave ' || w.id || ' has ' || count(*) || ' raw reports'
    FROM surveys_wave w JOIN aggregator_raw_report r ON r.wave_id = w.id
    GROUP BY w.id, w.minimum_batch, w.state
    HAVING count(*) >= 2 * w.minimum_batch OR w.state = 'closed'
    UNION ALL
    SELECT 'wave ' || b.wave_id || ' is at batch ' || max(b.number) || ', its looks are not decided'
    FROM aggregator_batch b
    GROUP BY b.wave_id
    HAVING max(b.number) > (SELECT coalesce(max(s.decided_through), 0)
                            FROM aggregator_snapshot s WHERE s.wave_id = b.wave_id)
"""
NEWEST_BATCH = "SELECT coalesce(max(id), 0) FROM aggregator_batch"
KEPT = """
    SELECT (SELECT count(*) FROM aggregator_raw_report)
         + (SELECT coalesce(sum(size), 0) FROM aggregator_batch)
"""
# This is one statement, so that the result is 0 unless only half of a sealing was committed.
MISSING = """
    SELECT (SELECT count(*) FROM aggregator_spent_id)
         - (SELECT count(*) FROM aggregator_raw_report)
         - (SELECT coalesce(sum(size), 0) FROM aggregator_batch)
"""
# The intake locks spent ids before it touches raw reports. A transaction that locks raw reports but
# not spent ids is therefore sealing and has not committed.
OPEN_SEALING = """
    SELECT a.client_port, a.state, left(a.query, 40)
    FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
    WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
      AND l.relation = 'aggregator_raw_report'::regclass AND l.mode = 'RowExclusiveLock'
      AND NOT EXISTS (SELECT FROM pg_locks o WHERE o.pid = a.pid AND o.mode = 'RowExclusiveLock'
                      AND o.relation = 'aggregator_spent_id'::regclass)
"""
OPEN_SEALING_SEEN = "sealing transaction open"
UNSETTLED = """
    SELECT (SELECT count(*) FROM surveys_wave WHERE state <> 'closed')
         + (SELECT count(*) FROM aggregator_raw_report)
         + (SELECT count(DISTINCT b.wave_id) FROM aggregator_batch b WHERE NOT EXISTS (
                SELECT 1 FROM aggregator_snapshot s WHERE s.wave_id = b.wave_id AND s.final))
"""
ESTABLISHED = "01"  # in /proc/net/tcp
BATCHES = "SELECT wave_id, number, size, packed, content_hash, counts FROM aggregator_batch"


@contextmanager
def open_rows(world: World) -> Iterator[Query]:
    """Open a connection for many queries. Raises one of AWAY if the database is unavailable."""
    if world.database_url:
        with psycopg.connect(
            world.database_url, autocommit=True, connect_timeout=5, options=IMPATIENT
        ) as connection:
            yield lambda sql: connection.execute(sql.encode()).fetchall()
    else:
        with closing(sqlite3.connect(world.stack.var / "murmur.sqlite3", timeout=5)) as file:
            yield lambda sql: file.execute(sql).fetchall()


def find_due_work(query: Query) -> str:
    """Return the work that is due according to the rows, or an empty string if there is none."""
    return "; ".join(str(row[0]) for row in query(DUE_WORK))


def find_open_sealing(query: Query, *, leader: int) -> str:
    """Return how far a worker's sealer is in its transaction, or an empty string outside one."""
    for port, state, statement in query(OPEN_SEALING):
        if port in {local for local, _ in _connections(leader)}:
            return f"{OPEN_SEALING_SEEN}, {state} after {' '.join(statement.split())}"
    return ""


def is_connected(leader: int, *, to: int) -> bool:
    """Return whether a process or a child of it is connected to a port of this machine."""
    return to in {remote for _, remote in _connections(leader)}


def _connections(leader: int) -> Iterator[tuple[int, int]]:
    """Return the ports at both ends of all TCP connections of a process and its children."""
    children: list[str] = []
    with suppress(OSError):
        children = Path(f"/proc/{leader}/task/{leader}/children").read_text().split()
    sockets = {link for pid in (leader, *map(int, children)) for link in _links(pid)}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, state, *_, inode = line.split()[:10]
        if state == ESTABLISHED and f"socket:[{inode}]" in sockets:
            yield int(local.partition(":")[2], 16), int(remote.partition(":")[2], 16)


def _links(pid: int) -> Iterator[str]:
    try:
        for file in Path(f"/proc/{pid}/fd").iterdir():
            yield str(file.readlink())
    except OSError:  # closed or ended in the meantime
        return


def read_batches(query: Query) -> list[Sealed]:
    return [
        Sealed(
            wave=wave,
            number=number,
            size=size,
            packed=bytes(packed),
            content_hash=bytes(content_hash),
            counts=json.loads(counts) if isinstance(counts, str) else counts,
        )
        for wave, number, size, packed, content_hash, counts in query(BATCHES)
    ]
