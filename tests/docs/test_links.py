"""Everything that the documents name exists: paths, links, anchors and tests."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

from scripts.stack.stack import ROOT

FOLDERS = (
    *("config", "privacy", "accounts", "surveys", "aggregator", "scripts", "tests"),
    *("templates", "docs", "deploy"),
)
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
# A decision and a line of the changelog stay as they were, even if a file is moved later.
CURRENT = [
    path for path in DOCUMENTS if path.parent.name != "decisions" and path.stem != "CHANGELOG"
]
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:")  # https:, mailto:


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def parse(text: str) -> list[Token]:
    """Return the tokens of a document; headings have the ids that hosting sites give them."""
    markdown = MarkdownIt("commonmark").enable("table").use(anchors_plugin, max_level=6)
    return [each for token in markdown.parse(text) for each in (token, *(token.children or []))]


def links_of(tokens: list[Token]) -> set[str]:
    """Return where the links and pictures of a document lead, including those written as HTML."""
    found = {
        str(value)
        for token in tokens
        for key, value in token.attrs.items()
        if (token.type, key) in {("link_open", "href"), ("image", "src")}
    }
    html = "".join(token.content for token in tokens if token.type.startswith("html"))
    return found | set(re.findall(r'(?:href|src|srcset)="([^"]+)"', html))


def anchors_of(tokens: list[Token]) -> set[str]:
    html = "".join(token.content for token in tokens if token.type.startswith("html"))
    headings = {str(token.attrs["id"]) for token in tokens if "id" in token.attrs}
    return headings | set(re.findall(r'(?:id|name)="([^"]+)"', html))


def is_broken(link: str, *, document: Path) -> bool:
    if OUTSIDE.match(link):
        return False
    relative, _, anchor = link.partition("#")
    target = (document.parent / relative).resolve() if relative else document
    if not target.exists() or not target.is_relative_to(ROOT):
        return True
    return bool(anchor) and anchor not in anchors_of(parse(target.read_text()))


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_link_inside_the_repository_leads_somewhere(path: Path) -> None:
    assert {
        link for link in links_of(parse(path.read_text())) if is_broken(link, document=path)
    } == set()


def test_broken_links_and_anchors_are_seen() -> None:
    tokens = parse('# A heading\n\n[a](#a-heading) [b](x.md)\n![c](y.png) <img src="z">\n')
    assert anchors_of(tokens) == {"a-heading"}
    assert links_of(tokens) == {"#a-heading", "x.md", "y.png", "z"}
    readme = ROOT / "README.md"
    broken = ("docs/no.md", "docs/methods/sources.md#no", "#no", "../outside.md")
    assert [is_broken(link, document=readme) for link in broken] == [True] * 4
    whole = ("docs/methods/sources.md#sources", "#try-it", "docs/", "https://example.org/x")
    assert [is_broken(link, document=readme) for link in whole] == [False] * 4


def named_paths(text: str) -> set[tuple[str, str]]:
    """Return the paths in our folders that a document names in backquotes, with any named test."""
    found = re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]*)(?:::(\w+))?`", text)
    return {(path, test) for path, test in found if "{" not in path}


def is_missing(path: str, test: str) -> bool:
    if not test:
        return not (ROOT / path).exists()
    return not (ROOT / path).is_file() or test not in functions_of(ROOT / path)


@cache
def functions_of(path: Path) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)}


@pytest.mark.parametrize("path", CURRENT, ids=name_of)
def test_every_path_and_test_that_a_document_names_exists(path: Path) -> None:
    assert {named for named in named_paths(path.read_text()) if is_missing(*named)} == set()


def test_missing_paths_and_tests_in_documents_are_seen() -> None:
    this = "tests/docs/test_links.py"
    known = test_missing_paths_and_tests_in_documents_are_seen.__name__
    text = f"In `surveys/models/surveys.py`, `tests/` and `{this}::{known}`; not `a/b` or `x.py`."
    named = named_paths(text)
    assert named == {("surveys/models/surveys.py", ""), ("tests/", ""), (this, known)}
    assert not any(is_missing(*each) for each in named)
    assert is_missing("tests/test_no_such_module.py", "")
    assert is_missing("tests/test_no_such_module.py", known)
    assert is_missing(this, "test_that_does_not_exist")


def test_every_file_that_contributing_names_exists() -> None:
    """This includes a file named without its folder, as in a table row about that folder."""
    named = set(
        re.findall(
            r"`(?:[\w./-]+/)?([\w-]+\.(?:py|js|html|css))`", (ROOT / "CONTRIBUTING.md").read_text()
        )
    )
    known = {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")}
    assert len(named) > 100
    assert named <= known


def test_every_number_is_set_where_contributing_says() -> None:
    rows = re.findall(r"\| `(\w+)` in `([\w./]+)` \|", (ROOT / "CONTRIBUTING.md").read_text())
    assert len(rows) >= 15
    for name, path in rows:
        assert re.search(rf"^ *(def )?{name}( =|:|\()", (ROOT / path).read_text(), re.M), name
