"""How many reports per second the intake accepts, compared with a plain view and an upper limit.

One run measures both SQLite and PostgreSQL. On each, the driver alone inserts rows, and a plain
REST view runs at full load. The product's own web processes run at full load and with reports at
random moments, alone and while a worker seals and estimates. At the end, every acknowledged id is
looked up in the database.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.benchmarks.grounds.ground import (
    QUESTIONS,
    READY_SECONDS,
    Ground,
    open_ground,
    running,
    wait_for,
    wait_until_answered,
)
from scripts.benchmarks.naive.drivers import Inserting, insert_postgresql, insert_sqlite
from scripts.benchmarks.naive.servers import PATH as NAIVE_PATH
from scripts.benchmarks.naive.servers import naive_servers
from scripts.stack.stack import ROOT, free_port

TITLES = {"sqlite": "SQLite, one web process", "postgresql": "PostgreSQL, two web processes"}
SLOW_RATE, RATE = 1000, 3000
POOL = 64  # connections over which reports arrive at random moments
GROUP = 64  # reports in one commit of the driver, as if all had waited
SEALED_SECONDS = 120.0
FEW_RAW = 200  # some reports always wait, so a lower number would never be reached
KB_IN_MB = 1024


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How much to measure; all times are in seconds."""

    rounds: int
    connections: tuple[int, ...]
    saturated: float
    driver: float
    slow: float
    sustained: float
    sealing: float


