"""Find the sections of the methods and the glossary terms that contain all words of a query.

Words such as "why" and "is" are ignored, because a section that answers a question need not repeat
them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from html import unescape

from django.urls import reverse

from aggregator.methods.document import GLOSSARY, list_chapters

LONGEST_QUERY = 100
MOST_RESULTS = 30
AROUND = 110  # characters of a snippet before and after the first word that was found
STOP_WORDS = re.compile(
    "a|about|an|and|any|are|as|at|be|by|can|did|do|does|for|from|had|has|have|how|i|if|in|is|it|its"
    "|may|me|my|no|not|of|on|or|our|should|so|that|the|their|them|then|there|these|they|this|those"
    "|to|us|use|used|was|we|were|what|when|where|which|who|whose|why|will|with|would|you|your"
)
PUNCTUATION = '.,;:!?"“”‘’'
TAG = re.compile(r"<[^>]+>")
TERM = re.compile(r'<tr id="([^"]+)">\s*<td>(.*?)</td>\s*<td>(.*?)</td>', re.DOTALL)
HAT = "<mo>&#x0005E;</mo>"  # above a letter of a formula
END_OF_BLOCK = re.compile(r"</(?:p|li|t[dhr]|pre|h[1-6]|div)>")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A section or a term that can be found."""

    url: str
    title: str
    chapter: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Piece:
    text: str
    is_match: bool


@dataclass(frozen=True, kw_only=True)
class Result:
    entry: Entry
    snippet: list[Piece]


def search(query: str) -> list[Result]:
    """Find the entries that contain all words of a query, best matches first.

    A title that equals the query counts most. The number of query words in the title counts next,
    then whether the text contains the whole query, and then how often the words occur. A word of
    the query matches the beginning of a word.
    """
    chosen = _choose_words(query)
    words = [_write_pattern(word) for word in chosen]
    phrase = _write_pattern(" ".join(chosen))
    ranked = sorted(
        (
            (_rank(entry, words, phrase), entry)
            for entry in _list_entries()
            if all(word.search(entry.title) or word.search(entry.text) for word in words)
        ),
        key=lambda found: found[0],
        reverse=True,
    )
    return [
        Result(entry=entry, snippet=_cut_snippet(entry.text, words))
        for _, entry in ranked[:MOST_RESULTS]
    ]


def _choose_words(query: str) -> list[str]:
    """Leave out words such as "why", unless the query has no other words."""
    words = [word.strip(PUNCTUATION) or word for word in query.casefold().split()]
    return list(dict.fromkeys([word for word in words if not STOP_WORDS.fullmatch(word)] or words))


def _write_pattern(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}", re.IGNORECASE)


def _rank(
    entry: Entry, words: list[re.Pattern[str]], phrase: re.Pattern[str]
) -> tuple[bool, int, bool, int]:
    return (
        phrase.fullmatch(entry.title) is not None,
        sum(word.search(entry.title) is not None for word in words),
        phrase.search(entry.text) is not None,
        sum(len(word.findall(entry.text)) for word in words),
    )


def _cut_snippet(text: str, words: list[re.Pattern[str]]) -> list[Piece]:
    pattern = re.compile("|".join(word.pattern for word in words), re.IGNORECASE)
    middle = _find_middle(text, words, pattern)
    start, end = max(0, middle - AROUND), min(len(text), middle + AROUND)
    if start:
        start = text.find(" ", start, middle) + 1 or start
    if end < len(text):
        end = max(text.rfind(" ", middle, end), middle + 1)
    cut = text[start:end]
    pieces, place = [Piece(text="… ", is_match=False)] if start else [], 0
    for match in pattern.finditer(cut):
        pieces.append(Piece(text=cut[place : match.start()], is_match=False))
        pieces.append(Piece(text=match[0], is_match=True))
        place = match.end()
    pieces.append(Piece(text=cut[place:] + (" …" if end < len(text) else ""), is_match=False))
    return [piece for piece in pieces if piece.text]


def _find_middle(text: str, words: list[re.Pattern[str]], pattern: re.Pattern[str]) -> int:
    """Find the match with the most query words close after it, or return 0 if there is none."""
    places = [match.start() for match in pattern.finditer(text)]
    return max(
        places,
        key=lambda place: sum(
            word.search(text, place, place + AROUND) is not None for word in words
        ),
        default=0,
    )


@cache
def _list_entries() -> tuple[Entry, ...]:
    chapters = list_chapters()
    sections = [
        Entry(url=section.url, title=section.title, chapter=each.title, text=read(section.html))
        for each in chapters
        if each.name != GLOSSARY
        for section in (each.lead, *each.sections)
        if section.html
    ]
    terms = [
        Entry(url=_term_url(anchor), title=read(term), chapter=each.title, text=read(meaning))
        for each in chapters
        if each.name == GLOSSARY
        for anchor, term, meaning in TERM.findall(each.lead.html)
    ]
    return (*sections, *terms)


def _term_url(anchor: str) -> str:
    return f"{reverse('aggregator:methods_chapter', args=[GLOSSARY])}#{anchor}"


def read(html: str) -> str:
    """Return the text of a piece of HTML."""
    spaced = END_OF_BLOCK.sub(" ", html.replace(HAT, "\u0302"))
    return " ".join(unescape(TAG.sub("", spaced)).split())
