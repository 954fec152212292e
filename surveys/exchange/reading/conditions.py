"""Read the conditions (branching logic) and bounds of XLSForm and REDCap.

The two write conditions in nearly the same way: `${q1} = 'yes' and selected(${q2}, 'a')`, and
`[q1] = '1' and [q2(3)] = '1'`. A condition becomes nested lists, because names are resolved later:

    ["is", name, value]    the answer is this choice
    ["has", name, value]   this choice is among those selected
    ["all", …]  ["any", …]  ["not", condition]
"""

from __future__ import annotations

import re
from typing import Any

from surveys.exchange.reading.reasons import TOO_DEEP

_TOKEN = re.compile(
    r"""\s*(?: \$\{\s*(?P<odk>[^}\s]+)\s*\} | \[(?P<redcap>[A-Za-z]\w*)(?:\((?P<item>[^()\]]*)\))?\]
          | (?P<text>"[^"]*"|'[^']*'|“[^”]*”|‘[^’]*’) | (?P<number>\d+(?:\.\d+)?)
          | (?P<word>[A-Za-z_][\w:-]*) | (?P<sign><>|!=|<=|>=|[=<>+*/(),.−-]) )""",
    re.VERBOSE,
)
_MOST_TOKENS, DEEPEST = 400, 20
Condition = list[Any]


class NotReadable(Exception):
    """Says why a condition cannot become a rule, or why a formula cannot become a sum."""


class Tokens:
    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str, str]] = []  # kind, value, item
        self.place = self.depth = 0
        at, text = 0, text.strip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None or found.end() == at:
                raise NotReadable(f"It cannot be read at “{text[at : at + 20]}”.")
            at = found.end()
            kind = str(found.lastgroup)
            if found["redcap"]:
                self.tokens.append(("ref", found["redcap"], found["item"] or ""))
            elif kind == "odk":
                self.tokens.append(("ref", found["odk"], ""))
            else:
                value = found[kind]
                self.tokens.append((kind, value[1:-1] if kind == "text" else value, ""))
        if len(self.tokens) > _MOST_TOKENS:
            raise NotReadable("It is too long.")

    @property
    def kind(self) -> str:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    @property
    def value(self) -> str:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    def pop(self) -> tuple[str, str, str]:
        if not self.kind:
            raise NotReadable("It ends too early.")
        self.place += 1
        return self.tokens[self.place - 1]

    def take(self, *wanted: str) -> bool:
        if self.kind in ("word", "sign") and self.value.lower() in wanted:
            self.place += 1
            return True
        return False

    def demand(self, wanted: str) -> None:
        if not self.take(wanted):
            raise NotReadable(f"“{wanted}” is missing.")

    def end(self) -> None:
        if self.kind:
            raise NotReadable(f"It cannot be read at “{self.value}”.")


def read_condition(text: str) -> Condition:
    """Read a condition, or raise NotReadable."""
    tokens = Tokens(text)
    condition = read_any(tokens)
    tokens.end()
    return condition


def read_any(tokens: Tokens) -> Condition:
    parts = [_all(tokens)]
    while tokens.take("or"):
        parts.append(_all(tokens))
    return parts[0] if len(parts) == 1 else ["any", *parts]


def _all(tokens: Tokens) -> Condition:
    parts = [_one(tokens)]
    while tokens.take("and"):
        parts.append(_one(tokens))
    return parts[0] if len(parts) == 1 else ["all", *parts]


def _one(tokens: Tokens) -> Condition:
    tokens.depth += 1
    if tokens.depth > DEEPEST:
        raise NotReadable(TOO_DEEP)
    try:
        if tokens.take("not"):
            return ["not", _one(tokens)]
        if tokens.take("("):
            inside = read_any(tokens)
            tokens.demand(")")
            return inside
        if tokens.take("selected"):
            tokens.demand("(")
            name, _ = _reference(tokens)
            tokens.demand(",")
            value = _constant(tokens)
            tokens.demand(")")
            return ["has", name, value]
        return _comparison(tokens)
    finally:
        tokens.depth -= 1


