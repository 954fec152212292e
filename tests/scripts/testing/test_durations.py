"""What a test run says about its duration."""

from __future__ import annotations

from pathlib import Path

from scripts.testing.durations import describe

REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_one" name="a" time="90.0"/>
<testcase classname="tests.test_two" name="b" time="29.0"/>
<testcase classname="tests.test_one" name="c" time="1.0"/>
</testsuite></testsuites>"""


def test_parts_are_added_up_and_the_slowest_modules_come_first(tmp_path: Path) -> None:
    path = tmp_path / "storm.xml"
    path.write_text(REPORT)
    lines = [line.split() for line in describe([path])]
    assert lines == [
        ["storm", "3", "tests", "2.0", "minutes"],
        ["tests.test_one", "91.0", "s"],
        ["tests.test_two", "29.0", "s"],
    ]
