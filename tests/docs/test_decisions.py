"""The index of decisions lists each page by its title."""

from __future__ import annotations

from scripts.stack.stack import ROOT

FOLDER = ROOT / "docs" / "decisions"


def test_the_index_lists_every_decision_with_its_title() -> None:
    index = (FOLDER / "README.md").read_text()
    pages = sorted(FOLDER.glob("0*.md"))
    rows = [line for line in index.splitlines() if line.startswith("| ") and line[2].isdecimal()]
    assert len(rows) == len(pages)
    for row, page in zip(rows, pages, strict=True):
        number, _, title = page.read_text().splitlines()[0].removeprefix("# ").partition(". ")
        assert row.startswith(f"| {number} | [{title}]({page.name}) | ")
