"""How much a second worker helps to seal, and to count all question pairs in 10⁸ reports.

In each run, first one and then two real Celery workers, with one process each, use one PostgreSQL.
The measured time begins with the commit of the work and ends with the last row of its results, so
it includes messages, claims and estimates.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import django
import numpy as np
import psycopg

from aggregator.batches.packing import count_codes
from scripts.stack.opening import open_surveys
from scripts.stack.postgres import running_postgres
from scripts.stack.stack import Stack, free_port

WAVES = 8
QUESTIONS = 10
KS = [2] * QUESTIONS
LARGEST_BATCH, MINIMUM = 65_536, 50
LIMIT_SECONDS = 900.0
# Only these server settings are changed; all others keep their defaults.
POSTGRESQL = {"shared_buffers": "512MB", "max_wal_size": "4GB"}
# With these limits, nothing is shown, so no charts are rendered: the cost of charts does not depend
# on the reports.
SURVEY = {"minimum_batch": MINIMUM, "display_minimum": 2**31 - 1}


@dataclass(frozen=True, kw_only=True)
class Bench:
    stack: Stack
    url: str
    fresh: list[int] = field(default_factory=list)

    def ask(self, sql: str) -> Any:
        with psycopg.connect(self.url) as connection:
            return connection.execute(sql.encode()).fetchone()

    def open_waves(self, number: int) -> None:
        opened = open_surveys(self.stack, [SURVEY] * number, questions=QUESTIONS)
        self.fresh.extend(wave.pk for wave in opened)

    def take_waves(self) -> list[int]:
        """Return new open waves without any reports."""
        return [self.fresh.pop() for _ in range(WAVES)]

    def wait_until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LIMIT_SECONDS
        while not holds():
            if time.monotonic() > deadline:
                raise SystemExit(f"Not done after {LIMIT_SECONDS:.0f} s.")
            time.sleep(0.02)

    @contextmanager
    def workers(self, kind: str, number: int) -> Iterator[None]:
        """Run this many workers or leisure workers, idle and ready."""
        from config.celery import app

        names = [kind, f"{kind}-2"][:number]
        for name in names:
            self.stack.start(name)
        try:
            self.wait_until(lambda: len(app.control.ping(timeout=0.5)) == number)
            self.wait_until(self.is_idle)
            yield
        finally:
            for name in names:
                self.stack.kill(name)  # this loses nothing: the rows show all work

    @staticmethod
    def look_for_work() -> None:
        """Do what a sweep does; a sweep itself would do nothing so soon after the last one."""
        from aggregator.tasks import send_due_work

        send_due_work()

    @staticmethod
    def is_idle() -> bool:
        from aggregator.upkeep.due import find_due_work

        return not find_due_work()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the reports, one round")
    quick = parser.parse_args().quick
    scale, rounds = (10, 1) if quick else (1, 2)
    generator = np.random.default_rng(23)
    with running_bench() as bench:
        bench.open_waves(WAVES * (4 * rounds + 2))  # including warm-ups, for two kinds of batches
        bench.stack.start("beat")
        sealing = measure(
            bench,
            "worker",
            rounds=rounds,
            warm_up=lambda: seal_once(bench, generator, reports=4 * MINIMUM),
            once=lambda: seal_once(bench, generator, reports=250_000 // scale),
        )
        few = store_batches(bench, generator, reports=MINIMUM)
        waves = store_batches(bench, generator, reports=12_500_000 // scale)
        with bench.workers("worker", 1):
            pass  # it estimates the stored batches, which leisure workers never do
        pairs = measure(
            bench,
            "leisure",
            rounds=rounds,
            warm_up=lambda: count_pairs_once(bench, waves=few),
            once=lambda: count_pairs_once(bench, waves=waves),
        )
        stored = bench.ask("SELECT pg_total_relation_size('aggregator_batch')")[0]
        total = sum(through for _, through, _ in waves)
        reports = sum(reports for _, _, reports in waves)
    print(f"{WAVES} waves of {QUESTIONS} yes/no questions, PostgreSQL, {os.cpu_count()} cores")
    print_table(f"sealing and estimating {WAVES * 250_000 // scale:,} raw reports", sealing)
    print_table(
        f"all {QUESTIONS * (QUESTIONS - 1) // 2} pairs of {reports:,} sealed reports", pairs
    )
    print(f"{total:,} batches take {stored / 1e6:.0f} MB, {stored / reports:.2f} bytes per report")
    print_result(sealing=sealing, pairs=pairs)


def print_result(*, sealing: dict[int, float], pairs: dict[int, float]) -> None:
    result = {
        "sealing_per_s_1": round(sealing[1]),
        "sealing_per_s_2": round(sealing[2]),
        "sealing_ratio": round(sealing[2] / sealing[1], 2),
        "pairs_per_s_1": round(pairs[1]),
        "pairs_per_s_2": round(pairs[2]),
        "pairs_ratio": round(pairs[2] / pairs[1], 2),
    }
    print(f"RESULT {json.dumps(result)}")


@contextmanager
def running_bench() -> Iterator[Bench]:
    with ExitStack() as cleanup:
        folder = cleanup.enter_context(tempfile.TemporaryDirectory(prefix="murmur-scaling-"))
        url = cleanup.enter_context(running_postgres(settings=POSTGRESQL)).create_database()
        stack = Stack(
            var=Path(folder),
            port=free_port(),
            database_url=url,
            settings={"SECRET_KEY": secrets.token_urlsafe(64)},
            copies=2,
        )
        cleanup.callback(stack.stop)
        os.environ.update(stack.environment)
        django.setup()
        stack.manage("migrate", "--no-input", "--verbosity", "0")
        stack.start("broker")
        yield Bench(stack=stack, url=url)


def measure(
    bench: Bench,
    kind: str,
    *,
    rounds: int,
    warm_up: Callable[[], object],
    once: Callable[[], tuple[int, float]],
) -> dict[int, float]:
    """Measure reports per second with one and two workers in turn; return medians over rounds.

    Work that a process does only once, such as imports, happens before the measurement starts.
    """
    speeds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for number in speeds:
            with bench.workers(kind, number):
                warm_up()
                bench.wait_until(bench.is_idle)
                reports, seconds = once()
                bench.wait_until(bench.is_idle)
            speeds[number].append(reports / seconds)
            print(f"  {number}: {reports:,} reports in {seconds:.2f} s", flush=True)
    return {number: statistics.median(speed) for number, speed in speeds.items()}


def seal_once(bench: Bench, generator: np.random.Generator, *, reports: int) -> tuple[int, float]:
    """Insert raw reports into new waves at once; time their sealing and estimating."""
    waves = bench.take_waves()
    left = WAVES * MINIMUM  # a full batch keeps waiting in an open wave
    with psycopg.connect(bench.url) as connection:
        with connection.cursor().copy(
            "COPY aggregator_raw_report (id, wave_id, symbols) FROM STDIN (FORMAT binary)"
        ) as copy:
            copy.set_types(["bytea", "int8", "bytea"])
            for wave in waves:
                rows = generator.integers(0, 2, (reports, QUESTIONS), dtype=np.uint8).tobytes()
                ids = generator.bytes(32 * reports)
                for i in range(reports):
                    symbols = rows[i * QUESTIONS : (i + 1) * QUESTIONS]
                    copy.write_row((ids[32 * i : 32 * i + 32], wave, symbols))
        connection.execute("ANALYZE aggregator_raw_report")
        connection.commit()
    start = time.perf_counter()
    bench.look_for_work()
    chosen = ", ".join(map(str, waves))
    done = f"""
        SELECT coalesce(sum(size), 0) FROM aggregator_batch AS b
        WHERE wave_id IN ({chosen}) AND number <= (
            SELECT max(decided_through) FROM aggregator_snapshot AS s WHERE s.wave_id = b.wave_id)
    """  # noqa: S608
    bench.wait_until(lambda: int(bench.ask(done)[0]) == WAVES * reports - left)
    return WAVES * reports - left, time.perf_counter() - start


def store_batches(
    bench: Bench, generator: np.random.Generator, *, reports: int
) -> list[tuple[int, int, int]]:
    """Write batches in sealing's layout; return (wave, newest batch, reports) for each wave.

    The batches are random words in the layout of `pack_reports`, whose sorting would take minutes.
    """
    waves = []
    with psycopg.connect(bench.url) as connection:
        for wave in bench.take_waves():
            number, missing = 0, reports
            with connection.cursor().copy(
                "COPY aggregator_batch (wave_id, number, size, packed, content_hash, counts) "
                "FROM STDIN"
            ) as copy:
                while missing:
                    size = min(LARGEST_BATCH, missing)
                    missing -= size
                    number += 1
                    words = generator.integers(
                        0, 2**64, (QUESTIONS, -(-size // 64)), dtype=np.uint64
                    )
                    words[:, -1] &= np.uint64(2 ** (size % 64 or 64) - 1)
                    packed = words.tobytes()
                    counts = json.dumps(count_codes(packed, size=size, ks=KS))
                    digest = hashlib.sha256(packed).digest()
                    copy.write_row((wave, number, size, packed, digest, counts))
            waves.append((wave, number, reports))
        connection.commit()
    return waves


def count_pairs_once(bench: Bench, *, waves: list[tuple[int, int, int]]) -> tuple[int, float]:
    """Request all pairs of every wave; time how long they take to compute."""
    from aggregator.models import Comparison
    from aggregator.results.snapshots import METHOD_VERSION

    Comparison.objects.all().delete()
    start = time.perf_counter()
    Comparison.objects.bulk_create(
        Comparison(
            wave_id=wave,
            through_batch=newest,
            method_version=METHOD_VERSION,
            kind=Comparison.Kind.PAIRS,
        )
        for wave, newest, _ in waves
    )
    bench.look_for_work()
    settled = "SELECT count(*) FROM aggregator_comparison WHERE state IN ('done', 'failed')"
    bench.wait_until(lambda: int(bench.ask(settled)[0]) == WAVES)
    seconds = time.perf_counter() - start
    if Comparison.objects.exclude(state=Comparison.State.DONE).exists():
        raise SystemExit("A comparison failed; the worker's log says why.")
    for comparison in Comparison.objects.all():
        assert comparison.result is not None
        assert comparison.result["n"] == waves[0][2]
    return sum(reports for _, _, reports in waves), seconds


def print_table(what: str, speeds: dict[int, float]) -> None:
    print(f"{what:<60}{'reports/s':>14}{'to one':>8}")
    for number, speed in speeds.items():
        name = f"{number} worker{'s' if number > 1 else ''}"
        print(f"  {name:<58}{speed:>14,.0f}{speed / speeds[1]:>8.2f}")
