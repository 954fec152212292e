"""The upper limit: the database's driver alone writes the two rows of a report.

Every statement durably commits one report or one group. Two processes write to PostgreSQL, because
two web processes accept reports; SQLite has one writer.
"""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg

PROCESSES = 2
ONE_ROW = """
    WITH spent AS (INSERT INTO aggregator_spent_id (id, wave_id) VALUES (%b, %b))
    INSERT INTO aggregator_raw_report (id, wave_id, symbols) VALUES (%b, %b, %b)
"""
ROWS = """
    WITH given AS (SELECT unnest(%b::bytea[]) AS id, unnest(%b::bytea[]) AS symbols),
    spent AS (INSERT INTO aggregator_spent_id (id, wave_id) SELECT id, %b FROM given)
    INSERT INTO aggregator_raw_report (id, wave_id, symbols) SELECT id, %b, symbols FROM given
"""
PRAGMAS = "PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; PRAGMA foreign_keys=ON;"


@dataclass(frozen=True, kw_only=True)
class Inserting:
    database: str  # a PostgreSQL address or an SQLite file
    wave: int
    questions: int
    clients: int
    group: int = 1
    seconds: float

    def draw(self) -> tuple[list[bytes], list[bytes]]:
        ids = [os.urandom(32) for _ in range(self.group)]
        return ids, [bytes(b & 1 for b in os.urandom(self.questions)) for _ in ids]


def insert_postgresql(plan: Inserting) -> float:
    """Return the reports per second of all clients together."""
    share = replace(plan, clients=max(1, plan.clients // PROCESSES))
    processes = min(PROCESSES, plan.clients)
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return sum(pool.map(_insert_in_threads, [share] * processes, chunksize=1))


def _insert_in_threads(plan: Inserting) -> float:
    done = [0] * plan.clients
    # Clients that connect late must not shorten the time of the others.
    ready = threading.Barrier(plan.clients)

    def insert(client: int) -> None:
        with psycopg.connect(plan.database, autocommit=True) as connection:
            ready.wait()
            end = time.perf_counter() + plan.seconds
            while time.perf_counter() < end:
                ids, symbols = plan.draw()
                if plan.group == 1:
                    row = (ids[0], plan.wave, ids[0], plan.wave, symbols[0])
                    connection.execute(ONE_ROW, row)
                else:
                    connection.execute(ROWS, (ids, symbols, plan.wave, plan.wave))
                done[client] += plan.group

    threads = [threading.Thread(target=insert, args=(client,)) for client in range(plan.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / plan.seconds


def insert_sqlite(plan: Inserting) -> float:
    """Return the reports per second of the only client."""
    done = 0
    with closing(sqlite3.connect(Path(plan.database), isolation_level=None)) as connection:
        connection.executescript(PRAGMAS)
        end = time.perf_counter() + plan.seconds
        while time.perf_counter() < end:
            ids, symbols = plan.draw()
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT INTO aggregator_spent_id (id, wave_id) VALUES (?, ?)",
                [(name, plan.wave) for name in ids],
            )
            connection.executemany(
                "INSERT INTO aggregator_raw_report (id, wave_id, symbols) VALUES (?, ?, ?)",
                [(name, plan.wave, codes) for name, codes in zip(ids, symbols, strict=True)],
            )
            connection.execute("COMMIT")
            done += plan.group
    return done / plan.seconds
