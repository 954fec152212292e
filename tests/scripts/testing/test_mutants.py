"""Faults are small and can be found again; a test kills a fault if it notices the fault."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from scripts.stack.stack import ROOT
from scripts.testing.mutants.__main__ import (
    AREAS,
    Touched,
    draw,
    find_again,
    list_all_mutants,
    meet,
    record,
)
from scripts.testing.mutants.faults import list_mutants


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a < b", {"(a <= b)"}),
        ("é + b == c", {"(é - b) == c", "(é + b != c)"}),
        ("not a or b", {"(a) or b", "(not a and b)"}),
        ("k = 3", {"k = (4)", "k = (2)"}),
        ("'a' + b", set()),
        ("x = f(a, b)", {"x = (f(b, a))"}),
        ("if a: raise B", {"if (not a): raise B", "if a: pass"}),
        (
            "@login_required\ndef f(): a.b = c",
            {"\ndef f(): a.b = c", "@login_required\ndef f(): pass"},
        ),
        ("@cache\ndef f(a): return a", {"@cache\ndef f(a): return None"}),
    ],
)
def test_a_mutant_has_one_fault(source: str, changed: set[str]) -> None:
    text = source.encode()
    mutants = list_mutants(text, area="", path="")
    assert {one.apply(text).decode() for one in mutants} == changed


def test_what_runs_at_import_meets_every_test_of_its_module_or_function() -> None:
    source = b"K = 1\n@require_POST\ndef f():\n    g()\n    return a == K\n"
    met = {(one.kind, one.line): one.lines for one in list_mutants(source, area="", path="")}
    assert met == {
        ("constant", 1): (1, 2, 3, 4, 5),
        ("decorator", 2): (4, 5),
        ("deleted", 4): (4,),
        ("returned", 5): (5,),
        ("comparison", 5): (5,),
    }


def test_every_area_has_files() -> None:
    assert {
        pattern for one in AREAS.values() for pattern in one if not any(ROOT.glob(pattern))
    } == set()


def test_the_same_seed_draws_the_same_mutants_and_text_finds_them_again(tmp_path: Path) -> None:
    path = "surveys/access.py"
    mutants = list(list_mutants((ROOT / path).read_bytes(), area="permissions", path=path))
    drawn = draw(mutants, seed="a", each=6)
    assert len({one.line for one in drawn}) == 6
    assert drawn == draw(mutants, seed="a", each=6) != draw(mutants, seed="b", each=6)
    results = tmp_path / "results.json"
    results.write_text(json.dumps([asdict(one) for one in drawn]))
    assert find_again(results, mutants) == drawn
    moved = replace(drawn[0], path="elsewhere.py", line=1)
    assert find_again(results, [moved]) == [moved]


def test_a_mutant_is_killed_by_the_test_that_notices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    monkeypatch.delenv("DJANGO_SETTINGS_MODULE")
    tree, path = tmp_path / "tree", "low.py"
    monkeypatch.setitem(AREAS, "mechanism", (path,))
    (tree / "privacy" / "mechanism").mkdir(parents=True)
    (tree / "tests").mkdir()
    (tree / path).write_text("def f(a):\n    return a < 1\n\ndef g():\n    return f(5)\n")
    (tree / "tests" / "test_f.py").write_text(
        "from low import f, g\n"
        "def test_low():\n    assert f(0)\n"
        "def test_g():\n    g()\n"
        "def test_red():\n    assert not f(0)\n"
        "def test_other():\n    pass\n"
    )
    record(tree, tmp_path / "recorded", 1)
    touched = Touched(tmp_path / "recorded")
    mutants = {one.after: one for one in list_all_mutants(tree)}
    both = {"tests/test_f.py::test_low", "tests/test_f.py::test_g"}
    assert set(touched.list_tests(mutants["(a <= 1)"])) == both
    kinds = ("(a <= 1)", "(0)", "return None")
    met = [meet(tree, mutants[after], sorted(both), seconds=60) for after in kinds]
    assert [one.outcome for one in met] == ["survived", "killed", "survived"]
    assert met[1].killer == "tests/test_f.py::test_low"
    assert "a < 1" in (tree / path).read_text()
