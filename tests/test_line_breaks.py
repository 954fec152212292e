"""Where a page keeps the line breaks of text, the template must not wrap that text."""

from __future__ import annotations

import re

from scripts.stack.stack import ROOT

KEPT = re.compile(r'<(\w+)[^>]*class="[^"]*\b(?:pre-line|introduction)\b[^>]*>(.*?)</\1>', re.S)


def test_kept_line_breaks_are_those_of_the_author() -> None:
    templates = sorted((ROOT / "templates").rglob("*.html"))
    kept = [(path, found[2]) for path in templates for found in KEPT.finditer(path.read_text())]
    assert len(kept) > 20
    assert [path.name for path, text in kept if "\n" in text] == []
