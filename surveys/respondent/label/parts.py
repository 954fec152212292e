"""The parts of the label, for the page to lay out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from django.utils.translation import pgettext


def join_sentences(sentences: Iterable[str]) -> str:
    """Join sentences into one paragraph: not every language puts spaces between sentences."""

    def add(first: str, second: str) -> str:
        return pgettext("between two sentences", "%(first)s %(second)s") % {
            "first": first,
            "second": second,
        }

    return reduce(add, tuple(sentences) or ("",))


@dataclass(frozen=True, kw_only=True)
class Odds:
    """How one group of equally protected questions is scrambled."""

    scope: str  # "Questions 1 and 3"; empty where one statement covers all
    sentence: str
    strength: str  # the key of the word in every language; `protection` is shown
    protection: str
    counted: int  # codes of 100 that the sentence counts, for the picture; 0 where k > 2

    @property
    def dots(self) -> Dots:
        return Dots(counted=self.counted)


@dataclass(frozen=True, kw_only=True)
class Row:
    question: str
    answers: tuple[str, ...]
    odds: tuple[Odds, ...] = ()

    @property
    def answer(self) -> str:
        return join_sentences(self.answers)


@dataclass(frozen=True, kw_only=True)
class Quote:
    """What authors read of the label, in the words and the language of its readers."""

    warnings: str
    sight: Row
    together: str
    by_coins: str  # the same for people who toss coins, if that reveals more
    tag: str
    direction: str


@dataclass(frozen=True, kw_only=True)
class PrivacyLabel:
    warnings: tuple[str, ...]
    rows: tuple[Row, ...]
    process: tuple[str, ...]
    together: tuple[str, ...]
    shows: Row  # although answers are scrambled
    crowd: tuple[str, ...]
    length: str  # how many questions there are
    denies_proof: bool  # of any answer, alone or together

    @property
    def told_process(self) -> str:
        return join_sentences(self.process)

    @property
    def told_together(self) -> str:
        return join_sentences(self.together)

    @property
    def told_crowd(self) -> str:
        return join_sentences(self.crowd)


@dataclass(frozen=True, kw_only=True)
class Dots:
    """Ten rows of ten dots as two SVG paths of dashed lines, each dash a dot."""

    counted: int

    @property
    def all(self) -> str:
        return "".join(f"M5 {10 * row + 5}h91" for row in range(10))

    @property
    def marked(self) -> str:
        rows, rest = divmod(self.counted, 10)
        lines = [f"M5 {10 * row + 5}h91" for row in range(rows)]
        if rest:
            lines.append(f"M5 {10 * rows + 5}h{10 * rest - 9}")
        return "".join(lines)
