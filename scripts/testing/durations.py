"""Says how long the parts of a test run took, and which files took longest.

    python -m scripts.testing.durations FILE.xml …

Each file is a JUnit report of pytest. Times are sums over tests, so parts that run in several
processes at once took less time.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

SHOWN = 15
SECONDS = 60


def list_durations(path: Path) -> list[tuple[str, float]]:
    """List the module and the seconds of every test."""
    # The report comes from our own test run.
    cases = ElementTree.parse(path).iter("testcase")  # noqa: S314
    return [(case.get("classname", ""), float(case.get("time", 0))) for case in cases]


def describe(reports: Sequence[Path]) -> list[str]:
    lines = []
    by_module: dict[str, float] = defaultdict(float)
    for path in reports:
        durations = list_durations(path)
        for module, seconds in durations:
            by_module[module] += seconds
        total = sum(seconds for _, seconds in durations) / SECONDS
        lines.append(f"{path.stem:<40}{len(durations):>7} tests {total:>8.1f} minutes")
    slowest = sorted(by_module.items(), key=lambda item: -item[1])[:SHOWN]
    return lines + [f"{module:<80} {seconds:>8.1f} s" for module, seconds in slowest]


if __name__ == "__main__":
    print("\n".join(describe([Path(name) for name in sys.argv[1:]])))
