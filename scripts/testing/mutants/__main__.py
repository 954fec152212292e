"""Makes small changes to the code and lists those that no test notices.

    python -m scripts.testing.mutants                  draws mutants by the hash of the last commit
    python -m scripts.testing.mutants --again FILE     finds the mutants of earlier results by text

The program works on copies of the last commit. One run records which tests run which lines. The
tests that ran a mutant's line then run on the mutant until one fails. For the worst survivors, the
long tests of the same files and those that need servers also run. Everything is kept in
var/mutants.
cosmic-ray and mutmut neither choose tests by line nor draw mutants by a seed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from queue import SimpleQueue

import coverage

from scripts.stack.stack import ROOT
from scripts.testing.mutants.faults import KINDS, Mutant, list_mutants

AREAS = {
    "mechanism": ("privacy/mechanism/*.py",),
    "intake": ("aggregator/intake/*[!r].py",),
    "sealing": ("aggregator/batches/*.py",),
    "looks": ("aggregator/results/looks.py", "aggregator/results/snapshots.py"),
    "crowd": ("aggregator/results/groups/*.py", "aggregator/results/display.py"),
    "ledger": ("aggregator/releases/[cdl]*.py",),
    "permissions": ("surveys/access.py", "surveys/views/authoring/access.py", "accounts/lo*.py"),
    "label": ("surveys/respondent/label/*.py",),
    "exports": ("aggregator/exports/*.py",),
    "limiter": ("aggregator/intake/*limiter.py", "accounts/networks.py"),
}
# These decorators count as permissions in every file.
GUARDS = ("@needs(", "@authoring(", "@login_required", "@require_POST")
GUARDED = ("aggregator/**/*.py", "surveys/**/*.py")
# The recorded run leaves out these folders, whose tests need servers or run few mutated lines.
OTHER_PRIVACY = ("associations", "central", "planning", "shares")
LEFT_OUT = ("browser", "docs", "scripts", "system", *(f"privacy/{one}" for one in OTHER_PRIVACY))
WITHOUT_SERVERS = "not (postgres or redis or browser or long)"
OUTCOMES = {0: "survived", 5: "no tests"}  # by pytest's status; any other means killed
EACH = 6  # mutants of each area
WORST = 10
SECONDS_IN_ALL = 40 * 60
SECONDS_EACH = 40.0  # of tests, by recorded times
SECONDS_LONG = 150.0


class Touched:
    """Which tests ran which line in the recorded run."""

    def __init__(self, folder: Path) -> None:
        self.seconds: dict[str, float] = {}
        for file in folder.glob("seconds-*.json"):
            self.seconds |= json.loads(file.read_text("utf-8"))
        self._data = coverage.CoverageData(str(folder / "lines"))
        self._data.read()
        self._by_line: dict[str, dict[int, list[str]]] = {}
        self._tests: dict[tuple[str, tuple[int, ...]], list[str]] = {}

    def list_tests(self, mutant: Mutant) -> list[str]:
        """List the tests for a mutant: those of the module's own file, then the fastest."""
        path, lines = place = mutant.path, mutant.lines
        if path not in self._by_line:
            self._by_line[path] = self._data.contexts_by_lineno(path)
        if place not in self._tests:
            found = {test for line in lines for test in self._by_line[path].get(line, ())}
            own = f"/test_{Path(path).stem}.py"
            self._tests[place] = sorted(
                found & self.seconds.keys(),
                key=lambda test: (own not in test, self.seconds[test], test),
            )
        return self._tests[place]

    def shorten(self, tests: Iterable[str]) -> list[str]:
        """Leave out the last tests if all of them together take too long."""
        total, kept = 0.0, list[str]()
        for test in tests:
            total += self.seconds[test]
            if total <= SECONDS_EACH or not kept:
                kept.append(test)
        return kept


def copy_commit(tree: Path) -> Path:
    tree.mkdir()
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True)
    subprocess.run(["tar", "-x"], cwd=tree, input=archive.stdout, check=True)
    (tree / ".venv").symlink_to(sys.prefix)
    return tree


