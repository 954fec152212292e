"""Read the sums of XLSForm and REDCap, and formulas on such sums."""

from __future__ import annotations

import re
from contextlib import suppress
from math import ceil, floor
from typing import Any

from surveys.exchange.reading.conditions import DEEPEST, NotReadable, Tokens, read_any
from surveys.exchange.reading.reasons import NO_SUM, TOO_DEEP

_WHOLE_OR_DECIMAL = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?", re.ASCII)
_FURTHEST_BOUND = 1e9
Sum = list[dict[str, Any]]


def read_sum(text: str) -> Sum:
    """Read a formula that adds earlier items, or raise NotReadable for any other formula.

    Each term has the `name` of an item and a `weight`. Terms that count answers, as in `if(${q1} =
    'yes', 1, 0)`, have `counts`, the number for each of these answers, and `otherwise`, the number
    for all others. A constant has no name.
    """
    tokens = Tokens(text)
    terms = _terms(tokens, 1)
    tokens.end()
    if len({term["name"] for term in terms if term["name"]}) < 2:
        raise NotReadable(NO_SUM)
    return terms


def _terms(tokens: Tokens, sign: float) -> Sum:
    terms = _signed(tokens, sign)
    while tokens.value in ("+", "-", "−") and tokens.kind == "sign":
        _, value, _ = tokens.pop()
        terms += _signed(tokens, sign if value == "+" else -sign)
    return terms


def _signed(tokens: Tokens, sign: float) -> Sum:
    while tokens.take("-", "−"):
        sign = -sign
    factor, terms = sign, None
    while True:
        if tokens.kind == "number":
            factor *= float(tokens.pop()[1])
        elif terms is None:
            terms = _term(tokens)
        else:
            raise NotReadable("It multiplies two answers.")
        if tokens.take("/", "div", "mod"):
            raise NotReadable("It divides.")
        if not tokens.take("*"):
            break
    scaled: Sum = terms if terms is not None else [{"name": "", "weight": 1.0}]
    return [term | {"weight": term["weight"] * factor} for term in scaled]


def _term(tokens: Tokens) -> Sum:
    tokens.depth += 1
    if tokens.depth > DEEPEST:
        raise NotReadable(TOO_DEEP)
    try:
        return _read_term(tokens)
    finally:
        tokens.depth -= 1


def _read_term(tokens: Tokens) -> Sum:
    if tokens.take("("):
        terms = _terms(tokens, 1)
        tokens.demand(")")
        return terms
    if tokens.kind == "ref":
        _, name, item = tokens.pop()
        term: dict[str, Any] = {"name": name, "weight": 1.0}
        return [term | {"counts": {item: 1.0}, "otherwise": 0.0} if item else term]
    if tokens.take("sum"):
        tokens.demand("(")
        terms = _terms(tokens, 1)
        while tokens.take(","):
            terms += _terms(tokens, 1)
        tokens.demand(")")
        return terms
    for word in ("number", "int", "round", "coalesce"):
        if tokens.take(word):
            tokens.demand("(")
            terms = _terms(tokens, 1)
            # The second argument, as in coalesce(x, 0) and round(x, 0), can only be 0.
            if tokens.take(",") and tokens.pop()[1] != "0":
                raise NotReadable("It replaces missing answers with a number.")
            tokens.demand(")")
            return terms
    if tokens.take("if"):
        return [_count_answers(tokens)]
    raise NotReadable(f"Murmur cannot compute “{tokens.value}”.")


def _count_answers(tokens: Tokens) -> dict[str, Any]:
    """Read if(…, 1, if(…, 2, 0)), in which all conditions concern one question."""
    counts: dict[str, float] = {}
    named, depth = "", 0
    while depth == 0 or tokens.take("if"):
        depth += 1
        tokens.demand("(")
        condition = read_any(tokens)
        tokens.demand(",")
        if condition[0] not in ("is", "has") or named not in ("", condition[1]):
            raise NotReadable("It counts combinations of answers.")
        _, named, value = condition
        counts.setdefault(value, _number(tokens))
        tokens.demand(",")
    term = {"name": named, "weight": 1.0, "counts": counts, "otherwise": _number(tokens)}
    for _ in range(depth):
        tokens.demand(")")
    return term


