"""Rules for folders and documents that the import contracts in pyproject.toml cannot express."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from scripts.stack.stack import ROOT

PACKAGES = ("config", "privacy", "accounts", "surveys", "aggregator", "scripts", "tests")
MAX_MODULES = 13
DOCUMENTS = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))


def modules_of(folder: Path) -> list[str]:
    """List modules side by side, except migrations, whose number can only grow."""
    files = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    return [] if folder.name == "migrations" else files


def imported_test_modules(source: str) -> set[str]:
    """Return the names of test modules that a piece of source imports, however it is written."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(
                f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names
            )
    return {name for name in names if ".test_" in name}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_package_has_too_many_modules_side_by_side(package: str) -> None:
    folders = {path.parent for path in (ROOT / package).rglob("__init__.py")}
    flat = {str(folder.relative_to(ROOT)): modules_of(folder) for folder in folders}
    assert {name: found for name, found in flat.items() if len(found) > MAX_MODULES} == {}


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


def named_paths(text: str) -> set[str]:
    """Return the paths below our folders that a document names in backquotes."""
    folders = "|".join((*PACKAGES, "templates", "docs", "deploy"))
    found = re.findall(rf"`((?:{folders})/[\w./-]*)(?:::[\w]+)?`", text)
    return {path for path in found if "{" not in path}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_that_a_document_names_exists(path: Path) -> None:
    named = named_paths(path.read_text())
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_paths_in_documents_are_seen() -> None:
    named = named_paths("In `surveys/models.py`, `scripts/run` and `tests/`; not `a/b` or `x.py`.")
    assert named == {"surveys/models.py", "scripts/run", "tests/"}
