"""A pass is remembered only for the same sources in the same environment."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from scripts.testing import passes

REPORT = """<testsuites><testsuite>
<testcase classname="tests.privacy.test_one" name="a" time="1"/>
<testcase classname="privacy.checks" name="b" time="1"/>
<testcase classname="tests.test_two" name="c" time="1"/>
</testsuite></testsuites>"""


def test_a_pass_is_found_again_with_its_number_of_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "FOLDER", tmp_path / "passes")
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    assert passes.find_pass("not long") == ""
    passes.note_pass("not long", report)
    assert passes.find_pass("not long").startswith("2 tests of privacy/ did not run")
    assert passes.find_pass("") == ""


def test_other_content_or_another_interpreter_is_another_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "privacy").mkdir()
    file = tmp_path / "privacy" / "checks.py"
    file.write_text("1")
    keys = {passes.make_key("", root=tmp_path)}
    file.write_text("2")
    keys.add(passes.make_key("", root=tmp_path))
    (tmp_path / "tests").mkdir()
    for name in ("requirements-dev.txt", "tests/slow.txt"):
        (tmp_path / name).write_text("numpy")
        keys.add(passes.make_key("", root=tmp_path))
    for module, attribute, value in (
        (sys, "version", "4"),
        (sys, "executable", "/python"),
        (platform, "platform", lambda: "else"),
        (passes, "distributions", list),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, attribute, value)
            keys.add(passes.make_key("", root=tmp_path))
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "search")
    keys.add(passes.make_key("", root=tmp_path))
    assert len(keys) == 9
