"""The served stylesheet is the source without comments; unsupported CSS is rejected."""

from __future__ import annotations

from pathlib import Path

import pytest

from surveys.respondent.client_files import FOLDER
from surveys.respondent.stylesheet import UnsupportedStylesheetError, shorten_stylesheet


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a {\n  b: c;\n}\n", "a{b:c}"),
        ("/* Why. */\na { b: c }\n", "a{b:c}"),
        ("a,\nb > c { d: e, f; }", "a,b > c{d:e,f}"),
        # These spaces have a meaning.
        ("a :hover { b: calc(1rem - 2px) c }", "a :hover{b:calc(1rem - 2px) c}"),
        ("@media (a: b) and (c) { d { e: f; } }", "@media (a:b) and (c){d{e:f}}"),
        ("a { b: c !important; font: 1rem / 2 d; }", "a{b:c !important;font:1rem / 2 d}"),
        # Strings stay as they are.
        ('a { content: "; } /* b */ ,  c"; }', 'a{content:"; } /* b */ ,  c"}'),
        ("a\n/* One.\nTwo. */\nb { c: d }", "a b{c:d}"),
    ],
)
def test_comments_and_needless_white_space_are_removed(source: str, expected: str) -> None:
    assert shorten_stylesheet(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "a/* b */c { d: e }",  # two words that no space separates
        "a { b: c; } /* within a line */ d { e: f }",
        "/* open",
        'a { content: "open; }',
        "a { content: 'b'; }",
        'a { content: "\\201c"; }',
        ".a\\:b { c: d }",
        "a {\tb: c }",
        "a { b: c }\r\n",
    ],
)
def test_what_could_change_its_meaning_is_refused(source: str) -> None:
    with pytest.raises(UnsupportedStylesheetError):
        shorten_stylesheet(source)


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.css")), ids=lambda path: path.name)
def test_shortening_twice_changes_nothing(path: Path) -> None:
    short = shorten_stylesheet(path.read_text())
    assert shorten_stylesheet(short) == short