def _comparison(tokens: Tokens) -> Condition:
    if tokens.kind == "word":
        raise NotReadable(f"Murmur has no function or word “{tokens.value}”.")
    turned = tokens.kind in ("text", "number")
    value, (name, item) = "", ("", "")
    if turned:
        value = _constant(tokens)
    else:
        name, item = _reference(tokens)
    kind, sign, _ = tokens.pop()
    if kind != "sign" or sign not in ("=", "!=", "<>"):
        what = "It compares numbers" if sign in ("<", ">", "<=", ">=") else "It is not a comparison"
        raise NotReadable(f"{what}.")
    if turned:
        name, item = _reference(tokens)
    else:
        value = _constant(tokens)
    if value == "":
        raise NotReadable("It asks whether an answer is empty, which a scrambled code never shows.")
    if item:
        if value not in ("0", "1"):
            raise NotReadable("A box is 0 or 1.")
        condition: Condition = ["has", name, item]
        if value == "0":
            condition = ["not", condition]
    else:
        condition = ["is", name, value]
    return condition if sign == "=" else ["not", condition]


def _reference(tokens: Tokens) -> tuple[str, str]:
    kind, value, item = tokens.pop()
    if kind != "ref":
        raise NotReadable(f"There must be a question in place of “{value}”.")
    return value, item


def _constant(tokens: Tokens) -> str:
    kind, value, _ = tokens.pop()
    if value in "-−" and kind == "sign":
        kind, value, _ = tokens.pop()
        value = f"-{value}"
    if kind == "ref":
        raise NotReadable("It compares two answers.")
    if kind not in ("text", "number"):
        raise NotReadable(f"Murmur has no function or word “{value}”.")
    return value


def list_names(condition: Condition) -> list[str]:
    """List the questions that a condition names."""
    if condition[0] in ("is", "has"):
        return [condition[1]]
    return [name for part in condition[1:] for name in list_names(part)]


_BOUND = re.compile(r"\.\s*(?P<sign><=|>=|<|>)\s*(?P<number>-?\d{1,10})(?:\.0+)?")
_LIMIT = re.compile(r"count-selected\s*\(\s*\.\s*\)\s*(?P<sign><=|<)\s*(?P<number>\d{1,2})")
_SAME_AS = re.compile(r"\.\s*=\s*(?:'([^']*)'|\"([^\"]*)\"|(-?\d+))")
_LISTED = re.compile(r"regex\s*\(\s*\.\s*,\s*['\"]\^?\(?([\w |-]+?)\)?\$?['\"]\s*\)")


def read_bounds(constraint: str) -> tuple[int | None, int | None] | None:
    """Read the bounds in `. >= 0 and . <= 30`, or return None for another kind of constraint."""
    low = high = None
    for part in re.split(r"\band\b", constraint):
        found = _BOUND.fullmatch(part.strip(" ()\n\t"))
        if found is None:
            return None
        number, sign = int(found["number"]), found["sign"]
        if sign in (">", ">="):
            low = max(number + (sign == ">"), number if low is None else low)
        else:
            high = min(number - (sign == "<"), number if high is None else high)
    return low, high


def read_limit(constraint: str) -> int | None:
    """Read how many answers `count-selected(.) <= 3` allows."""
    found = _LIMIT.fullmatch(constraint.strip(" ()\n\t") if "and" not in constraint else "")
    # Stripping may have removed the bracket that closes the function.
    found = found or _LIMIT.fullmatch(constraint.strip())
    return int(found["number"]) - (found["sign"] == "<") if found else None


def read_closed_list(constraint: str) -> list[str]:
    """List the answers allowed by `. = 'a' or . = 'b'`, or by a pattern of such words."""
    found = _LISTED.fullmatch(constraint.strip())
    if found and "|" in found[1]:
        return [word.strip() for word in found[1].split("|")]
    parts = [_SAME_AS.fullmatch(part.strip(" ()\n\t")) for part in re.split(r"\bor\b", constraint)]
    if len(parts) < 2 or not all(parts):
        return []
    return [next(text for text in part.groups() if text is not None) for part in parts if part]
