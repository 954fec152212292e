"""A thousand times kill -9 under load, on PostgreSQL with two of each process; and is it noticed?

The same storm as in tests/system/test_storm.py, ten times as long, and the same broken builds,
which the checker must catch. Takes about half an hour; `--quick` makes 30 kills and runs one
broken build.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.system.postgres import Postgres
from tests.system.storm import Outcome, Plan, make_storm_world, run_storm
from tests.system.storm_controls import Caught, run_broken_sealer, run_naive_celery

KILLS, QUICK_KILLS = 1000, 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="30 kills, one broken build")
    parser.add_argument("--seed", type=int, default=1, help="who is killed, in which order")
    options = parser.parse_args()
    outcome = blow(kills=QUICK_KILLS if options.quick else KILLS, seed=options.seed)
    caught = dict(run_controls(quick=options.quick))
    print_controls(caught)
    verdict = outcome.verdict
    result = {
        "kills": len(outcome.kills),
        "acknowledged": verdict.acknowledged,
        "lost": len(verdict.lost),
        "doubled": len(verdict.doubled),
        "worst_recovery_s": round(outcome.worst_recovery, 1),
        "control_caught": all(
            found.verdict.lost or found.verdict.doubled for found in caught.values()
        ),
    }
    print(f"RESULT {json.dumps(result)}")
    if not verdict.is_clean or outcome.surprises:
        sys.exit(1)


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    server = Postgres()
    try:
        server.initialize()
        server.start()
        yield server
    finally:
        server.remove()


def blow(*, kills: int, seed: int) -> Outcome:
    # A wave that closes by its cap early on, and one by its date in the middle.
    plan = Plan(kills=kills, seed=seed, caps=[1000], dates=[30 + kills // 2])
    with (
        running_postgres() as server,
        tempfile.TemporaryDirectory(prefix="murmur-storm-") as folder,
    ):
        world = make_storm_world(var=Path(folder), database_url=server.create_database(), copies=2)
        try:
            outcome = run_storm(world, plan, postgres=server)
            print(outcome)
            for surprise in outcome.surprises[:10]:
                print(f"not expected: {surprise}")
            print(world.stack.manage("verify"), flush=True)
        finally:
            world.stack.stop()
    return outcome


def run_controls(*, quick: bool) -> Iterator[tuple[str, Caught]]:
    with (
        running_postgres() as server,
        tempfile.TemporaryDirectory(prefix="murmur-storm-") as folder,
    ):
        for name in ["delete_first"] if quick else ["delete_first", "insert_first"]:
            yield (
                f"sealer, {name.replace('_', ' ')}",
                run_broken_sealer(
                    name, var=Path(folder, name), database_url=server.create_database()
                ),
            )
        if not quick:
            naive = run_naive_celery(
                var=Path(folder, "naive"), database_url=server.create_database()
            )
            yield "naive Celery", naive


def print_controls(caught: dict[str, Caught]) -> None:
    print(f"{'broken build, one kill':<28}{'acknowledged':>13}{'lost':>6}{'doubled':>9}")
    for name, found in caught.items():
        verdict = found.verdict
        print(
            f"{name:<28}{verdict.acknowledged:>13,}{len(verdict.lost):>6}{len(verdict.doubled):>9}"
        )


if __name__ == "__main__":
    main()
