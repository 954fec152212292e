"""Joins the respondent's modules into the files that browsers load.

A joined file contains the lines of its modules, and each module follows those that it imports.
Joining removes only comments, white space, import statements and the word export. The same sources
always give the same bytes. Joining refuses code that could behave differently afterwards.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from surveys.respondent.javascript import (
    Kind,
    Token,
    UnsupportedScriptError,
    split_tokens,
    strip_comments,
)

ReadSource = Callable[[str], str]  # from a module's name to its text
SOURCES = "source/"  # the folder that serves the modules with their comments
_IMPORT = re.compile(r'import \{ ((?:[\w$]+ , )*[\w$]+)(?: ,)? \} from "(\.\.?/[\w./-]+)" ;')
_DECLARING = ("const", "function", "class")
# At the top level, `let` would create state of the whole page, and a comma would declare a second
# name.
_REFUSED_AT_TOP = ("let", ",")
# Names in or after these words would need more analysis than this module does.
_REFUSED = ("eval", "import", "switch", "var", "with")


@dataclass(kw_only=True)
class _Module:
    name: str
    imports: dict[str, set[str]] = field(default_factory=dict)  # the names taken from each module
    declared: set[str] = field(default_factory=set)  # at the top
    exported: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)  # words that may refer to a name at the top
    waits: bool = False  # at the top
    text: str = ""  # without comments, imports and the word export


def join_modules(
    entry: str,
    *,
    read: ReadSource,
    parts: Sequence[str] = (),
    apart: frozenset[str] = frozenset(),
    names_modules: bool = True,
) -> str:
    """Write an entry and its imports as one file, which still imports the modules in `apart`.

    `parts` are modules that nothing imports. They run before the entry. If `names_modules` is true,
    the name of each module is above its code.
    """
    modules = _find_modules([*parts, entry], read=read, apart=apart)
    taken: dict[str, set[str]] = {name: set() for name in sorted(apart)}
    for module in modules:
        for name in apart & module.imports.keys():
            taken[name] |= module.imports[name]
    _check_names(modules, taken)
    imports = (_import(source, names) for source, names in taken.items() if names)
    texts = (
        f"\n// {SOURCES}{module.name}\n{module.text}" if names_modules else f"\n{module.text}"
        for module in modules
    )
    return "".join([*imports, *texts]).lstrip("\n")


def _import(source: str, names: set[str]) -> str:
    return f'import {{ {", ".join(sorted(names))} }} from "./{source}";\n'


def strip_module(name: str, source: str) -> str:
    """Write one module without comments and white space. Its imports and exports remain."""
    _parse(name, source)
    return strip_comments(split_tokens(source))


def _find_modules(
    entries: Sequence[str], *, read: ReadSource, apart: frozenset[str]
) -> list[_Module]:
    found: dict[str, _Module] = {}
    waiting: list[str] = []

    def follow(name: str) -> None:
        if name in waiting:
            raise UnsupportedScriptError(f"{name} imports itself")
        if name in found or name in apart:
            return
        waiting.append(name)
        module = _parse(name, read(name))
        for imported in module.imports:
            follow(imported)
        if module.waits and name != entries[-1]:
            raise UnsupportedScriptError(f"{name} awaits at its top level")
        found[waiting.pop()] = module

    for entry in entries:
        follow(entry)
    return list(found.values())


def _parse(name: str, source: str) -> _Module:
    try:
        return _Parser(name, split_tokens(source)).parse()
    except UnsupportedScriptError as error:
        raise UnsupportedScriptError(f"{name}: {error}") from None


def _check_names(modules: list[_Module], taken: dict[str, set[str]]) -> None:
    """Reject words that would change their meaning in a joined file."""
    exported = {module.name: module.exported for module in modules} | taken
    tops = {module.name: module.declared for module in modules} | taken
    for module in modules:
        for other, names in module.imports.items():
            if missing := names - exported[other]:
                raise UnsupportedScriptError(f"{module.name}: {other} lacks {min(missing)}")
        for other, names in tops.items():
            found = (module.used & names) - module.imports.get(other, set())
            if other != module.name and found:
                raise UnsupportedScriptError(f"{module.name}: {min(found)} belongs to {other}")


class _Parser:
    """Reads the names that a module imports, declares and uses, and writes the served text."""

    def __init__(self, name: str, tokens: list[Token]) -> None:
        self.module = _Module(name=name)
        self.tokens = tokens
        self.places = [i for i, token in enumerate(tokens) if token.kind is not Kind.GAP]
        # Negative indexes reach the empty texts, so there are also texts before the first token.
        self.texts = [*(tokens[i].text for i in self.places), "", ""]
        self.dropped: set[int] = set()

    def parse(self) -> _Module:
        start = self._read_imports()
        places = self.places[start:]
        # Without these checks, the module could continue the last line of the module above it.
        if not places or self.tokens[places[0]].kind is not Kind.WORD:
            raise UnsupportedScriptError("its first statement must begin with a word")
        if self.tokens[places[-1]].text not in (";", "}"):
            raise UnsupportedScriptError("its last statement has no end")
        for number in range(start, len(self.places)):
            self._read_token(number)
        kept = set(range(places[0], len(self.tokens))) - self.dropped
        self.module.text = strip_comments(self.tokens[i] for i in sorted(kept))
        return self.module

    def _read_imports(self) -> int:
        """Read the imports, which come first; return the index of the token after them."""
        start = 0
        while self.texts[start] == "import":
            end = start + (*self.texts[start:], ";").index(";") + 1
            found = _IMPORT.fullmatch(" ".join(self.texts[start:end]))
            if not found:
                raise UnsupportedScriptError(
                    "an import must name what it takes from one of our modules"
                )
            path = posixpath.join(posixpath.dirname(self.module.name), found[2])
            names = self.module.imports.setdefault(posixpath.normpath(path), set())
            names.update(found[1].split(" , "))
            start = end
        return start

    def _read_token(self, number: int) -> None:
        token = self.tokens[self.places[number]]
        before, after = self.texts[number - 1], self.texts[number + 1]
        if token.depth == 0 and token.text in _REFUSED_AT_TOP:
            raise UnsupportedScriptError(f"{token.text} at its top level")
        if token.kind is not Kind.WORD or before in (".", "?."):
            return
        if token.text in _REFUSED:
            raise UnsupportedScriptError(f"the word {token.text}")
        if token.text == "export":
            self._drop_export(number)
        elif token.depth == 0 and token.text in _DECLARING:
            self._declare(number)
        elif not (before in ("{", ",") and after == ":"):  # the key of a property
            self.module.used.add(token.text)
        if token.depth == 0 and token.text == "await":
            self.module.waits = True

    def _drop_export(self, number: int) -> None:
        token, after = self.tokens[self.places[number]], self.texts[number + 1]
        if token.depth or after not in (*_DECLARING, "async"):
            raise UnsupportedScriptError("an export must be a declaration")
        self.dropped |= set(range(self.places[number], self.places[number + 1]))

    def _declare(self, number: int) -> None:
        name = self.tokens[self.places[number + 1]]
        if name.kind is not Kind.WORD:
            raise UnsupportedScriptError(f"{name.text} after {self.texts[number]} at its top level")
        self.module.declared.add(name.text)
        one, other = self.texts[number - 1], self.texts[number - 2]
        if one == "export" or (one == "async" and other == "export"):
            self.module.exported.add(name.text)