def _number(tokens: Tokens) -> float:
    sign = -1.0 if tokens.take("-", "−") else 1.0
    kind, value, _ = tokens.pop()
    if kind not in ("number", "text") or not _WHOLE_OR_DECIMAL.fullmatch(value):
        raise NotReadable("It computes more than a sum.")
    return sign * float(value)


Step = tuple[int | None, int | None, str]  # the smallest and largest total, and the result


def read_formula(text: str) -> tuple[Sum, list[Step]]:
    """Read a sum, or a formula on a sum. Raises NotReadable if the text is neither.

    `if(${total} >= 10, 'yes', 'no')` has two steps. The first step that contains a total applies.
    The last step contains all totals. A sum has no steps.
    """
    with suppress(NotReadable):
        return _read_steps(Tokens(text))
    return read_sum(text), []


def _read_steps(tokens: Tokens) -> tuple[Sum, list[Step]]:
    read: Sum = []
    steps: list[Step] = []
    while tokens.take("if"):
        tokens.demand("(")
        terms, low, high = _read_range(tokens)
        if read not in ([], terms):
            raise NotReadable("It compares several sums.")
        read = terms
        tokens.demand(",")
        steps.append((low, high, _read_result(tokens)))
        tokens.demand(",")
    others = _read_result(tokens)
    for _ in steps:
        tokens.demand(")")
    tokens.end()
    if not steps:
        raise NotReadable("It computes nothing from a sum.")
    return read, [*steps, (None, None, others)]


def _read_range(tokens: Tokens) -> tuple[Sum, int | None, int | None]:
    """Read `${total} >= 5 and ${total} <= 9`."""
    terms, low, high = _read_comparison(tokens)
    while tokens.take("and"):
        others, other_low, other_high = _read_comparison(tokens)
        if others != terms:
            raise NotReadable("It compares several sums.")
        low = max((one for one in (low, other_low) if one is not None), default=None)
        high = min((one for one in (high, other_high) if one is not None), default=None)
    return terms, low, high


_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_SIGNS = {("sign", one) for one in _TURNED}


def _read_comparison(tokens: Tokens) -> tuple[Sum, int | None, int | None]:
    before = tokens.place
    try:
        terms = _terms(tokens, 1)
        kind, sign, _ = tokens.pop()
        bounds = _terms(tokens, 1)
    except NotReadable:
        tokens.place = before
        return _read_bracket(tokens)
    if not any(term["name"] for term in terms):
        terms, bounds, sign = bounds, terms, _TURNED.get(sign, "")
    bound = sum(term["weight"] for term in bounds)
    if any(term["name"] for term in bounds) or (kind, sign) not in _SIGNS:
        raise NotReadable("It compares two sums.")
    if not abs(bound) <= _FURTHEST_BOUND:
        raise NotReadable("Its numbers are too large.")
    low, high = {
        "<": (None, ceil(bound) - 1),
        "<=": (None, floor(bound)),
        ">": (floor(bound) + 1, None),
        ">=": (ceil(bound), None),
        "=": (ceil(bound), floor(bound)),
    }[sign]
    return terms, low, high


def _read_bracket(tokens: Tokens) -> tuple[Sum, int | None, int | None]:
    tokens.demand("(")
    tokens.depth += 1
    if tokens.depth > DEEPEST:
        raise NotReadable(TOO_DEEP)
    inside = _read_range(tokens)
    tokens.demand(")")
    tokens.depth -= 1
    return inside


def _read_result(tokens: Tokens) -> str:
    sign = "-" if tokens.take("-", "−") else ""
    kind, value, _ = tokens.pop()
    if kind == "number" or (kind == "text" and not sign):
        return f"{sign}{value}"
    raise NotReadable("It computes more than a code.")