def run_pytest(tree: Path, *options: str, seconds: float | None = None, **environment: str) -> int:
    plugin = "scripts.testing.mutants.touched"
    with (tree / "output").open("w") as output:
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", plugin, *options],
            cwd=tree,
            env={**os.environ, **environment},
            stdout=output,
            stderr=output,
            timeout=seconds,
            check=False,
        ).returncode


def run_chosen(tree: Path, tests: Iterable[str], *options: str, seconds: float) -> tuple[int, str]:
    """Run tests or whole files; return pytest's status and the first test that failed."""
    chosen, failed = tree / "chosen.json", tree / "chosen.failed"
    chosen.write_text(json.dumps(list(tests)))
    failed.unlink(missing_ok=True)
    files = sorted({test.partition("::")[0] for test in tests})
    # Otherwise, Python could use bytecode that is older than the change.
    environment = {"MUTANTS_CHOSEN": str(chosen), "PYTHONDONTWRITEBYTECODE": "1"}
    status = run_pytest(tree, "-x", *files, *options, seconds=seconds, **environment)
    return status, failed.read_text().partition("\n")[0] if failed.exists() else ""


def record(tree: Path, folder: Path, jobs: int) -> None:
    lines = ",".join({path for _, path in list_files(tree)})
    ignored = [f"--ignore=tests/{name}" for name in LEFT_OUT]
    options = ["privacy/mechanism", "tests", *ignored, "-m", WITHOUT_SERVERS, "-n", str(jobs)]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    status = run_pytest(tree, *options, MUTANTS_RECORD=str(folder), MUTANTS_LINES=lines)
    if status > 1:  # failed tests are left out later; any other problem is fatal
        sys.exit((tree / "output").read_text())
    coverage.Coverage(data_file=str(folder / "lines"), config_file=False).combine([str(folder)])


def list_files(root: Path) -> list[tuple[str, str]]:
    """List areas and their files. Files with guards also belong to the area `permissions`."""
    found = [(area, path) for area in AREAS for one in AREAS[area] for path in root.glob(one)]
    guarded = [path for one in GUARDED for path in root.glob(one)]
    found += [
        ("permissions", path) for path in guarded if any(one in path.read_text() for one in GUARDS)
    ]
    return sorted({(area, str(path.relative_to(root))) for area, path in found})


def list_all_mutants(root: Path) -> list[Mutant]:
    return [
        mutant
        for area, path in list_files(root)
        for mutant in list_mutants((root / path).read_bytes(), area=area, path=path)
        if mutant.before.startswith(GUARDS) or any(map(Path(path).match, AREAS[area]))
    ]


