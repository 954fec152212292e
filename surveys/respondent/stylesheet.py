"""Shortens our own stylesheet without changing its meaning.

Comments, white space that separates nothing, and semicolons before closing braces are removed.
The same source always gives the same bytes. The module supports only the part of CSS that the
stylesheet uses. It rejects anything else, such as a comment within a line or an escape.
"""

from __future__ import annotations

import re


class UnsupportedStylesheetError(ValueError):
    """The stylesheet uses a part of CSS that this module does not support."""


# A comment fills whole lines, so it separates nothing that line ends do not separate.
_COMMENT = r"/\*(?:[^*]|\*(?!/))*\*/(?=\n)"
_TOKEN = re.compile(
    rf"(?P<gap>(?:[ \n]|(?<![^ \n]){_COMMENT})+)"
    r'|(?P<string>"[^"\\\n]*")'
    r"|(?P<sign>[{};,:])"
    r"|(?P<word>/(?!\*)|[^\s\"'/\\{};,:]+)"
)
# White space has no meaning around the first signs, or after the second signs. Before the second
# signs, it has a meaning: `a :hover` is not `a:hover`.
_NEVER_AROUND = "{};"
_NEVER_AFTER = ",:"


def shorten_stylesheet(source: str) -> str:
    text, place = "", 0
    while place < len(source):
        found = _TOKEN.match(source, place)
        if not found:
            line = source.count("\n", 0, place) + 1
            raise UnsupportedStylesheetError(f"line {line}: {source[place:][:20]!r}")
        text, place = _add(text, found), found.end()
    return text.rstrip(" ")


def _add(text: str, found: re.Match[str]) -> str:
    """Add a token to the text so far."""
    if found["gap"]:
        return text if not text or text[-1] in _NEVER_AROUND + _NEVER_AFTER else f"{text} "
    if found[0] in _NEVER_AROUND:
        text = text.removesuffix(" ")
    return (text.removesuffix(";") if found[0] == "}" else text) + found[0]