QUICK = Extent(
    rounds=1,
    connections=(64,),
    saturated=0.6,
    driver=0.3,
    slow=1.0,
    sustained=5.0,
    sealing=2.0,
)
FULL = Extent(
    rounds=3,
    connections=(16, 64),
    saturated=5.0,
    driver=3.0,
    slow=20.0,
    sustained=60.0,
    sealing=60.0,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few seconds for each part")
    parser.add_argument("--only", choices=tuple(TITLES), help="measure only this database")
    arguments = parser.parse_args()
    extent = QUICK if arguments.quick else FULL
    measure_generator(extent)
    results = {}
    for name in [arguments.only] if arguments.only else TITLES:
        with (
            tempfile.TemporaryDirectory(prefix="murmur-intake-") as folder,
            open_ground(name, var=Path(folder)) as ground,
        ):
            results[name] = measure(ground, extent)
    print(f"RESULT {json.dumps(results)}")


def measure(ground: Ground, extent: Extent) -> dict[str, Any]:
    print(f"\n{TITLES[ground.name]}", flush=True)
    ground.stack.start("limiter")
    for name in ground.web:
        ground.stack.start(name)
    each, grouped = measure_driver(ground, extent)
    naive, ours = measure_saturated(ground, extent)
    alone = measure_open_loop(ground, extent)
    sealing = measure_while_sealing(ground, extent)
    lost, doubled = ground.check_books()
    return {
        "naive_per_s": round(naive),
        "ours_per_s": round(ours),
        "driver_per_s": round(each),
        "driver_grouped_per_s": round(grouped),
        "ratio_to_naive": round(ours / naive, 1),
        "open_loop_per_s": round(alone["per_s"]),
        "p50_ms": alone["p50_ms"],
        "p95_ms": alone["p95_ms"],
        "p99_ms": alone["p99_ms"],
        "p99_ms_while_sealing": sealing["p99_ms"],
        "memory_growth_mb": alone["memory_growth_mb"],
        "errors": ground.errors,
        "lost": lost,
        "doubled": doubled,
    }


def measure_generator(extent: Extent) -> None:
    """Measure the load generator against a server that does nothing but answer."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    nothing = [sys.executable, "-m", "scripts.load.command", "--answer", str(port)]
    with running(nothing, environment=os.environ, log=Path(os.devnull)):
        wait_for(lambda: is_open(port), seconds=READY_SECONDS, what=url)
        printed = subprocess.run(
            [
                *(sys.executable, "-m", "scripts.load.command", url, "--manifest", "A" * 43),
                *("--connections", str(POOL), "--seconds", str(extent.saturated)),
            ],
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    tally = json.loads(printed)
    print_load("the generator against a server that does nothing", tally)
    cost = 1e6 * tally["generator_cpu_seconds"] / tally["sent"]
    print(f"  It takes {cost:.0f} µs of CPU time per report.")


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return bool(probe.connect_ex(("127.0.0.1", port)) == 0)


def measure_driver(ground: Ground, extent: Extent) -> tuple[float, float]:
    """Measure reports per second with one commit per report, and with one commit per group."""
    postgresql = ground.name == "postgresql"
    insert = insert_postgresql if postgresql else insert_sqlite
    best = {1: 0.0, GROUP: 0.0}
    # With SQLite, more clients would only block one another.
    ways = [(8, 1), (16, 1), (32, 1), (2, GROUP)] if postgresql else [(1, 1), (1, GROUP)]
    for clients, group in ways:
        plan = Inserting(
            database=ground.database,
            wave=ground.wave,
            questions=QUESTIONS,
            clients=clients,
            group=group,
            seconds=extent.driver,
        )
        rate = insert(plan)
        best[group] = max(best[group], rate)
        what = "each report" if group == 1 else f"{group} reports"
        print_rate(f"driver alone, clients: {clients}, one commit per {what}", rate)
    ground.execute("DELETE FROM aggregator_raw_report", "DELETE FROM aggregator_spent_id")
    if postgresql:
        ground.execute("VACUUM ANALYZE aggregator_raw_report", "VACUUM ANALYZE aggregator_spent_id")
    return best[1], best[GROUP]


def measure_saturated(ground: Ground, extent: Extent) -> tuple[float, float]:
    """Measure the plain view under its best server and our intake in turns; return medians."""
    times = {"seconds": 1.2 * extent.saturated, "warm_up": 0.2 * extent.saturated}
    with naive_servers(ground) as servers:
        wait_until_answered(ground.urls)
        tries = {}
        for name, urls in servers.items():
            tries[name] = ground.load(urls, path=NAIVE_PATH, connections=16, **times)
            print_load(f"plain view, {name}, 16 connections", tries[name])
        best = max(tries, key=lambda name: float(tries[name]["per_s"]))
        ways = {"plain view": (servers[best], NAIVE_PATH), "ours": (ground.urls, "/api/reports")}
        rates: dict[tuple[str, int], list[float]] = {}
        for _ in range(extent.rounds):
            for connections in extent.connections:
                for who, (urls, path) in ways.items():
                    tally = ground.load(urls, path=path, connections=connections, **times)
                    rates.setdefault((who, connections), []).append(float(tally["per_s"]))
                    print_load(f"{who}, {connections} connections", tally)
    medians = {key: statistics.median(values) for key, values in rates.items()}
    medians["plain view", 0] = float(tries[best]["per_s"])
    naive = max(rate for (who, _), rate in medians.items() if who != "ours")
    ours = max(rate for (who, _), rate in medians.items() if who == "ours")
    print(f"  the plain view at its best, {best}: {naive:,.0f}/s; ours is {ours / naive:.1f} ×")
    return naive, ours


def measure_open_loop(ground: Ground, extent: Extent) -> dict[str, Any]:
    """Measure at the lower rate, then at the higher rate while watching the memory of web."""
    tally = arrive(ground, rate=SLOW_RATE, seconds=extent.slow)
    print_load(f"ours, {SLOW_RATE:,}/s at random moments, {extent.slow:.0f} s", tally)
    with ground.watched_memory() as sizes:
        tally = arrive(ground, rate=RATE, seconds=extent.sustained)
    print_load(f"ours, {RATE:,}/s at random moments, {extent.sustained:.0f} s", tally)
    start, half, end = (sizes[at] / KB_IN_MB for at in (0, len(sizes) // 2, -1))
    print(f"  memory of the web processes: {start:.1f} MB, {half:.1f} halfway, {end:.1f} MB")
    return {**tally, "memory_growth_mb": round(end - start, 1)}


def measure_while_sealing(ground: Ground, extent: Extent) -> dict[str, Any]:
    """Measure at the higher rate while a worker seals and estimates arriving reports."""
    for name in ("broker", "worker", "beat"):
        ground.stack.start(name)
    _, backlog, _ = ground.tally()
    seconds = wait_until_sealed(ground)
    print(f"  a worker started and sealed the {backlog:,} reports there in {seconds:.1f} s")
    *_, before = ground.tally()
    tally = arrive(ground, rate=RATE, seconds=extent.sealing)
    *_, after = ground.tally()
    what = f"ours, {RATE:,}/s, {extent.sealing:.0f} s, {after - before:,} sealed in that time"
    print_load(what, tally)
    wait_until_sealed(ground)
    for name in ("worker", "beat"):  # from now on, nothing changes in the database
        ground.stack.signal(name, signal.SIGTERM)
        ground.stack.processes.pop(name).wait(timeout=30)
    return tally


def wait_until_sealed(ground: Ground) -> float:
    return wait_for(lambda: ground.tally()[1] < FEW_RAW, seconds=SEALED_SECONDS, what="sealing")


def arrive(ground: Ground, *, rate: int, seconds: float) -> dict[str, Any]:
    """Send reports at random moments, after a warm-up that is not measured."""
    warm_up = 0.1 * seconds
    return ground.load(
        ground.urls, connections=POOL, rate=rate, seconds=seconds + warm_up, warm_up=warm_up
    )


def print_rate(what: str, per_second: float) -> None:
    print(f"  {what:<62}{per_second:>8,.0f}/s", flush=True)


def print_load(what: str, tally: Mapping[str, Any]) -> None:
    names = {"p50_ms": "p50", "p95_ms": "p95", "p99_ms": "p99", "max_ms": "max"}
    times = ", ".join(f"{name} {tally[key]:.1f}" for key, name in names.items() if tally[key])
    rest = f"; {tally['web_us']} µs of CPU time each" if "web_us" in tally else ""
    rest += f"; {tally['errors']} ERRORS" if tally["errors"] else ""
    rest += f"; {tally['late']} sent late" if tally["late"] else ""
    print(f"  {what:<62}{tally['per_s']:>8,.0f}/s  {times} ms{rest}", flush=True)
