"""Runs kill -9 a thousand times under load, on PostgreSQL with two copies of each process.

This runs the storm of tests/system/attacks/test_storm.py ten times as long, and the same broken
builds, which the checker must catch. Then it stops the broker for two minutes, longer than a test
can wait. The whole run takes about half an hour; `--quick` makes 30 kills and runs one broken
build.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scripts.attacks.storm.controls import Caught, run_broken_sealer, run_naive_celery
from scripts.attacks.storm.storm import Outcome, Plan, make_storm_world, run_storm
from scripts.stack.postgres import running_postgres

KILLS, QUICK_KILLS = 1000, 30
# After each failed attempt to reach the broker, a worker waits longer, up to half a minute. Only
# real minutes therefore show that it reconnects.
BROKER_AWAY_SECONDS = 120.0
MOST_SECONDS_AFTER_BROKER = 45.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="30 kills, one broken build")
    parser.add_argument(
        "--seed", type=int, default=1, help="decides what is killed, and in which order"
    )
    options = parser.parse_args()
    outcome = blow(
        kills=QUICK_KILLS if options.quick else KILLS,
        seed=options.seed,
        broker_away=0.0 if options.quick else BROKER_AWAY_SECONDS,
    )
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
    failures = judge(outcome, control_caught=result["control_caught"])
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    if failures:
        sys.exit(1)


def judge(outcome: Outcome, *, control_caught: object) -> list[str]:
    """List the faults that the numbers of a run show."""
    faults = {
        "reports were lost, doubled or changed": not outcome.verdict.is_clean,
        "something happened that no kill explains": bool(outcome.surprises),
        "a broken build was not caught, so the checker proves nothing": not control_caught,
        f"a recovery took {outcome.worst_recovery:.1f} s, a usual restart "
        f"{outcome.usual_restart:.1f} s": outcome.recovers_slowly,
        f"sealing resumed {outcome.after_broker:.1f} s after the broker was back": (
            outcome.after_broker > MOST_SECONDS_AFTER_BROKER
        ),
    }
    return [fault for fault, is_there in faults.items() if is_there]


def blow(*, kills: int, seed: int, broker_away: float) -> Outcome:
    # One wave closes early, when its cap is reached, and one in the middle, on its date.
    plan = Plan(
        kills=kills,
        seed=seed,
        caps=[1000],
        dates=[30 + kills // 2],
        broker_away=broker_away,
    )
    with (
        running_postgres() as server,
        tempfile.TemporaryDirectory(prefix="murmur-storm-") as folder,
    ):
        world = make_storm_world(var=Path(folder), database_url=server.create_database(), copies=2)
        try:
            outcome = run_storm(world, plan, postgres=server)
            print(outcome)
            for surprise in outcome.surprises[:10]:
                print(f"unexpected: {surprise}")
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
