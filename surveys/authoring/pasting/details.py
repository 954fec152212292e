"""Details of a pasted question: its range, how many answers to choose, its rule and its page."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RANGE = re.compile(
    r"(?P<low>[-−]?\d{1,9})(?P<first>[\s=:(].*?)?\s?(?:[-–—−到至]|\b(?:to|bis|à|a|إلى)\b)\s?"
    r"(?P<high>[-−]?\d{1,9})(?![\d.,]\d)(?P<last>[\s=:(].*)?",
    re.IGNORECASE,
)
# Matches "1 = never, 5 = always". Consecutive numbers, as in "1 = male, 2 = female", are codes.
_LABELLED_ENDS = re.compile(
    r"(?P<low>[-−]?\d{1,9})\s?=\s?(?P<first>[^\s=][^=]*?)[,;，；،]\s?"
    r"(?P<high>[-−]?\d{1,9})\s?=(?P<last>[^=]+)"
)
_FEWEST_STEPS_OF_LABELLED_ENDS = 2
_AROUND_LABEL = " =:()“”\"'"
_LONGEST_LABEL, _LONGEST_UNIT = 100, 40
_SCALE_BOUNDS = range(-89, 101)
_MOST_STEPS = 10  # the most steps of a scale without labels

_SEVERAL = re.compile(
    r"(?:please )?(?:(?:choose|select|tick|check|mark|pick) )?(?:"
    r"(?:max(?:imum|imal)?|máx(?:imo)?|up to|at most|höchstens)\.? ?(?P<most>\d{1,2})(?: \w+)?"
    r"|(?:all|any) that apply|(?<= )(?:several|multiple|more than one)|multiple answers"
    r"|mehrfach(?:nennung(?:en)?|auswahl)(?: möglich)?"
    r"|varias respuestas|plusieurs réponses(?: possibles)?)\.?",
    re.IGNORECASE,
)
_RULE = re.compile(r"(?:(?:ask|show) )?(?:only )?if (?P<rule>(?:not )?\(?Q\d.*)", re.IGNORECASE)
_TOGETHER = re.compile(r"ask(?:ed)? together\.?", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,200})[)\]]\.?")
_BRACKETS_LAST = re.compile(r"(.*[^\s])\s?[(\[]([^()\[\]]{1,200})[)\]]\s?[.*:]?")
_BRACKETS_FIRST = re.compile(r"[(\[]([^()\[\]]{1,200})[)\]][:,]?\s?")
_REQUIRED = re.compile(r"(?:\s|(?<=[?？؟]))\*$")  # Google Forms puts * after a required question
_ROUTING = re.compile(r"\bif \(?Q\d|->\s|→|\bgo to (?:Q|question )?\d", re.IGNORECASE)
_AFTER_MARK = re.compile(r"(.*[?？؟])\s?([^?？؟]{1,200})")
_ASKS = re.compile(r".*[?？؟][\s\"'”’»“)*:]*")


@dataclass(frozen=True, kw_only=True)
class Range:
    """A range, which is a scale if it has labels, or few points and no unit; if not, a number."""

    low: int
    high: int
    low_label: str = ""
    high_label: str = ""
    unit: str = ""
    is_scale: bool


@dataclass(frozen=True, kw_only=True)
class Several:
    limit: int | None


@dataclass(frozen=True, kw_only=True)
class Condition:
    """The text of a rule, which refers to questions by their numbers in the pasted text."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Together:
    """The question shares a page with the one before it."""


Detail = Range | Several | Condition | Together


def mentions_a_question(text: str) -> bool:
    return any(mark in text for mark in "?？؟")


def asks(text: str) -> bool:
    """Return whether the text ends with a question mark."""
    return _ASKS.fullmatch(text) is not None


def mentions_routing(text: str) -> bool:
    """Return whether a question's text still contains a rule, which respondents would read."""
    return _ROUTING.search(text) is not None


def find_detail(text: str) -> Detail | None:
    """Read a detail that stands alone, with or without brackets."""
    found = _IN_BRACKETS.fullmatch(text)
    inside = found[1].strip() if found else text
    if rule := _RULE.fullmatch(inside):
        return Condition(text=rule["rule"].strip().rstrip("."))
    if several := _SEVERAL.fullmatch(inside):
        return Several(limit=int(several["most"]) if several["most"] else None)
    if _TOGETHER.fullmatch(inside):
        return Together()
    return find_range(inside)


def split_details(text: str) -> tuple[str, list[Detail]]:
    """Split a question into its text, a rule at its start, and the details at its end."""
    details: list[Detail] = []
    text = _REQUIRED.sub("", text)
    first = _BRACKETS_FIRST.match(text)
    rule = find_detail(first[1].strip()) if first else None
    if first and first.end() < len(text) and isinstance(rule, Condition):
        text = text[first.end() :]
        details.append(rule)
    while True:
        for pattern in (_BRACKETS_LAST, _AFTER_MARK):
            found = pattern.fullmatch(text)
            detail = find_detail(found[2].strip()) if found else None
            if found and detail:
                text = found[1]
                details.append(detail)
                break
        else:
            return text, details


def find_range(text: str) -> Range | None:
    """Read a range: "1 never – 5 always", "1 = never, 5 = always", "0 to 30 days" or "1-5"."""
    found = _RANGE.fullmatch(text) or _LABELLED_ENDS.fullmatch(text)
    if found is None:
        return None
    low, high = (int(found[name].replace("−", "-")) for name in ("low", "high"))
    first, last = ((found[name] or "").strip(_AROUND_LABEL) for name in ("first", "last"))
    if found.re is _LABELLED_ENDS and high - low < _FEWEST_STEPS_OF_LABELLED_ENDS:
        return None
    if first and first != last:
        if max(len(first), len(last)) > _LONGEST_LABEL:
            return None
        return Range(low=low, high=high, low_label=first, high_label=last, is_scale=True)
    if len(last) > _LONGEST_UNIT:
        return None
    is_short = low in _SCALE_BOUNDS and high in _SCALE_BOUNDS and high - low <= _MOST_STEPS
    return Range(low=low, high=high, unit=last, is_scale=is_short and not last)
