"""Splits our own JavaScript into tokens and removes comments and white space.

The code supports the part of the language that the respondent's modules use. It rejects the rest,
such as a slash that could either divide or begin a regular expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum


class UnsupportedScriptError(ValueError):
    """A module uses a part of the language that is not supported."""


class Kind(Enum):
    GAP = "gap"  # white space and comments
    WORD = "word"
    NUMBER = "number"
    STRING = "string"
    TEMPLATE = "template"  # a piece of a template literal, up to an expression or to its end
    REGEX = "regex"
    SIGN = "sign"


@dataclass(frozen=True, kw_only=True)
class Token:
    kind: Kind
    text: str
    depth: int  # the number of open brackets around it


_COMMENT = re.compile(r"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/")
_PATTERNS = {
    Kind.GAP: re.compile(rf"(?:[ \t\n]|{_COMMENT.pattern})+"),
    Kind.WORD: re.compile(r"[A-Za-z_$][\w$]*", re.ASCII),
    Kind.NUMBER: re.compile(r"\d[\w.]*", re.ASCII),
    Kind.STRING: re.compile(r'"(?:[^"\\\n]|\\[^\n])*"' + r"|'(?:[^'\\\n]|\\[^\n])*'"),
    Kind.TEMPLATE: re.compile(r"[`}](?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)", re.DOTALL),
    # The flag v would allow nested classes.
    Kind.REGEX: re.compile(
        r"/(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/[dgimsuy]*(?![\w$])", re.ASCII
    ),
    Kind.SIGN: re.compile(r"\.\.\.|\?\.|\+\+|--|=>|[-!%&()*+,./:;<=>?\[\]^{|}~]"),
}
_KIND_BY_FIRST = {
    **dict.fromkeys(" \t\n", Kind.GAP),
    **dict.fromkeys("0123456789", Kind.NUMBER),
    **dict.fromkeys("\"'", Kind.STRING),
    "`": Kind.TEMPLATE,
}
_PAIRS = {")": "(", "]": "[", "}": "{"}
_IN_TEMPLATE = "${"
# After these words, or after brackets that follow them, a slash could divide or begin a regular
# expression.
_AMBIGUOUS = re.compile(
    "await|case|catch|delete|do|else|extends|finally|for|function|if|in|instanceof|new|of|switch"
    "|throw|try|typeof|void|while|with|yield"
)
# A statement continues if its line ends after a token of the first set or before a token of the
# second set.
_ENDS_NOTHING = frozenset(["(", "[", "{", ",", "=", "=>", "?", ":", "&", "|"])
_BEGINS_NOTHING = frozenset([")", "]", "}", ",", ".", "?.", "?", ":", "&", "|"])
# Words and signs need no space next to these characters.
_TIES = frozenset("=,;:(){}[]&|<>!?*%+-")
_JOINED = ("++", "--", "?.", "/*")
_REFUSED_CHARACTERS = re.compile("[\r\f\v\ufeff\u2028\u2029]")


def split_tokens(source: str) -> list[Token]:
    """Split a module into tokens. Joining the tokens' text gives the module again."""
    if _REFUSED_CHARACTERS.search(source):
        raise UnsupportedScriptError("unusual white space or line end")
    return list(_Splitter(source).split())


def strip_comments(tokens: Iterable[Token]) -> str:
    """Write tokens without comments or unnecessary white space.

    Words stay separate. A line end remains after a top-level statement, and inside brackets where
    it could end a statement.
    """
    text, gap, last = "", "", ""
    for token in tokens:
        if token.kind is Kind.GAP:
            gap = "\n" if "\n" in token.text else " "  # a line end inside a comment also counts
            continue
        is_between = last == ";" and token.depth
        if is_between or last in _ENDS_NOTHING or token.text in _BEGINS_NOTHING:
            gap = gap and " "
        if gap == " " and _stay_apart(last[-1:], token.text[0]):
            gap = ""
        text, gap, last = text + gap + token.text, "", token.text
    return text.strip("\n") + "\n"


def _stay_apart(last: str, first: str) -> bool:
    """Return whether two tokens need no space between them."""
    return (last in _TIES or first in _TIES) and last + first not in _JOINED


class _Splitter:
    def __init__(self, source: str) -> None:
        self.source = source
        self.place = 0
        self.brackets: list[tuple[str, str]] = []  # open brackets, each with the token before it
        self.closed_after = ""  # the token before the last closed pair of brackets
        self.before_last = ""
        self.last: Token | None = None  # gaps do not count

    def split(self) -> Iterator[Token]:
        while self.place < len(self.source):
            token = self._read()
            self.place += len(token.text)
            if token.kind is not Kind.GAP:
                self.before_last, self.last = self.last.text if self.last else "", token
            yield token
        if self.brackets:
            raise UnsupportedScriptError("a bracket is never closed")

    def _read(self) -> Token:
        kind = self._find_kind()
        found = _PATTERNS[kind].match(self.source, self.place)
        if not found:
            line = self.source.count("\n", 0, self.place) + 1
            raise UnsupportedScriptError(f"line {line}: {self.source[self.place :][:20]!r}")
        text = found[0]
        if (kind is Kind.SIGN and text in _PAIRS) or (kind is Kind.TEMPLATE and text[0] == "}"):
            self._close(text[0])
        depth = len(self.brackets)
        if text in _PAIRS.values():
            self.brackets.append((text, self.last.text if self.last else ""))
        elif kind is Kind.TEMPLATE and text.endswith(_IN_TEMPLATE):
            self.brackets.append((_IN_TEMPLATE, ""))
        return Token(kind=kind, text=text, depth=depth)

    def _find_kind(self) -> Kind:
        source, place = self.source, self.place
        first = source[place]
        if first in _KIND_BY_FIRST:
            return _KIND_BY_FIRST[first]
        if source.startswith(("//", "/*"), place):
            return Kind.GAP
        if first == "/":
            return Kind.SIGN if self._slash_divides() else Kind.REGEX
        if first == "}" and self.brackets and self.brackets[-1][0] == _IN_TEMPLATE:
            return Kind.TEMPLATE
        return Kind.WORD if _PATTERNS[Kind.WORD].match(source, place) else Kind.SIGN

    def _close(self, bracket: str) -> None:
        opened, self.closed_after = self.brackets.pop() if self.brackets else ("", "")
        if opened not in (_PAIRS[bracket], _IN_TEMPLATE if bracket == "}" else ""):
            raise UnsupportedScriptError(f"{bracket} closes nothing")

    def _slash_divides(self) -> bool:
        """Return whether a slash here divides. Otherwise it begins a regular expression."""
        last = self.last
        if last is None:
            return False
        if last.kind is Kind.TEMPLATE:
            return last.text.endswith("`")
        if last.kind is Kind.WORD:
            is_name = self.before_last in (".", "?.")
            if _AMBIGUOUS.fullmatch(last.text) and not is_name:
                raise UnsupportedScriptError(f"a slash after {last.text}")
            return is_name or last.text != "return"
        if last.kind is not Kind.SIGN:
            return True
        is_ambiguous = last.text == ")" and _AMBIGUOUS.fullmatch(self.closed_after)
        if is_ambiguous or last.text in ("}", "++", "--"):
            raise UnsupportedScriptError(f"a slash after {last.text}")
        return last.text in (")", "]")
