"""What a test run reports about its duration."""

from __future__ import annotations

from pathlib import Path

from scripts.testing.durations import describe, list_slow

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


def test_a_test_is_slow_if_its_cases_are_on_average(tmp_path: Path) -> None:
    path = tmp_path / "without-servers.xml"
    cases = '<testcase classname="tests.test_two" name="b[1]" time="0.15"/>' + "".join(
        f'<testcase classname="tests.test_two" name="b[{number}]" time="0.05"/>'
        for number in (2, 3)
    )
    path.write_text(REPORT.replace("</testsuite>", f"{cases}</testsuite>", 1))
    assert list_slow(path) == ["tests.test_one.a", "tests.test_one.c", "tests.test_two.b"]
    path.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert list_slow(path) == []