def draw(mutants: Iterable[Mutant], *, seed: str, each: int) -> list[Mutant]:
    """Draw lines of each area, then for each line a kind of fault and one fault of that kind.

    A new line anywhere does not change the order of other lines.
    """
    lines: dict[tuple[str, str, int], list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        lines[mutant.area, mutant.path, mutant.line].append(mutant)
    numbered = []
    for place, here in lines.items():
        chance = random.Random(f"{seed} {place}")  # noqa: S311
        number = chance.random()
        kind = chance.choice(sorted({one.kind for one in here}))
        numbered.append((number, chance.choice([one for one in here if one.kind == kind])))
    numbered.sort(key=lambda pair: pair[0])
    drawn = [[one for _, one in numbered if one.area == area][:each] for area in AREAS]
    return list(chain.from_iterable(drawn))


def find_again(results: Path, mutants: Iterable[Mutant]) -> list[Mutant]:
    """Find the same faults, even in functions that have moved to other files."""
    names = ("function", "before", "after", "place")
    known: dict[tuple[object, ...], Mutant] = {}
    for mutant in mutants:
        text = tuple(asdict(mutant)[name] for name in names)
        known[mutant.path, *text] = known[text] = mutant
    found = []
    for one in json.loads(results.read_text()):
        text = tuple(one[name] for name in names)
        same = known.get((one["path"], *text)) or known.get(text)
        if same is None:
            print("gone:", *text)
        else:
            found.append(same)
    return found


def meet(tree: Path, mutant: Mutant, tests: list[str], *options: str, seconds: float) -> Mutant:
    file = tree / mutant.path
    source = file.read_bytes()
    file.write_bytes(mutant.apply(source))
    try:
        status, killer = run_chosen(tree, tests, *options, seconds=seconds)
    except subprocess.TimeoutExpired:
        return replace(mutant, outcome="no end")
    finally:
        file.write_bytes(source)
    return replace(mutant, outcome=OUTCOMES.get(status, "killed"), killer=killer)


def meet_all(trees: list[Path], mutants: list[Mutant], touched: Touched) -> list[Mutant]:
    """Run each mutant's tests, and the long tests on the worst survivors."""
    end = time.monotonic() + SECONDS_IN_ALL
    free = SimpleQueue[Path]()
    for tree in trees:
        free.put(tree)

    def try_one(mutant: Mutant) -> Mutant:
        tree = free.get()
        tests = touched.list_tests(mutant)
        if time.monotonic() > end:
            pass
        elif mutant.outcome != "survived":
            mutant = meet(tree, mutant, touched.shorten(tests), seconds=4 * SECONDS_EACH)
        else:
            files = sorted({test.partition("::")[0] for test in tests})
            long = meet(tree, mutant, files, "-m", "", seconds=SECONDS_LONG)
            mutant = long if long.outcome == "killed" else mutant
        free.put(tree)
        print(mutant, flush=True)
        return mutant

    with ThreadPoolExecutor(len(trees)) as pool:
        met = list(pool.map(try_one, mutants))
        survivors = [one for one in met if one.outcome == "survived"]
        worst = sorted(survivors, key=lambda one: KINDS.index(one.kind))[:WORST]
        print("The worst survivors meet the long tests.")
        again = dict(zip(worst, pool.map(try_one, worst), strict=True))
    return [again.get(one, one) for one in met]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--again", type=Path)
    parser.add_argument("--seed", help="instead of the hash of the last commit")
    options = parser.parse_args()
    jobs, started = os.cpu_count() or 1, time.monotonic()
    head = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(
        head, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()
    kept = ROOT / "var" / "mutants" / commit
    with tempfile.TemporaryDirectory(prefix="murmur-mutants-") as folder:
        trees = [copy_commit(Path(folder) / str(number)) for number in range(jobs)]
        if not (kept / "lines").exists():
            record(trees[0], kept, jobs)
        print(f"Recorded after {(time.monotonic() - started) / 60:.1f} minutes.", flush=True)
        touched = Touched(kept)
        mutants = list_all_mutants(trees[0])
        touchable = [one for one in mutants if touched.list_tests(one)]
        drawn = (
            find_again(options.again, touchable)
            if options.again
            else draw(touchable, seed=options.seed or commit, each=EACH)
        )
        results = meet_all(trees, drawn, touched)
        killers = {one.killer for one in results if one.killer}
        wrong = killers and run_chosen(trees[0], killers, "-m", "", seconds=SECONDS_IN_ALL)
    (kept / "results.json").write_text(json.dumps([asdict(one) for one in results], indent=1))
    unmet = {f"{one.path}:{one.line}" for one in set(mutants) - set(touchable)}
    print("\nNo recorded test runs these lines:", *sorted(unmet), sep="\n")
    print("\nNot killed:", *(one for one in results if one.outcome != "killed"), sep="\n")
    for area in AREAS:
        outcomes = Counter(one.outcome for one in results if one.area == area)
        print(f"{area:12}", *(f"{count} {name}" for name, count in sorted(outcomes.items())))
    print(f"{(time.monotonic() - started) / 60:.1f} minutes")
    if wrong and wrong[0]:
        sys.exit(f"{wrong[1]} fails even without a change, so what it killed may live.")


if __name__ == "__main__":
    main()
