"""A pytest plugin that records which tests run which lines, or runs chosen tests in order.

Environment variables control the plugin. MUTANTS_RECORD is the folder to write to, and
MUTANTS_LINES has patterns of files to record. MUTANTS_CHOSEN is a file that lists the tests to run;
the first failed test is written next to it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest


def pytest_configure(config: pytest.Config) -> None:
    if folder := os.environ.get("MUTANTS_RECORD"):
        config.pluginmanager.register(Recorder(Path(folder)))
    if file := os.environ.get("MUTANTS_CHOSEN"):
        config.pluginmanager.register(Chooser(Path(file)))


class Recorder:
    """Records lines and CPU seconds (unaffected by other load) in each process that runs tests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seconds: dict[str, float] = {}
        self._not_passed: set[str] = set()
        self._coverage = coverage.Coverage(
            data_file=str(folder / "lines"),
            data_suffix=True,
            config_file=False,
            include=os.environ["MUTANTS_LINES"].split(","),
        )
        self._coverage.set_option("run:relative_files", True)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        if not self._seconds:
            self._coverage.start()
        started = time.process_time()
        self._coverage.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self._coverage.switch_context("")
            self._seconds[item.nodeid] = time.process_time() - started

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            self._not_passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        if self._seconds:
            self._coverage.stop()
            self._coverage.save()
            passed = {test: s for test, s in self._seconds.items() if test not in self._not_passed}
            file = self._folder / f"seconds-{os.getpid()}.json"
            file.write_text(json.dumps(passed), "utf-8")


class Chooser:
    """Runs the listed tests, or all tests of listed files, in the order of the list."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._order = {name: place for place, name in enumerate(json.loads(file.read_text()))}

    def _find_place(self, item: pytest.Item) -> int | None:
        return self._order.get(item.nodeid, self._order.get(item.nodeid.partition("::")[0]))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        placed = [(place, item) for item in items if (place := self._find_place(item)) is not None]
        items[:] = [item for _, item in sorted(placed, key=lambda pair: pair[0])]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            with self._file.with_suffix(".failed").open("a") as failed:
                failed.write(f"{report.nodeid}\n")
