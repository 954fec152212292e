"""Rules about folders and imports that the contracts in pyproject.toml cannot express."""

from __future__ import annotations

import ast

import pytest
from django.template.loader import get_template

from scripts.stack.stack import ROOT

TESTS = sorted((ROOT / "tests").rglob("test_*.py"))


def imported_test_modules(source: str) -> set[str]:
    """Return the test modules that `source` imports, however the import is written."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(
                f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names
            )
    return {name for name in names if ".test_" in name}


def test_every_template_loads_what_it_uses() -> None:
    """Even after a merge without conflicts, a template can use a filter that it does not load."""
    folder = ROOT / "templates"
    for path in folder.rglob("*.html"):
        get_template(str(path.relative_to(folder)))


def test_no_test_module_imports_another() -> None:
    """Code that several tests use belongs in tests/support."""
    shared = sorted((ROOT / "tests" / "support").glob("*.py"))
    found = {
        str(path.relative_to(ROOT)): imported
        for path in [*TESTS, *shared]
        if (imported := imported_test_modules(path.read_text()))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("source", "imported"),
    [
        ("from tests.surveys.test_models import make", {"tests.surveys.test_models.make"}),
        ("from tests.surveys import test_models", {"tests.surveys.test_models"}),
        ("import tests.surveys.test_models as other", {"tests.surveys.test_models"}),
        ("def f() -> None:\n    from .test_models import make", {".test_models.make"}),
        ("from tests.support.waves import test_wave", {"tests.support.waves.test_wave"}),
        ("from tests.support.waves import make_wave", set()),
    ],
)
def test_every_spelling_of_such_an_import_is_seen(source: str, imported: set[str]) -> None:
    assert imported_test_modules(source) == imported
