"""Sends a million spoiled requests to the real web process; checks and times its replies.

This benchmark runs the fuzzer of the tests with the same seed, so it begins with their requests.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from scripts.attacks.fuzz.fuzz import Findings, fuzz
from scripts.attacks.fuzz.target import running_intake


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="50,000 requests")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    requests = 50_000 if arguments.quick else 1_000_000
    with (
        tempfile.TemporaryDirectory(prefix="murmur-fuzz-") as folder,
        running_intake(var=Path(folder)) as target,
    ):
        started = time.monotonic()
        found = fuzz(target, requests=requests, seed=arguments.seed)
        seconds = time.monotonic() - started
    report(found, seconds=seconds)
    return 1 if found.wrong else 0


def report(found: Findings, *, seconds: float) -> None:
    for name, count in sorted(found.mutations.items()):
        print(f"{name:<30}{count:>10,}")
    for status, count in sorted(found.statuses.items()):
        print(f"answered {status:<21}{count:>10,}")
    for line in found.wrong[:50]:
        print(f"WRONG {line}")
    result = {
        "requests": found.requests,
        "statuses": {str(status): count for status, count in sorted(found.statuses.items())},
        "unanswered": found.requests - found.statuses.total(),
        "server_errors": found.server_errors,
        "accepted": found.wrongly_taken,
        "controls_accepted": found.statuses[201] - found.wrongly_taken,
        "wrong_in_any_way": len(found.wrong),
        "grown_megabytes": round(found.grown_megabytes, 1),
        "seconds": round(seconds, 1),
    }
    print(f"RESULT {json.dumps(result)}")
