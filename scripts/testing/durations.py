"""Says how long the parts of a test run took, and which files took longest.

    python -m scripts.testing.durations FILE.xml …          prints both
    python -m scripts.testing.durations --slow FILE.xml     lists slow tests in tests/slow.txt

Each file is a JUnit report of pytest. Times are sums over tests, so parts that run in several
processes at once took less time.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from xml.etree import ElementTree

from scripts.stack.stack import ROOT

SHOWN = 15
SECONDS = 60
# Tests are slow if they take longer than this in a whole run on two processors, during which tests
# with servers also run.
SLOW_SECONDS = 0.1
SLOW_TESTS = ROOT / "tests" / "slow.txt"


def list_durations(path: Path) -> list[tuple[str, str, float]]:
    """List the module, the name and the seconds of every test."""
    # The report comes from our own test run.
    cases = ElementTree.parse(path).iter("testcase")  # noqa: S314
    return [
        (case.get("classname", ""), case.get("name", ""), float(case.get("time", 0)))
        for case in cases
    ]


def list_slow(path: Path) -> list[str]:
    """List the tests whose cases are slow on average."""
    cases: dict[str, list[float]] = defaultdict(list)
    for module, name, seconds in list_durations(path):
        cases[f"{module}.{name.partition('[')[0]}"].append(seconds)
    return sorted(name for name, each in cases.items() if fmean(each) > SLOW_SECONDS)


def describe(reports: Sequence[Path]) -> list[str]:
    lines = []
    by_module: dict[str, float] = defaultdict(float)
    for path in reports:
        durations = list_durations(path)
        for module, _, seconds in durations:
            by_module[module] += seconds
        total = sum(seconds for *_, seconds in durations) / SECONDS
        lines.append(f"{path.stem:<40}{len(durations):>7} tests {total:>8.1f} minutes")
    slowest = sorted(by_module.items(), key=lambda item: -item[1])[:SHOWN]
    return lines + [f"{module:<80} {seconds:>8.1f} s" for module, seconds in slowest]


if __name__ == "__main__":
    if sys.argv[1] == "--slow":
        SLOW_TESTS.write_text("\n".join([*list_slow(Path(sys.argv[2])), ""]), "utf-8")
    else:
        print("\n".join(describe([Path(name) for name in sys.argv[1:]])))
